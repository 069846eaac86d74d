package console

import (
	"net/url"

	"github.com/annals-kb/annals/api"
)

// start is the first page.
type start struct {
	Projections []api.Projection
	Behind      *api.Projection // the one that is farthest behind, or stands still
	Events      []api.Event     // the newest
}

func home(p *page) (any, error) {
	var data start
	var projections api.Projections
	if err := p.get(&projections, nil, "v1", "projections"); err != nil {
		return nil, err
	}
	data.Projections = projections.Items
	for i, one := range data.Projections {
		worse := data.Behind == nil || one.LagSeconds > data.Behind.LagSeconds
		if one.Halted || one.LagEvents > 0 && worse {
			data.Behind = &data.Projections[i]
		}
		if one.Halted {
			break
		}
	}
	query := url.Values{"order": {"desc"}, "limit": {"12"}}
	if p.Moment.Past() {
		query.Set("after", p.Moment.Step(1))
	}
	var recent api.Page[api.Event]
	err := p.get(&recent, query, "v1", "events")
	data.Events = recent.Items
	return data, err
}
