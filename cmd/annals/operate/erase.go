package operate

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

type EraseCommand struct {
	terminal.Writing
	terminal.Tabular
	serve.Storage
	serve.Logging

	What string `complete:"ids" field:"of,id,stream" arg:"" optional:""`

	Yes         bool
	Plan        bool `xor:"what"`
	Rows        bool
	WithLineage bool
	ReasonCode  string `placeholder:"WORD"`
	LegalBasis  string `placeholder:"TEXT"`
	RequestedBy string `placeholder:"WHO"`
	Ticket      string `placeholder:"WORD"`

	Sweep      bool
	ExportList string `xor:"what" complete:"file" placeholder:"FILE"`
	Replay     string `xor:"what" complete:"file" placeholder:"FILE"`

	erased bool // something was, now

	Certificate string `xor:"what" placeholder:"ID"`
}

// Run implements the command.
func (e *EraseCommand) Run(ctx context.Context, c *terminal.Console, said *kong.Context) error {
	if err := e.agrees(); err != nil {
		return err
	}
	switch {
	case e.Replay != "":
		return e.replay(ctx, c)
	case e.sweepsAlone() && terminal.OnCommandLine(said, "database"):
		return e.sweepAsOwner(ctx, c)
	}
	if e.What == "" && !e.Sweep && e.ExportList == "" && e.Certificate == "" {
		return terminal.Wrong("as in annals erase retry-advice, or annals erase user:123 --plan", "say what to erase")
	}
	server, err := e.Connect()
	if err != nil {
		return err
	}
	if e.Sweep && !e.Plan {
		if err := maySweep(ctx, server); err != nil {
			return err
		}
	}
	switch {
	case e.ExportList != "":
		err = e.exportList(ctx, c, server)
	case e.Certificate != "":
		err = e.certificate(ctx, c, server)
	case e.What != "" && e.Plan:
		err = e.plan(ctx, c, server)
	case e.What == "":
	default:
		err = e.confirmed(ctx, c, server)
	}
	switch {
	case err != nil || e.What == "" || e.Plan:
	case e.WithLineage || strings.Contains(e.What, ":"):
		err = e.order(ctx, c, server)
	default:
		err = e.erase(ctx, c, server)
	}
	err = e.swept(ctx, c, server, e.inTenant(err))
	e.sayPurge(ctx, c, server)
	return err
}

// agrees refuses what would leave something undone that was asked for beside something else.
func (e *EraseCommand) agrees() error {
	for _, way := range []struct {
		flag  string
		given bool
	}{{"--replay", e.Replay != ""}, {"--export-list", e.ExportList != ""}, {"--certificate", e.Certificate != ""}} {
		if way.given && e.What != "" {
			return terminal.Wrong("one after the other", "%s erases nothing that is named besides: %s", way.flag, terminal.Printable(e.What))
		}
	}
	if (e.Rows || e.Quiet || e.Wide || len(e.Columns) > 0) && !e.Plan {
		return terminal.Wrong("add --plan, or leave it out", "--rows is for a plan, and so are --wide, --columns and --quiet")
	}
	if e.Replay != "" && e.Sweep {
		return terminal.Wrong("one after the other: annals erase --sweep, when a server runs again", "--replay sweeps nothing")
	}
	return nil
}

func (e *EraseCommand) sweepsAlone() bool {
	return e.Sweep && e.What == "" && e.ExportList == "" && e.Certificate == "" && !e.Plan
}

// inTenant tells root how to get into the tenant that is to be erased.
func (e *EraseCommand) inTenant(err error) error {
	name, isTenant := strings.CutPrefix(e.What, "tenant:")
	if !isTenant || err == nil {
		return err
	}
	f := terminal.AsFailure(err)
	if !slices.ContainsFunc(f.Fields, func(f terminal.Field) bool { return f.Field == "of" }) {
		return err
	}
	hinted := *f
	hinted.Fix = "add --tenant " + name
	return &hinted
}

// words are why it is erased.
func (e *EraseCommand) words() map[string]string {
	words := map[string]string{
		"reason_code": e.ReasonCode, "legal_basis": e.LegalBasis, "requested_by": e.RequestedBy, "ticket": e.Ticket,
	}
	maps.DeleteFunc(words, func(_, value string) bool { return value == "" })
	return words
}

