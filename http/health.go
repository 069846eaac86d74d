package http

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/annals-kb/annals/api"
)

type healthOutput struct {
	Body api.Health
}

type readyOutput struct {
	Status int
	Body   api.Readiness
}

func (s *Server) healthy(context.Context, *struct{}) (*healthOutput, error) {
	return &healthOutput{Body: api.Health{Status: "ok", Version: s.cfg.Version}}, nil
}

// parameterless answers whoever asks for nothing in particular, and refuses every parameter: there are none.
func parameterless[O any](answer func(context.Context, *struct{}) (*O, error)) func(context.Context, *struct{}) (*O, error) {
	return func(ctx context.Context, in *struct{}) (*O, error) {
		c := callOf(ctx)
		c.parameters(nil)
		if c.err = c.found.Err(); c.err != nil {
			return nil, problemOf(c.err, c.instance())
		}
		return answer(ctx, in)
	}
}

// ready asks all probes at once.
func (s *Server) ready(ctx context.Context, _ *struct{}) (*readyOutput, error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	checks := make([]api.Check, len(s.cfg.Probes))
	var asking sync.WaitGroup
	for i, probe := range s.cfg.Probes {
		asking.Go(func() {
			checks[i] = api.Check{Name: probe.Name, Status: "ok"}
			if err := probe.ask(ctx); err != nil {
				checks[i].Status, checks[i].Reason = "failed", err.Error()
				if probe.Beside {
					checks[i].Status = "degraded"
				}
			}
		})
	}
	asking.Wait()
	out := &readyOutput{Status: http.StatusOK, Body: api.Readiness{Status: "ready", Checks: checks}}
	for _, c := range checks {
		if c.Status == "failed" {
			out.Status, out.Body.Status = http.StatusServiceUnavailable, "not ready"
		}
	}
	if s.closing.Load() {
		out.Status, out.Body.Status = http.StatusServiceUnavailable, "shutting down"
	}
	return out, nil
}

// ask turns a panic into an error: nobody else would recover it.
func (p Probe) ask(ctx context.Context) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = errors.New("the probe itself is broken")
		}
	}()
	return p.Check(ctx)
}
