package main

import (
	"context"
	"errors"
	"net/http"
)

// partlyErased is why some of what was to be erased was not; the rest was.
type partlyErased struct{ *failure }

// Unwrap leads to the failure that is reported.
func (p partlyErased) Unwrap() error { return p.failure }

// maySweep refuses, before anything is erased, those who may not sweep.
func maySweep(ctx context.Context, api *client) error {
	var me struct {
		Operates bool `json:"operates"`
	}
	_, err := api.read(ctx, request{Method: http.MethodGet, Path: []string{"v1", "whoami"}}, &me)
	if err == nil && !me.Operates {
		err = &failure{
			Code: exitRefused, Detail: "sweeping the files is for whoever operates the server; nothing was erased",
			Fix: "leave out --sweep, and ask root for annals erase --sweep",
		}
	}
	return err
}

// swept rewrites the files if that was asked for and something may be gone, and otherwise says that it did not.
func (e *eraseCommand) swept(ctx context.Context, c *console, api *client, erased error) error {
	_, partly := errors.AsType[partlyErased](erased)
	switch {
	case !e.Sweep:
		return erased
	case e.Plan:
		c.note("the files are not swept: a plan changes nothing")
		return erased
	case erased != nil && !partly:
		c.note("the files were not swept; annals erase --sweep does it")
		return erased
	}
	err := sweep(ctx, c, api)
	if err != nil && partly {
		c.note("%s", printable(erased.Error()))
		return err
	}
	return errors.Join(erased, err)
}

// sweep lets the server rewrite its files.
func sweep(ctx context.Context, c *console, api *client) error {
	slow := *api
	slow.timeout = 0
	var done struct {
		BeganAt  string   `json:"began_at"`
		EndedAt  string   `json:"ended_at"`
		Complete bool     `json:"complete"`
		Notes    []string `json:"notes"`
	}
	c.note("rewriting the files: who writes there waits meanwhile")
	if _, err := slow.read(ctx, request{Method: http.MethodPost, Path: []string{"v1", "erasures", "sweep"}}, &done); err != nil {
		return err
	}
	if c.json {
		return c.document(done)
	}
	for _, note := range done.Notes {
		c.say("%s", printable(note))
	}
	if !done.Complete {
		return &failure{Code: exitFailed, Detail: "not everything was rewritten", Fix: "let the owner of the tables run it, when less is going on; docs/privacy.md says how"}
	}
	c.say("%s: the files hold nothing of what was erased", green.Render("swept"))
	return nil
}
