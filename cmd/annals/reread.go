package main

import (
	"context"
	"net/http"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
)

// rereadable are the projections that may take in an event twice.
var rereadable = []string{"meaning", "past"}

type rereadCommand struct {
	remote

	Projection string `arg:"" complete:"rereadable" help:"Which projection: meaning or past."`
}

// Help implements kong.HelpProvider.
func (rereadCommand) Help() string {
	return `For when the log was restored without what was computed from it, or a projection has skipped what it should not
have. Answers are as they were until it has caught up. Vectors are
kept by the hash of their text, so no model is asked twice.

What was known in the past is refused meanwhile, and no other question.

Examples:

    annals reread meaning
    annals reread past`
}

// Run implements the command.
func (r *rereadCommand) Run(ctx context.Context, c *console) error {
	server, err := r.connect()
	if err != nil {
		return err
	}
	var p api.Projection
	a, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: []string{"v1", "projections", r.Projection, "reread"}}, &p)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(a.Body)
	}
	c.say("%s reads the log again, up to position %s; annals doctor tells how far it is", r.Projection, counted(p.Head))
	return nil
}
