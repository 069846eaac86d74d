package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// readRebuild reads the running or last rebuild, and what happened before. A server that rebuilds nothing has neither.
func (d *projectionPage) readRebuild(p *page) error {
	var last api.Rebuild
	err := p.get(&last, nil, "v1", "projections", d.Name, "rebuild")
	if errors.Is(err, client.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	d.Rebuild = &rebuild{last}
	if d.Running() {
		return nil
	}
	past, _, err := pageOf[api.Event](p, url.Values{"limit": {"50"}}, "v1", "projections", d.Name, "history")
	for _, event := range past {
		d.History = append(d.History, stageOf(event))
	}
	return err
}

// stage is what happened to a version of a projection.
type stage struct {
	api.Event
	Number  string   // of the version
	Details []string // each a name and a value
}

func stageOf(event api.Event) stage {
	s := stage{Event: event}
	for _, part := range []json.RawMessage{event.Data, event.Text} {
		var fields map[string]any
		if json.Unmarshal(part, &fields) != nil { // there are none
			continue
		}
		if number, is := fields["version"]; is {
			s.Number = plain(number)
			delete(fields, "version")
		}
		s.Details = append(s.Details, partsOf(fields)...)
	}
	return s
}

// rebuild is a rebuild as its page shows it.
type rebuild struct{ api.Rebuild }

// Share is how much of its present stage is done.
func (r *rebuild) Share() float64 {
	done := r.Progress.Streams
	if r.Progress.Phase == "verifying" {
		done = r.Progress.Verified
	}
	return float64(done) / float64(max(r.Progress.Total, done, 1))
}

// Intended tells whether a column may differ between the two versions.
func (r *rebuild) Intended(column string) bool { return slices.Contains(r.Report.Intended, column) }

// tenth is how many items have a confidence within a tenth, before and after a rebuild.
type tenth struct {
	From, To      string
	Before, After int64
	Most          int64 // of all tenths
}

// Share is a part of the highest number.
func (t tenth) Share(items int64) float64 { return float64(items) / float64(t.Most) }

// Confidences are the tenths of the confidences of all items.
func (r *rebuild) Confidences() (all []tenth) {
	moved := r.Report.Impact.Confidence
	most := slices.Max(slices.Concat([]int64{1}, moved.Before, moved.After))
	for i := range min(len(moved.Before), len(moved.After)) {
		from, to := fmt.Sprintf("%.1f", float64(i)/10), fmt.Sprintf("%.1f", float64(i+1)/10)
		all = append(all, tenth{from, to, moved.Before[i], moved.After[i], most})
	}
	return all
}

// Item is an item that a report names. An item of another tenant has no page for the caller.
func (p *page) Item(tenant, id string) Link {
	if tenant != p.Caller.Tenant {
		return Link{Text: tenant + "/" + id}
	}
	return Link{id, p.To("k/" + url.PathEscape(id))}
}
