package console

import (
	"errors"
	"net/url"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
)

// use is how an item was used, and how its confidence came about.
type use struct {
	Chart     *chart
	Points    []api.Event // behind the chart
	Forbidden bool        // the caller may not read who relied on it
	Relied    []api.Usage
	More      bool // more uses are recorded
}

func readUse(p *page, d *item, history []api.Event) (*use, error) {
	found := &use{Chart: confidenceChart(history, 640, 180)}
	confidence := -1.0
	for _, event := range history {
		if event.Confidence != nil && *event.Confidence != confidence {
			found.Points, confidence = append(found.Points, event), *event.Confidence
		}
	}
	query := url.Values{"id": {d.ID}, "limit": {"100"}}
	if p.Moment.Past() && p.Moment.RecordedAt != nil {
		query.Set("to", p.Moment.RecordedAt.UTC().Format(time.RFC3339Nano))
	}
	var answer api.Page[api.Usage]
	err := p.get(&answer, query, "v1", "reports", "usage")
	if errors.Is(err, client.ErrForbidden) {
		found.Forbidden, err = true, nil
	}
	found.Relied, found.More = answer.Items, answer.NextCursor != ""
	return found, err
}
