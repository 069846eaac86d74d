package console

import (
	"errors"
	"net/url"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// readRebuild reads the running or last rebuild. A server that rebuilds nothing has none.
func (d *projectionPage) readRebuild(p *page) error {
	var last api.Rebuild
	err := p.get(&last, nil, "v1", "projections", d.Name, "rebuild")
	if errors.Is(err, client.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	d.Rebuild = &rebuild{last}
	return nil
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

// Item is an item that a report names. An item of another tenant has no page for the caller.
func (p *page) Item(tenant, id string) Link {
	if tenant != p.Caller.Tenant {
		return Link{Text: tenant + "/" + id}
	}
	return Link{id, p.To("k/" + url.PathEscape(id))}
}
