package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

func (e *examination) server(ctx context.Context, server *client.Client) (reached bool) {
	health, err := server.Health(ctx)
	if err != nil {
		e.failed("server", err)
		return false
	}
	e.note("server", fine, "", "annals %s answers at %s", health.Version, server.Server())
	if ours := terminal.Version().Version; health.Version != ours {
		e.note("version", warned, "use the same version on both sides", "this program is %s, the server is %s", ours, health.Version)
	}
	return true
}

func (e *examination) readiness(ctx context.Context, server *client.Client) {
	var ready api.Readiness
	// Not being ready is an answer, too.
	answer, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"readyz"}}, &ready)
	if err != nil && (answer == nil || json.Unmarshal(answer.Body, &ready) != nil) {
		e.failed("readiness", err)
		return
	}
	var names []string
	for _, check := range ready.Checks {
		names = append(names, check.Name)
		switch check.Status {
		case "ok":
		case "degraded":
			e.note(check.Name, warned, "see the server's log", "%s", check.Reason)
		default:
			e.note(check.Name, broken, "see the server's log", "%s", check.Reason)
		}
	}
	if ready.Status != "ready" {
		e.note("readiness", broken, "wait, then look at the server's log", "the server is %s", ready.Status)
		return
	}
	e.note("readiness", fine, "", "%s", terminal.Joined(": ", "ready", strings.Join(names, ", ")))
}

func (e *examination) projections(ctx context.Context, server *client.Client) {
	const (
		late = 60.0   // seconds
		skew = 5.0    // seconds between clocks
		many = 20_000 // items that a search over everything looks at one by one
	)
	list, err := server.Projections(ctx)
	if err != nil {
		e.failed("projections", err)
		return
	}
	for _, p := range list {
		if p.Ahead > skew {
			e.note("clock", warned, "set the clocks of all servers: new events are not recorded with the right time until then",
				"the newest event was recorded %.0f s after now: the log is ahead of the server's clock", p.Ahead)
		}
		name, behind := "projection "+p.Name, terminal.Several(int(p.LagEvents), "event")+" behind"
		switch {
		case p.Name == "meaning" && p.State == "catching_up":
			e.note("another model", fine, "wait: searches are made there when it is complete", "%s: %d of %d events read", p.Settings["space"], p.Position, p.Head)
			if p.Error != "" {
				e.note("another model", broken, "see the server's log", "stands still: %s", p.Error)
			}
		case p.Name == "meaning" && p.State == "retired":
			e.note("model before", fine, "annals rebuild meaning --retire drops them", "the vectors of %s are kept: going back to it costs only what came since", p.Settings["space"])
		case p.State != "active": // what rebuilding has left is examined by itself
		case p.Halted:
			fix := "put all tables of one backup back: it takes in every event once, and cannot begin anew"
			if slices.Contains(Rereadable, p.Name) {
				fix = "if the log is as it should be: annals reread " + p.Name
			}
			e.note(name, broken, fix, "has halted: %s", p.Error)
		case strings.HasPrefix(p.Error, "words answer alone"):
			e.note(name, warned, "wait until the other model has caught up, or name this one: ANNALS_EMBEDDING_PREVIOUS_MODEL", "%s: %s", p.Settings["space"], p.Error)
		case p.Name == "extraction" && p.Error != "":
			e.note(name, broken, "mend that, and restart the server if its settings change: what failed is tried again by itself, at once with annals session retry ID",
				"nothing is learned from sessions: %s", p.Error)
		case p.Error != "":
			e.note(name, broken, "see the server's log", "stands still: %s", p.Error)
		case p.Settings["unknown_keys"] != "":
			e.note(name, warned, "all servers of a database need the same log.key and log.pub: copy them to the others' data directories, and restart",
				"the log was also signed by %s, which this server does not know: neither can verify the other's checkpoints", p.Settings["unknown_keys"])
		case p.Settings["unreadable_rows"] != "":
			e.note(name, broken, "stop the server and name the items with annals verify --answers, then annals rebuild knowledge --repair",
				"rows that cannot be read were %s: answers leave their items out", p.Settings["unreadable_rows"])
		case p.Quarantined > 0:
			e.note(name, warned, "annals quarantine list --projection "+p.Name+" says which and why",
				"%s in quarantine: what comes to them is not taken in", terminal.Several(int(p.Quarantined), "stream"))
		case p.Unindexed > many:
			e.note(name, warned, "wait, it happens by itself",
				"the words of some %s items and scopes are not indexed yet: searches over everything are slow until then", terminal.Counted(p.Unindexed))
		case p.LagSeconds > late && p.Holder == "":
			e.note(name, broken, "see that a server runs that works on it, and its log",
				"%s, %.0f s, and nobody works on it", behind, p.LagSeconds)
		case p.LagSeconds > late:
			e.note(name, warned, "wait; it catches up by itself", "%s, %.0f s; %s works on it", behind, p.LagSeconds, p.Holder)
		default:
			e.note(name, fine, "", "%s", terminal.Joined(" · ", fmt.Sprintf("version %d %s", p.Version, p.State), behind, p.Settings["space"]))
		}
	}
}

// question sees whether a question is answered, by meaning and by words.
func (e *examination) question(ctx context.Context, server *client.Client) {
	began := time.Now()
	found, err := server.Search(ctx, api.Search{Query: "annals doctor", Limit: new(1)})
	switch {
	case err != nil:
		e.failed("search", err)
	case found.Degraded != "":
		e.note("search", warned, "see that the embedding model answers", "by words alone: %s", found.Degraded)
	default:
		e.note("search", fine, "", "by meaning (%s) and by words, in %s", found.Embedder, time.Since(began).Round(time.Millisecond))
	}
}
