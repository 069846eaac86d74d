package terminal

import (
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// Fields are the flags of what an item says, and for whom. A flag that is not given is nil.
type Fields struct {
	Task     *string  `short:"t" placeholder:"TEXT"`
	Abstract *string  `placeholder:"TEXT"`
	Overview *string  `placeholder:"TEXT"`
	Type     *string  `complete:"types" placeholder:"TYPE"`
	Category *string  `complete:"categories" placeholder:"WORD"`
	Scope    []string `short:"s" placeholder:"SCOPE"`
	Owner    *string  `placeholder:"ENTITY"`
	Tag      []string `sep:"none" placeholder:"KEY=VALUE"`
	Meta     string   `placeholder:"JSON"`
	URI      *string  `name:"uri" placeholder:"URI"`
}

// Values are the fields that were given, those of a command included, as JSON without the tags.
func (f Fields) Values(ofCommand map[string]*string) (map[string]any, error) {
	body := map[string]any{}
	for _, texts := range []map[string]*string{ofCommand, {
		"task": f.Task, "abstract": f.Abstract, "overview": f.Overview, "type": f.Type, "category": f.Category,
		"owner": f.Owner, "uri": f.URI,
	}} {
		for name, text := range texts {
			if text != nil {
				body[name] = *text
			}
		}
	}
	if len(f.Scope) > 0 {
		body["scopes"] = f.Scope
	}
	if f.Meta == "" {
		return body, nil
	}
	if !json.Valid([]byte(f.Meta)) {
		return nil, Wrong(`as in --meta '{"name": "deploy"}'`, "--meta must be JSON")
	}
	body["meta"] = json.RawMessage(f.Meta)
	return body, nil
}

// TagsOf are the tags of --tag; a tag without a key is a label.
func TagsOf(input []string) api.Tags { return api.Tags(domain.TagsOf(input, "=")) }

// KindOf says in one line what kind of knowledge an item is.
func KindOf(k api.Knowledge) string {
	return Joined(" · ", k.Type, k.Category, k.ContextType, k.Polarity)
}

// Filters are the filters of searches and lists.
type Filters struct {
	Type        []string `complete:"types" group:"filter" placeholder:"TYPE"`
	ContextType []string `complete:"contexts" group:"filter" placeholder:"WORD"`
	Category    []string `complete:"categories" group:"filter" placeholder:"WORD"`
	Tag         []string `field:"tag,tags" group:"filter" sep:"none" placeholder:"KEY=VALUE"`
	Owner       string   `group:"filter" placeholder:"ENTITY"`
	Scope       string   `complete:"scopes" group:"filter" placeholder:"SCOPE"`
	Visibility  string   `complete:"visibilities" group:"filter" placeholder:"WORD"`
	URI         string   `group:"filter" name:"uri" placeholder:"PREFIX"`
	Polarity    string   `complete:"polarities" group:"filter" placeholder:"WORD"`
	IsStale     *bool    `field:"stale" group:"filter" negatable:""`
}

// ListFilters are the filters that only lists have.
type ListFilters struct {
	Filters

	Status      []string `complete:"statuses" group:"filter" placeholder:"WORD"`
	Trace       string   `field:"trace_id" group:"filter" placeholder:"ID"`
	CreatedFrom string   `group:"filter" placeholder:"TIME"`
	CreatedTo   string   `group:"filter" placeholder:"TIME"`
	UpdatedFrom string   `group:"filter" placeholder:"TIME"`
	UpdatedTo   string   `group:"filter" placeholder:"TIME"`
}

// Listed are the filters as parameters of GET /v1/knowledge.
func (f ListFilters) Listed(then AsOfFlag) (url.Values, error) {
	at, err := then.AsOfParameter()
	if err != nil {
		return nil, err
	}
	query := f.Parameters()
	Put(query, "status", f.Status...)
	Put(query, "trace_id", f.Trace)
	Put(query, "as_of", at)
	return query, PutTimes(query, map[string]string{
		"created-from": f.CreatedFrom, "created-to": f.CreatedTo, "updated-from": f.UpdatedFrom, "updated-to": f.UpdatedTo,
	})
}

// Parameters are the filters as parameters of a list.
func (f Filters) Parameters() url.Values {
	query := url.Values{}
	Put(query, "type", f.Type...)
	Put(query, "context_type", f.ContextType...)
	Put(query, "category", f.Category...)
	Put(query, "owner", f.Owner)
	Put(query, "scope", f.Scope)
	Put(query, "visibility", f.Visibility)
	Put(query, "uri", f.URI)
	Put(query, "polarity", f.Polarity)
	for _, tag := range f.Tag {
		key, value := domain.CutTag(tag, "=")
		Put(query, "tag", key+":"+value)
	}
	if f.IsStale != nil {
		query.Set("stale", strconv.FormatBool(*f.IsStale))
	}
	return query
}

// Filter are the filters of a search.
func (f Filters) Filter() api.Filter {
	return api.Filter{
		Types: f.Type, ContextType: f.ContextType, Category: f.Category, Tags: TagsOf(f.Tag), Owner: f.Owner, Scope: f.Scope,
		Visibility: f.Visibility, URI: f.URI, Polarity: f.Polarity, Stale: f.IsStale,
	}
}
