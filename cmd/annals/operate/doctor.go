package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/vectors"
)

// examined are the server that a command examines, and what a server would find here.
type examined struct {
	terminal.Remote
	serve.Embedder

	Database string `env:"DATABASE_URL" placeholder:"URL"`

	backedUp // part: backup
}

type DoctorCommand struct {
	examined

	Alive bool
}

func (d *DoctorCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := d.Connect()
	if err != nil {
		return err
	}
	if d.Alive {
		e := examination{ctx: ctx, server: server}
		reached := e.reach()
		return errors.Join(e.print(c), e.verdict(reached))
	}
	e, reached := d.examine(ctx, c, server)
	if err := e.print(c); err != nil {
		return err
	}
	return e.verdict(reached)
}

// examine makes all checks.
func (d *examined) examine(
	ctx context.Context, c *terminal.Console, server *client.Client,
) (e *examination, reached bool) {
	e = &examination{ctx: ctx, server: server}
	if reached = e.reach(); reached {
		e.readiness()
		e.projections()
		e.rebuild()
		e.protections()
		e.files()
		e.search()
	} else {
		e.embedder(d.Embedder)
	}
	// Only the running server may open its SQLite file.
	if _, isFile := serve.SqliteFile(d.Database); d.Database != "" && !(reached && isFile) {
		e.database(c, d.Database)
	}
	own, address := serve.Storage{Database: d.Database, Data: os.Getenv("ANNALS_DATA")}, ""
	if own.Data = cmp.Or(own.Data, c.Settings.Values["data"]); reached {
		address = d.Server
	}
	for _, path := range own.OtherDatabases(ctx, c, address) {
		e.note("another database", warned, "annals import "+path+" takes its items over; then move it away",
			"%s has events that this server does not know", path)
	}
	e.backups(c, d.Backup) // part: backup
	return e, reached
}

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

const (
	fine   = "ok"
	warned = "warn"
	broken = "fail"
)

// examination collects the findings of one run of the command.
type examination struct {
	ctx      context.Context //nolint:containedctx // of the command
	server   *client.Client
	findings []finding
}

// note records a finding once: --database may name the server's own database.
func (e *examination) note(check, status, fix, format string, values ...any) {
	found := finding{Check: check, Status: status, Detail: fmt.Sprintf(format, values...), Fix: fix}
	if !slices.Contains(e.findings, found) {
		e.findings = append(e.findings, found)
	}
}

func (e *examination) failed(check string, err error) {
	f := terminal.AsFailure(err)
	e.note(check, broken, f.Fix, "%s", f.Detail)
}

// ask reads a path of the server.
func (e *examination) ask(out any, path ...string) error {
	_, err := e.server.Do(e.ctx, client.Get(path...), out)
	return err
}

// isForOthers tells whether the caller may not make a request, or an older server does not know it.
func isForOthers(err error) bool {
	code := terminal.AsFailure(err).Code
	return code == terminal.ExitNotFound || code == terminal.ExitRefused
}

func (e *examination) print(c *terminal.Console) error {
	if c.JSON {
		return c.Document(map[string]any{"checks": e.findings})
	}
	rows := terminal.NewTable("", "CHECK", "FINDING")
	styles := map[string]terminal.Style{fine: terminal.Green, warned: terminal.Amber, broken: terminal.Red}
	for _, f := range e.findings {
		rows.Row(styles[f.Status].Render(f.Status), f.Check, terminal.Joined("\n→ ", f.Detail, f.Fix))
	}
	c.Table(rows)
	return nil
}

// verdict turns the findings into an exit code.
func (e *examination) verdict(reached bool) error {
	wrong := 0
	for _, f := range e.findings {
		if f.Status == broken {
			wrong++
		}
	}
	switch {
	case !reached:
		return &terminal.Failure{Code: terminal.ExitUnavailable, Detail: "no server to examine"}
	case wrong > 0:
		detail := fmt.Sprintf("%d of %d checks failed", wrong, len(e.findings))
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: detail}
	}
	return nil
}

