package terminal

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Filters narrow a search or a list.
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

// ListFilters narrow a list, which no question does.
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
func (f ListFilters) Listed(then Hindsight) (url.Values, error) {
	at, err := then.Then()
	if err != nil {
		return nil, err
	}
	query := f.Asked()
	Put(query, "status", f.Status...)
	Put(query, "trace_id", f.Trace)
	Put(query, "as_of", at)
	return query, PutTimes(query, map[string]string{
		"created-from": f.CreatedFrom, "created-to": f.CreatedTo, "updated-from": f.UpdatedFrom, "updated-to": f.UpdatedTo,
	})
}

// Asked are the filters as parameters of a list.
func (f Filters) Asked() url.Values {
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
		key, value, keyed := strings.Cut(tag, "=")
		if !keyed {
			key, value = domain.Labels, tag
		}
		Put(query, "tag", key+":"+value)
	}
	if f.IsStale != nil {
		query.Set("stale", strconv.FormatBool(*f.IsStale))
	}
	return query
}
