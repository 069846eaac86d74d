package knowledge

import (
	"encoding/json"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// fields are the flags of what an item says, and for whom. A flag that is not given is nil.
type fields struct {
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

// values are the fields that were given, those of a command included, as JSON without the tags.
func (f fields) values(ofCommand map[string]*string) (map[string]any, error) {
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
		return nil, terminal.Wrong(`as in --meta '{"name": "deploy"}'`, "--meta must be JSON")
	}
	body["meta"] = json.RawMessage(f.Meta)
	return body, nil
}

// tagsOf are the tags of --tag; a tag without a key is a label.
func tagsOf(input []string) api.Tags {
	tags := api.Tags{}
	for _, tag := range input {
		key, value := domain.CutTag(tag, "=")
		tags[key] = append(tags[key], value)
	}
	return tags
}