func (e *examination) reach() bool {
	health, err := e.server.Health(e.ctx)
	if err != nil {
		e.failed("server", err)
		return false
	}
	e.note("server", fine, "", "annals %s answers at %s", health.Version, e.server.Server())
	if own := terminal.Version().Version; health.Version != own {
		e.note("version", warned, "use the same version on both sides", "this program is %s, the server is %s", own,
			health.Version)
	}
	return true
}

func (e *examination) readiness() {
	const look = "see the server's log"
	var ready api.Readiness
	// A server that is not ready answers with 503 and the same body.
	answer, err := e.server.Do(e.ctx, client.Get("readyz"), &ready)
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
			e.note(check.Name, warned, look, "%s", check.Reason)
		default:
			e.note(check.Name, broken, look, "%s", check.Reason)
		}
	}
	if ready.Status != "ready" {
		e.note("readiness", broken, "wait, then look at the server's log", "the server is %s", ready.Status)
		return
	}
	e.note("readiness", fine, "", "%s", terminal.Joined(": ", "ready", strings.Join(names, ", ")))
}

func (e *examination) projections() {
	const skew = 5.0 // seconds between clocks
	list, err := e.server.Projections(e.ctx)
	if err != nil {
		e.failed("projections", err)
		return
	}
	for _, p := range list {
		if p.Ahead > skew {
			e.note("clock", warned, "set the clocks of all servers: new events are not recorded with the right time until then",
				"the newest event was recorded %.0f s after now: the log is ahead of the server's clock", p.Ahead)
		}
		space := p.Settings["space"]
		switch {
		case p.Name == "meaning" && p.State == "catching_up":
			e.note("another model", fine, "wait: searches are made there when it is complete",
				"%s: %d of %d events read", space, p.Position, p.Head)
			if p.Error != "" {
				e.note("another model", broken, "see the server's log", "stands still: %s", p.Error)
			}
		case p.Name == "meaning" && p.State == "retired":
			e.note("model before", fine, "annals rebuild meaning --retire drops them",
				"the vectors of %s are kept: going back to it costs only what came since", space)
		case p.State == "active", p.State == "ready" && p.Name == "meaning":
			e.projection(p)
		}
	}
}

// projection checks the active version of a projection, and notes the first problem.
func (e *examination) projection(p client.Projection) {
	const (
		late = 60.0   // seconds
		many = 20_000 // items that a search scans without the index
	)
	check, behind := "projection "+p.Name, terminal.Several(int(p.LagEvents), "event")+" behind"
	space := p.Settings["space"]
	switch {
	case p.Halted:
		fix := "put all tables of one backup back: it takes in every event once, and cannot begin anew"
		if slices.Contains(Replayable, p.Name) {
			fix = "if the log is as it should be: annals replay " + p.Name
		}
		e.note(check, broken, fix, "has halted: %s", p.Error)
	case strings.HasPrefix(p.Error, vectors.NotAsked):
		e.note(check, warned,
			"repair that; while models change, wait until the other one has caught up, or name this one: "+
				"ANNALS_EMBEDDING_PREVIOUS_MODEL", "%s: %s",
			space, p.Error)
	case p.Name == "extraction" && p.Error != "":
		e.note(check, broken, "repair that, and restart the server if its settings change: "+
			"failed archives are retried by themselves, at once with annals session retry ID",
			"nothing is learned from sessions: %s", p.Error)
	case p.Error != "":
		e.note(check, broken, "see the server's log", "stands still: %s", p.Error)
	case p.Settings["unknown_keys"] != "":
		e.note(check, warned, "all servers of a database need the same log.key and log.pub: "+
			"copy them to the others' data directories, and restart",
			"the log was also signed by %s, which this server does not know: neither can verify the other's checkpoints",
			p.Settings["unknown_keys"])
	case p.Settings["unreadable_rows"] != "":
		e.note(check, broken, "stop the server and name the items with annals verify --answers, "+
			"then annals rebuild knowledge --repair",
			"rows that cannot be read were %s: answers leave their items out", p.Settings["unreadable_rows"])
	case p.Quarantined > 0:
		e.note(check, warned, "annals quarantine list --projection "+p.Name+" says which and why",
			"%s in quarantine%s: what comes to them is not taken in",
			terminal.Several(int(p.Quarantined), "stream"), e.quarantined(p.Name))
	case p.Settings["sketches_evicted"] != "":
		e.note(check, warned, "raise ANNALS_SKETCH_MEMORY, and restart the server: some searches read sketches first",
			"sketches take more than %s, %s", p.Settings["sketch_memory"], p.Settings["sketches_evicted"])
	case p.Unindexed > many:
		e.note(check, warned, "wait, it happens by itself",
			"the words of some %s items are not indexed yet: searches are slow until then",
			humanize.Comma(p.Unindexed))
	case p.LagSeconds > late && p.Holder == "":
		e.note(check, broken, "start a server that works on it, and see its log",
			"%s, %.0f s, and no server works on it", behind, p.LagSeconds)
	case p.LagSeconds > late:
		e.note(check, warned, "wait; it catches up by itself", "%s, %.0f s; %s works on it", behind, p.LagSeconds, p.Holder)
	default:
		e.note(check, fine, "", "%s", terminal.Joined(" · ", fmt.Sprintf("version %d %s", p.Version, p.State), behind, space,
			p.Settings["sketch_memory"]))
	}
}

