package console

import (
	"net/url"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// rememberFields are those of a revision, without its reason. The API fills in an owner and scopes that are left out.
func rememberFields() []actField {
	fields := revisable()
	fields = fields[:len(fields)-1]
	for i := range fields {
		fields[i].Required = fields[i].Name == "content"
		switch fields[i].Name {
		case "owner":
			fields[i].Label = "Owner, you if empty"
		case "scopes":
			fields[i].Label = "Scopes, one a line, only the owner if empty"
		}
	}
	return fields
}

// askRemember shows the form of a new item.
func askRemember(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, errPast
	}
	if !p.MayWrite() {
		return nil, notFound(p)
	}
	data := newForm(p, rememberFields())
	data.Values["type"] = "strategy"
	return data, nil
}

// remember remembers what the form says, and goes to the new item.
func remember(p *page) (any, error) {
	data := newForm(p, rememberFields())
	for _, name := range []string{"task", "abstract", "overview", "owner"} {
		data.Values[name] = data.text(name)
	}
	var made api.Knowledge
	whole := revision(api.Knowledge{}, data.Values) // from an item that says nothing
	_, err := p.api.Do(p.r.Context(), client.Post(whole, "v1", "knowledge"), &made)
	if err := data.failed(p, err, "remember", data); err != nil {
		return nil, err
	}
	return goBack(p, "remember", "k/"+url.PathEscape(made.ID))
}