// erase erases one piece of knowledge.
func (e *EraseCommand) erase(ctx context.Context, c *terminal.Console, server *client.Client) error {
	query := url.Values{"erase": {"true"}}
	for name, value := range e.words() {
		query.Set(name, value)
	}
	a, err := server.Do(ctx, client.Request{Method: http.MethodDelete, Path: []string{"v1", "knowledge", e.What}, Query: query, Header: e.Header(0)}, nil)
	if err != nil {
		return err
	}
	event := a.Header.Get("Annals-Events")
	switch {
	case c.JSON:
		return c.Document(map[string]any{"id": e.What, "event": event})
	case event == "":
		c.Say("nothing to erase: %s", terminal.Bold.Render(terminal.Printable(e.What)))
	default:
		e.erased = true
		c.Say("erased %s for good", terminal.Bold.Render(terminal.Printable(e.What)))
		knowledge.RedactionsOf(a).Print(c)
	}
	return nil
}

type legalHold struct {
	knowledge.Changing

	ReasonCode string `required:"" placeholder:"WORD"`
	Ticket     string `placeholder:"WORD"`
}

func (l legalHold) do(ctx context.Context, c *terminal.Console, what, done string) error {
	return l.Change(ctx, c, client.Request{
		Method: http.MethodPost, Path: []string{what},
		Body: map[string]string{"reason_code": l.ReasonCode, "ticket": l.Ticket},
	}, done)
}

type HoldCommand struct{ legalHold }

// Run implements the command.
func (h *HoldCommand) Run(ctx context.Context, c *terminal.Console) error {
	return h.do(ctx, c, "hold", "held")
}

type ReleaseCommand struct{ legalHold }

// Run implements the command.
func (r *ReleaseCommand) Run(ctx context.Context, c *terminal.Console) error {
	return r.do(ctx, c, "release", "released")
}

// replay erases in the database what a list names: what a backup that was restored may not know. No server of
// this SQLite file may be running.
func (e *EraseCommand) replay(ctx context.Context, c *terminal.Console) (err error) {
	cfg := serve.Config{Storage: e.Opened(c)}
	list, err := serve.ErasuresIn(e.Replay)
	if err != nil {
		return err
	}
	logger := cfg.Logger(c)
	if err := serve.IsThere(ctx, cfg, logger); err != nil {
		return err
	}
	db, err := serve.OpenDatabase(ctx, cfg, logger)
	if err != nil {
		return err
	}
	knowledge, err := projections.Open(ctx, db, projections.Settings{Logger: logger})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	log := events.NewLog(db, knowledge, events.Options{Policy: knowledge.Policy(), Logger: logger})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx)), db.Close()) }()
	release, err := db.LockWriterTables(ctx)
	if err != nil {
		return err
	}
	defer release()
	done, err := serve.ReplayList(ctx, log, projections.NewEraser(knowledge, log, logger), list)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(done)
	}
	if done.Empty() {
		c.Say("nothing to replay: the list is empty, as of a tenant in which nothing was erased")
		return nil
	}
	c.Say("erased %d; %d were erased before, %d are not known here", done.Erased, done.Known, done.Unknown)
	if done.Revoked+done.RevokedBefore > 0 {
		c.Say("revoked %s; %d before", terminal.Some(int64(done.Revoked), "key", "keys"), done.RevokedBefore)
	}
	if done.Rotated+done.RotatedBefore > 0 {
		c.Say("rotated %s; %d before", terminal.Some(int64(done.Rotated), "key", "keys"), done.RotatedBefore)
	}
	if done.Rotated > 0 {
		c.Note("what took the place of a rotated key was made after the backup, and opens nothing here: whoever needs one is given another, with annals key create")
	}
	if done.Demoted+done.DemotedBefore > 0 {
		c.Say("demoted %s; %d before", terminal.Some(int64(done.Demoted), "key", "keys"), done.DemotedBefore)
	}
	if done.Unknown > 0 {
		c.Note("not known here: %s", terminal.Printable(terminal.Enumerated(done.Strangers, done.Unknown)))
	}
	if done.Held > 0 {
		c.Note("%s under legal hold since, and stay", terminal.Some(int64(done.Held), "is", "are"))
	}
	return nil
}