// quarantined names the first streams that a projection skips, if the caller may know them.
func (e *examination) quarantined(projection string) (names string) {
	const most = 5
	q, _ := readQuarantine(e.ctx, e.server, projection)
	var streams []string // of vectors, each model may skip the same
	for _, s := range q.streams {
		if !slices.Contains(streams, s.Value.Stream) {
			streams = append(streams, s.Value.Stream)
		}
	}
	for _, stream := range streams[:min(most, len(streams))] {
		names += " · " + stream
	}
	return names
}

// rebuild notes the versions that rebuilds have left, and the last rebuild if it is running or has failed.
func (e *examination) rebuild() {
	var all api.Projections
	if e.ask(&all, "v1", "projections") != nil {
		return // [examination.projections] has noted that
	}
	var last rebuild
	err := e.ask(&last, "v1", "projections", "knowledge", "rebuild")
	for _, v := range all.Items {
		check, since := fmt.Sprintf("version %d of %s", v.Version, v.Name), terminal.Text(v.UpdatedAt)
		switch {
		case v.State != "standby":
		case err == nil && v.Name == last.Projection && last.repaired():
			e.note(check, fine, "", "was active until %s; version %d repairs what was wrong, "+
				"so that there is no way back, and it is dropped within a minute", since, last.Version)
		default:
			e.note(check, fine, fmt.Sprintf("annals rebuild %s --rollback goes back to it, --retire gives it up", v.Name),
				"was active until %s, and is still written, so that going back loses nothing", since)
		}
	}
	switch {
	case err != nil && isForOthers(err): // or there was none
	case err != nil:
		e.failed("rebuild", err)
	case last.Progress != nil:
		e.note("rebuild", fine, "annals rebuild knowledge --watch shows it, --cancel gives it up",
			"%s since %s: %s", last.name(), terminal.Text(last.BeganAt), progressOf(*last.Progress))
	case last.State == "failed":
		e.note("rebuild", warned,
			"annals rebuild knowledge --status shows what was found; when the reason is repaired, rebuild again", "%s",
			last.whyFailed())
	}
}

// protections notes what protects the server's log.
func (e *examination) protections() {
	var list api.Protections
	switch err := e.ask(&list, "v1", "log", "protections"); {
	case err == nil:
		e.noteProtections(list.Items)
	case !isForOthers(err):
		e.failed("protections", err)
	}
}

