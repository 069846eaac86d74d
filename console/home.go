package console

import (
	"net/url"

	"github.com/annals-kb/annals/api"
)

// start is the first page.
type start struct {
	health
	Events []api.Event // the newest
}

func home(p *page) (any, error) {
	var data start
	if err := data.read(p); err != nil {
		return nil, err
	}
	query := url.Values{"order": {"desc"}, "limit": {"12"}}
	if p.Moment.Past() {
		query.Set("after", p.Moment.Step(1))
	}
	var recent api.Page[api.Event]
	err := p.get(&recent, query, "v1", "events")
	data.Events = recent.Items
	return &data, err
}
