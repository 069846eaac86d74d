package console

import (
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
	var recent api.Page[api.Event]
	err := p.get(&recent, p.Moment.newestEvents(12), "v1", "events")
	data.Events = recent.Items
	return &data, err
}
