package console

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// health is what is known about the server in one line.
type health struct {
	Ready  api.Readiness
	Behind *api.Projection // the one that is farthest behind, or stands still
}

func (h *health) read(p *page) error {
	if err := h.readiness(p); err != nil {
		return err
	}
	found, _, err := pageOf[api.Projection](p, nil, "v1", "projections")
	h.Behind = worst(found)
	return err
}

// readiness asks for the checks of the server. A server that is not ready answers with 503 and the same body.
func (h *health) readiness(p *page) error {
	request := client.Get("readyz")
	p.note(request)
	answer, err := p.api.Do(p.r.Context(), request, &h.Ready)
	if err != nil && answer != nil && json.Unmarshal(answer.Body, &h.Ready) == nil && h.Ready.Status != "" {
		return nil
	}
	return err
}

// Failed are the checks that failed, or that lack something.
func (h *health) Failed() []api.Check {
	return slices.DeleteFunc(slices.Clone(h.Ready.Checks), func(c api.Check) bool { return c.Status == "ok" })
}

// worst is the projection that stands still, or else the one that is farthest behind; nil if none is behind.
func worst(all []api.Projection) (found *api.Projection) {
	for i, one := range all {
		if one.Halted {
			return &all[i]
		}
		if one.LagEvents > 0 && (found == nil || one.LagSeconds > found.LagSeconds) {
			found = &all[i]
		}
	}
	return found
}

// healthPage is all that the API tells about the health of the server.
type healthPage struct {
	health
	Version     string
	Protections []api.Protection
	Forbidden   bool            // the caller may not see the protections
	Signed      *api.Checkpoint // nil if nothing is signed
}

// Unsigned is how many events are newer than the checkpoint.
func (h *healthPage) Unsigned(head int64) int64 { return max(head-h.Signed.Size, 0) }

func readHealth(p *page) (any, error) {
	var data healthPage
	if err := data.read(p); err != nil {
		return nil, err
	}
	var alive api.Health
	if err := p.get(&alive, nil, "healthz"); err != nil {
		return nil, err
	}
	data.Version = alive.Version
	var err error
	data.Protections, _, err = pageOf[api.Protection](p, nil, "v1", "log", "protections")
	data.Forbidden = errors.Is(err, client.ErrForbidden)
	if err != nil && !data.Forbidden && !errors.Is(err, client.ErrNotFound) {
		return nil, err
	}
	var signed api.Checkpoint
	switch err := p.get(&signed, nil, "v1", "log", "checkpoint"); {
	case err == nil:
		data.Signed = &signed
	case !errors.Is(err, client.ErrNotFound):
		return nil, err
	}
	return &data, nil
}
