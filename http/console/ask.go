package console

import "github.com/annals-kb/annals/http/api"

// askPage is the page for those who only want to ask and to tell.
type askPage struct {
	*remembering

	Answer *api.SearchAnswer // nil without a question
}

// ask answers the question of the address.
func ask(p *page) (any, error) {
	data := &askPage{remembering: newRemembering(p)}
	if question := p.param("q"); question != "" {
		request := api.Search{Query: question, Limit: new(5), AsOf: api.AsOf(p.Moment.AsOf)}
		if err := p.post(request, &data.Answer, "v1", "search"); err != nil {
			return nil, data.failed(p, err, "ask", data)
		}
	}
	return data, nil
}
