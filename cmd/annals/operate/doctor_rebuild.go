package operate

import (
	"context"
	"fmt"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// rebuilt names what rebuilding has left, and what to do about it.
func (e *examination) rebuilt(ctx context.Context, server *client.Client) {
	var all Versions
	if _, err := server.Do(ctx, client.Request{Method: "GET", Path: []string{"v1", "projections"}}, &all); err != nil {
		return // said already
	}
	command := &RebuildCommand{Projection: "knowledge"}
	last, _, err := command.last(ctx, server)
	for _, v := range all.Items {
		switch {
		case v.State != "draining":
		case err == nil && v.Name == last.Projection && last.repaired():
			e.note(fmt.Sprintf("version %d of %s", v.Version, v.Name), fine, "",
				"was active until %s; version %d repairs what was wrong, so that there is no way back, and it is dropped within a minute", terminal.MomentOf(v.UpdatedAt), last.Version)
		default:
			e.note(fmt.Sprintf("version %d of %s", v.Version, v.Name), fine,
				fmt.Sprintf("annals rebuild %s --rollback goes back to it, --retire gives it up", v.Name),
				"was active until %s, and is still written, so that going back loses nothing", terminal.MomentOf(v.UpdatedAt))
		}
	}
	if err != nil {
		if code := terminal.AsFailure(err).Code; code != terminal.ExitNotFound && code != terminal.ExitRefused { // there was none, or it is for others to see
			e.failed("rebuild", err)
		}
		return
	}
	switch {
	case last.Progress != nil:
		e.note("rebuild", fine, "annals rebuild knowledge --watch shows it, --cancel gives it up",
			"%s since %s: %s", last.name(), terminal.MomentOf(last.BeganAt), rebuildProgress(*last.Progress))
	case last.State == "failed":
		e.note("rebuild", warned, "annals rebuild knowledge --status shows what was found; when the reason is mended, rebuild again",
			"version %d of %s was given up: %s; version %d is active", last.Version, last.Projection, last.Error, last.Active)
	}
}
