package console

import (
	"net/url"
	"time"

	"github.com/annals-kb/annals/http/api"
)

// start is the first page.
type start struct {
	health
	Events    []api.Event        // the newest
	Review    int                // how many items wait for a review
	Counts    *api.Overview      // nil in the past
	Falling   []api.ItemStanding // this week
	Contested []api.Knowledge
}

// Superseded is how many items are superseded.
func (s *start) Superseded() int {
	for _, count := range s.Counts.Statuses.Counts {
		if count.Value == "superseded" {
			return count.Items
		}
	}
	return 0
}

func home(p *page) (any, error) {
	var data start
	if err := data.read(p); err != nil {
		return nil, err
	}
	if !p.Moment.Past() {
		var waiting api.Reviews
		if err := p.get(&waiting, url.Values{"limit": {"1"}}, "v1", "reviews"); err != nil {
			return nil, err
		}
		data.Review = waiting.Total
	}
	var recent api.Page[api.Event]
	if err := p.get(&recent, p.Moment.newestEvents(12), "v1", "events"); err != nil {
		return nil, err
	}
	data.Events = recent.Items
	if p.Moment.Past() || len(data.Events) == 0 {
		return &data, nil
	}
	var counts api.Overview
	if err := p.get(&counts, nil, "v1", "overview"); err != nil {
		return nil, err
	}
	data.Counts = &counts
	if counts.Contested > 0 {
		var contested api.Page[api.Knowledge]
		query := url.Values{"contested": {"true"}, "sort": {"harmful"}, "limit": {"5"}}
		if err := p.get(&contested, query, "v1", "knowledge"); err != nil {
			return nil, err
		}
		data.Contested = contested.Items
	}
	var falling api.Page[api.ItemStanding]
	query := url.Values{"from": {counts.Since.Format(time.RFC3339)}, "limit": {"5"}}
	err := p.get(&falling, query, "v1", "reports", "declining")
	data.Falling = falling.Items
	return &data, err
}
