package console

import (
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// asked is the page for those who only want to ask and to tell.
type asked struct {
	*form
	Done   string            // what the reader has told right before
	Answer *api.SearchAnswer // nil without a question
	Scopes []string          // that the reader may tell, besides themselves
}

func newAsked(p *page) *asked {
	data := &asked{form: newForm(p, []actField{{Name: "content"}, {Name: "scopes"}}), Scopes: p.Caller.Memberships}
	if p.Caller.PublishPublic {
		data.Scopes = append(data.Scopes, "public")
	}
	return data
}

// ask answers the question of the address.
func ask(p *page) (any, error) {
	data := newAsked(p)
	data.Done = p.done()
	if question := p.param("q"); question != "" {
		request := api.Search{Query: question, Limit: new(5), AsOf: api.AsOf(p.Moment.AsOf)}
		if err := p.post(request, &data.Answer, "v1", "search"); err != nil {
			return nil, data.failed(p, err, "ask", data)
		}
	}
	return data, nil
}

// tell remembers what the reader says.
func tell(p *page) (any, error) {
	data := newAsked(p)
	told := revision(api.Knowledge{}, data.Values)
	told["type"] = "strategy"
	_, err := p.api.Do(p.r.Context(), client.Post(told, "v1", "knowledge"), nil)
	if err := data.failed(p, err, "ask", data); err != nil {
		return nil, err
	}
	return goBack(p, "remember", "ask")
}
