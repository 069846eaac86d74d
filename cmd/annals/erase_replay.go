package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// replayed counts what became of a list of erasures.
type replayed struct {
	Erased  int `json:"erased"`
	Known   int `json:"erased_before"`
	Unknown int `json:"unknown"`
	Held    int `json:"held"` // since they were erased
}

// replay erases in the database what a list names: what a backup that was restored may not know. No server of
// this SQLite file may be running.
func (e *eraseCommand) replay(ctx context.Context, c *console) (err error) {
	cfg := config{storage: e.placed()}
	list, err := erasuresIn(e.Replay)
	if err != nil {
		return err
	}
	logger := cfg.logger(c)
	if err := isThere(ctx, cfg, logger); err != nil {
		return err
	}
	db, err := openDatabase(ctx, cfg, logger)
	if err != nil {
		return err
	}
	knowledge, err := projections.Open(ctx, db, projections.Settings{Logger: logger})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	log := events.NewLog(db, knowledge, events.Options{Policy: knowledge.Policy(), Logger: logger})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx)), db.Close()) }()
	done, err := replayList(ctx, log, list)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(done)
	}
	if done == (replayed{}) {
		c.say("nothing to replay: the list is empty, as of a tenant in which nothing was erased")
		return nil
	}
	c.say("erased %d; %d were erased before, %d are not known here", done.Erased, done.Known, done.Unknown)
	if done.Held > 0 {
		c.note("%s under legal hold since, and stay", some(int64(done.Held), "is", "are"))
	}
	return nil
}

// isThere refuses a database that does not exist: nothing could be erased in a new one, and that would look as if it
// had been.
func isThere(ctx context.Context, cfg config, logger *slog.Logger) error {
	db, err := database.OpenToRead(ctx, cfg.Database, logger)
	if err != nil {
		return err
	}
	return db.Close()
}

// erasuresIn reads a whole list, before anything is done; no name is no list.
func erasuresIn(name string) ([]erasure, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, noList(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	var list []erasure
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line, err := erasureOf(lines.Bytes())
		if err != nil {
			return nil, wrong(whichList, "line %d of the list of erasures cannot be read", number)
		}
		list = append(list, line)
	}
	if err := lines.Err(); err != nil {
		return nil, noList(err)
	}
	return list, nil
}

// replayList erases what a list names, tenant by tenant as it says.
func replayList(ctx context.Context, log *events.Log, list []erasure) (done replayed, err error) {
	for _, line := range list {
		if err := done.replay(ctx, log, line); err != nil {
			return done, err
		}
	}
	return done, nil
}

const whichList = "it is the file that annals erase --export-list has written"

// erasureOf reads a line of a list. What it does not know makes it something else, such as a line of the log, which
// names a stream, too: that is not to be erased.
func erasureOf(written []byte) (line erasure, err error) {
	strict := json.NewDecoder(bytes.NewReader(written))
	strict.DisallowUnknownFields()
	if err = strict.Decode(&line); err == nil && (line.Stream == "" || line.Tenant == "") {
		err = errors.New("it names no stream of a tenant")
	}
	return line, err
}

func noList(err error) error {
	return wrong(whichList, "the list of erasures cannot be read: %s", err)
}

// replay erases one thing again.
func (r *replayed) replay(ctx context.Context, log *events.Log, line erasure) error {
	by := domain.SystemPrincipal()
	by.Tenant = line.Tenant
	ctx = database.ForTenant(ctx, line.Tenant)
	doomed := domain.Doomed{Stream: line.Stream}
	doomed.ID, _ = domain.ItemOf(line.Stream)
	if doomed.ID == "" {
		stream, err := log.State(ctx, line.Tenant, line.Stream)
		if err != nil {
			return err
		}
		if !stream.Exists() {
			r.Unknown++
			return nil
		}
		doomed.State = stream.State
	}
	erasing := domain.Submission{
		By: by, Command: doomed.Erasing(by, domain.Grounds{
			ReasonCode: line.ReasonCode, LegalBasis: line.LegalBasis, RequestedBy: line.RequestedBy, Ticket: line.Ticket,
		}),
		Origin: domain.Origin{CausationID: line.EventID},
	}
	receipt, err := log.Submit(ctx, erasing)
	if errors.Is(err, domain.ErrConflict) {
		if err = line.release(ctx, log, erasing); err == nil {
			receipt, err = log.Submit(ctx, erasing)
		}
	}
	switch {
	case errors.Is(err, domain.ErrConflict):
		r.Held++
	case errors.Is(err, domain.ErrNotFound):
		r.Unknown++
	case err != nil:
		return err
	case len(receipt.Events) == 0:
		r.Known++
	default:
		r.Erased++
	}
	return nil
}
