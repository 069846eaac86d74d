package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

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

	Revoked       int `json:"revoked"` // keys
	RevokedBefore int `json:"revoked_before"`
	Rotated       int `json:"rotated"`
	RotatedBefore int `json:"rotated_before"`
	Demoted       int `json:"demoted"`
	DemotedBefore int `json:"demoted_before"` // or has a role since that the list does not know

	Strangers []string `json:"not_known"` // the streams that are not known here
}

// replay erases in the database what a list names: what a backup that was restored may not know. No server of
// this SQLite file may be running.
func (e *eraseCommand) replay(ctx context.Context, c *console) (err error) {
	cfg := config{storage: e.opened(c)}
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
	release, err := db.LockWriterTables(ctx)
	if err != nil {
		return err
	}
	defer release()
	done, err := replayList(ctx, log, projections.NewEraser(knowledge, log, logger), list)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(done)
	}
	if done.empty() {
		c.say("nothing to replay: the list is empty, as of a tenant in which nothing was erased")
		return nil
	}
	c.say("erased %d; %d were erased before, %d are not known here", done.Erased, done.Known, done.Unknown)
	if done.Revoked+done.RevokedBefore > 0 {
		c.say("revoked %s; %d before", some(int64(done.Revoked), "key", "keys"), done.RevokedBefore)
	}
	if done.Rotated+done.RotatedBefore > 0 {
		c.say("rotated %s; %d before", some(int64(done.Rotated), "key", "keys"), done.RotatedBefore)
	}
	if done.Rotated > 0 {
		c.note("what took the place of a rotated key was made after the backup, and opens nothing here: whoever needs one is given another, with annals key create")
	}
	if done.Demoted+done.DemotedBefore > 0 {
		c.say("demoted %s; %d before", some(int64(done.Demoted), "key", "keys"), done.DemotedBefore)
	}
	if done.Unknown > 0 {
		c.note("not known here: %s", printable(enumerated(done.Strangers, done.Unknown)))
	}
	if done.Held > 0 {
		c.note("%s under legal hold since, and stay", some(int64(done.Held), "is", "are"))
	}
	return nil
}

func (r replayed) empty() bool {
	keys := r.Revoked + r.RevokedBefore + r.Rotated + r.RotatedBefore + r.Demoted + r.DemotedBefore
	return r.Erased+r.Known+r.Unknown+r.Held+keys == 0
}

// mostNamed is how many things are named, where there is no room for all.
const mostNamed = 20

// enumerated names the first of some things, and says how many more there are.
func enumerated(first []string, all int) string {
	first = first[:min(len(first), mostNamed)]
	said := strings.Join(first, ", ")
	if more := all - len(first); more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

// isThere refuses a database that does not exist: nothing could be erased in a new one, and that would look as if it
// had been.
func isThere(ctx context.Context, cfg config, logger *slog.Logger) error {
	db, err := database.OpenReadOnly(ctx, cfg.Database, logger)
	if err != nil {
		return err
	}
	return db.Close()
}

// replayList erases what a list names, tenant by tenant as it says.
func replayList(ctx context.Context, log *events.Log, eraser *projections.Eraser, list []erasure) (done replayed, err error) {
	done.Strangers = []string{}
	for _, line := range tenantsLast(lastOfEach(list)) {
		if err := done.replay(ctx, log, eraser, line); err != nil {
			return done, err
		}
	}
	return done, nil
}

// replay erases one thing again.
func (r *replayed) replay(ctx context.Context, log *events.Log, eraser *projections.Eraser, line erasure) error {
	ctx = database.ForTenant(ctx, line.Tenant)
	if line.isTenant() {
		return r.tenant(ctx, log, eraser, line)
	}
	switch line.ofKey() {
	case revocation:
		return r.revoke(ctx, log, line)
	case rotation:
		return r.rotate(ctx, log, line)
	case roleChange:
		return r.demote(ctx, log, line)
	}
	doomed := domain.ErasureTarget{Stream: line.Stream}
	if id, isItem := domain.ItemOf(line.Stream); isItem {
		doomed.ID = id
	} else if left, err := r.left(ctx, log, line); err != nil || !left.Exists() {
		return err
	} else {
		doomed.State = left.State
	}
	erasing := line.submission()
	erasing.Command = doomed.EraseCommand(erasing.By, line.grounds())
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
		r.unknown(line)
	case err != nil:
		return err
	case len(receipt.Events) == 0:
		r.Known++
	default:
		r.Erased++
	}
	return nil
}

// left is a thing other than an item that is still to be erased; none if it is not known, or was erased before. What
// was said in it after that stays: a session can be begun again, and a list may be left set.
func (r *replayed) left(ctx context.Context, log *events.Log, line erasure) (none domain.Stream, err error) {
	stream, err := log.State(ctx, line.Tenant, line.Stream)
	if err != nil {
		return none, err
	}
	if !stream.Exists() {
		r.unknown(line)
		return none, nil
	}
	erased, err := log.ErasedBy(ctx, line.Tenant, line.Stream, line.EventID)
	if err != nil {
		return none, err
	}
	if erased {
		r.Known++
		return none, nil
	}
	return stream, nil
}

func (r *replayed) unknown(line erasure) {
	r.Unknown++
	r.Strangers = append(r.Strangers, line.Stream)
}
