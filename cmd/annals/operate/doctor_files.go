package operate

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// files says whether they still hold what was erased, and what else does.
func (e *examination) files(ctx context.Context, server *client.Client) {
	var status api.Erasures
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "erasures"}}, &status); err != nil {
		return // what was erased is for admins and auditors
	}
	last, fix := "never rewritten", "annals erase --sweep; or let the server do it: ANNALS_SWEEP=24h"
	if status.PurgeBy != nil {
		fix = "wait: the server rewrites them by " + terminal.Moment(*status.PurgeBy) + "; annals erase --sweep does it now"
	}
	if status.LastSweep != nil {
		last = "rewritten last " + terminal.Moment(status.LastSweep.EndedAt)
		if !status.LastSweep.Complete {
			last += ", not all of them"
			fix = cmp.Or(sweepDone(*status.LastSweep).left(), fix)
		}
	}
	if status.Unswept > 0 {
		e.note("files", warned, fix,
			"hold the bytes of %s destroyed texts, since %s; %s", terminal.Counted(status.Unswept), terminal.MomentOf(status.Oldest), last)
	} else {
		e.note("files", fine, "", "hold nothing of what was erased; %s", last)
	}
	e.note("kept by the database", fine, "", "%s", strings.Join(status.Kept, "; "))
	e.note("kept by you", fine, "", "backups, exports and snapshots, as long as you keep them: docs/privacy.md")
}
