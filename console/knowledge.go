package console

import (
	"net/url"

	"github.com/annals-kb/annals/api"
)

// list is a page of knowledge, newest first.
type list struct {
	Filters []filter
	Items   []api.Knowledge
	Next    string
	Versus  *versus // the list at two moments; nil for one
}

func listKnowledge(p *page) (any, error) {
	data := &list{Filters: filters()}
	query := p.asOf(url.Values{"limit": {"50"}})
	for _, filter := range data.Filters {
		if values := p.values(filter.Name); values != nil {
			query[filter.Name] = values
		}
	}
	var err error
	if data.Versus, err = versusOf(p); err != nil {
		return nil, err
	}
	if data.Versus != nil {
		return data, data.Versus.compareLists(p, query)
	}
	if cursor := p.param("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	var got api.Page[api.Knowledge]
	err = p.get(&got, query, "v1", "knowledge")
	data.Items, data.Next = got.Items, got.NextCursor
	return data, err
}