func (e *examination) noteProtections(all []api.Protection) {
	optional := func(p api.Protection) bool { return !p.Stands && (p.Name == "role" || p.Name == "tenants") }
	if rest := slices.DeleteFunc(slices.Clone(all), optional); len(rest) == len(all)-2 {
		all = rest
		e.note("hardening", warned, "", "not configured (docs/install.md)")
	}
	for _, p := range all {
		status, detail := fine, "enabled: "
		if !p.Stands {
			status, detail = warned, "not enabled: "
		}
		e.note("protection "+p.Name, status, p.Fix, "%s", detail+p.Detail)
	}
}

// files notes whether the files of the database still hold erased texts, and which other copies exist.
func (e *examination) files() {
	var status api.Erasures
	if e.ask(&status, "v1", "erasures") != nil {
		return // erasures are visible to admins and auditors only
	}
	last, fix := "never rewritten", "annals erase --purge; or let the server do it: ANNALS_PURGE_AFTER=24h"
	if status.PurgeBy != nil {
		fix = "wait: the server rewrites them by " + terminal.Text(status.PurgeBy) + "; annals erase --purge does it now"
	}
	if status.LastPurge != nil {
		last = "rewritten last " + terminal.Moment(status.LastPurge.EndedAt)
		if !status.LastPurge.Complete {
			last += ", not all of them"
		}
	}
	fix = cmp.Or(forOwner(status.ForOwner), fix)
	if status.Unpurged > 0 {
		e.note("files", warned, fix, "hold the bytes of %s destroyed texts, since %s; %s",
			humanize.Comma(status.Unpurged), terminal.Text(status.Oldest), last)
	} else {
		e.note("files", fine, "", "hold nothing of what was erased; %s", last)
	}
	e.note("kept by the database", fine, "", "%s", strings.Join(status.Kept, "; "))
	e.note("kept by you", fine, "", "backups, exports and snapshots, as long as you keep them: docs/privacy.md")
}

// search checks that a search by meaning and by words is answered.
func (e *examination) search() {
	began := time.Now()
	found, err := e.server.Search(e.ctx, api.Search{Query: "annals doctor", Limit: new(1)})
	switch {
	case err != nil:
		e.failed("search", err)
	case found.Degraded != "":
		e.note("search", warned, "see that the embedding model answers", "incomplete: %s", found.Degraded)
	default:
		e.note("search", fine, "", "by meaning (%s) and by words, in %s", found.Embedder,
			time.Since(began).Round(time.Millisecond))
	}
}

// embedder notes the embedder that a server started here would use.
func (e *examination) embedder(settings serve.Embedder) {
	chosen, why, err := settings.Choose()
	if err != nil {
		e.failed("embedder", err)
		return
	}
	e.note("embedder", fine, "", "a server started here would use %s: %s", chosen.Name(), why)
}

func (e *examination) database(c *terminal.Console, address string) {
	if path, isFile := serve.SqliteFile(address); isFile {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { // opening the database would create it
			e.note("database", warned, "annals serve makes it", "%s is not there yet", path)
			return
		}
	}
	db, err := database.Open(e.ctx, address, serve.Logging{LogLevel: "error"}.Logger(c))
	if err != nil {
		e.failed("database", err)
		return
	}
	have, want, err := database.Schema(e.ctx, db)
	name := serve.DatabaseName(address)
	switch {
	case err != nil:
		e.failed("database", err)
	case have > want:
		e.note("database", broken, "use a newer annals", "%s has schema %d, this annals knows %d", name, have, want)
	case have < want:
		e.note("database", warned, "run annals migrate, or let annals serve do it",
			"%s has schema %d, this annals needs %d", name, have, want)
	default:
		e.note("database", fine, "", "%s has schema %d, as it should", name, have)
		if err := projections.Servable(e.ctx, db); err != nil {
			e.failed("knowledge", err)
		}
		if err := db.Writable(e.ctx); err != nil {
			e.failed("writes", err)
		}
		found, err := serve.ProtectionsOf(db)(e.ctx)
		if err != nil {
			e.failed("protections", err)
		}
		var all []api.Protection
		for _, p := range found {
			all = append(all, api.Protection(p))
		}
		e.noteProtections(all)
	}
	if err := db.Close(); err != nil {
		e.failed("database", err)
	}
}
