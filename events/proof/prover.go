package proof

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/signing"
)

// Prover builds the trees of all tenants, signs them, and proves. It is safe for concurrent use.
type Prover struct {
	db        *database.DB
	log       *events.Log
	followers *follow.Followers
	key       signing.Key
	known     []string // the keys that it can verify with, by [signerID]
	options   Options
}

// Options configure a prover. Zero values mean the defaults.
type Options struct {
	// Every is how often a tree that has grown is signed; default: ten seconds. A requested checkpoint is at most a
	// tenth of that old.
	Every time.Duration
	// Clock is the source of the time; default: time.Now.
	Clock func() time.Time
	// Logger is the logger; default: slog.Default.
	Logger *slog.Logger
	// Known are the public keys from before this one; default: none.
	Known []string
}

// NewProver makes a prover that signs with the key.
func NewProver(
	db *database.DB, log *events.Log, followers *follow.Followers, key signing.Key, options Options,
) *Prover {
	options.Every = cmp.Or(options.Every, 10*time.Second)
	options.Logger = cmp.Or(options.Logger, slog.Default())
	if options.Clock == nil {
		options.Clock = time.Now
	}
	return &Prover{
		db: db, log: log, followers: followers, key: key,
		known: idsOf(append(options.Known, key.Public())), options: options,
	}
}

// Follow makes the trees grow with the log, as a handler of the router.
func (p *Prover) Follow(router *message.Router) {
	follow.AddWholePages(router, p.followers, Name, p.grow)
}

// Key is the public key for verifying checkpoints.
func (p *Prover) Key() string { return p.key.Public() }

func (p *Prover) tree(tenant string) tree { return tree{db: p.db, tenant: tenant} }

// Entry looks an event up. The error matches [domain.ErrNotFound] if there is none.
func (p *Prover) Entry(ctx context.Context, tenant, eventID string) (domain.Entry, error) {
	column, named := "position", any(nil)
	if position, err := strconv.ParseInt(eventID, 10, 64); err == nil {
		named = position
	} else if id, err := uuid.Parse(eventID); err == nil {
		column, named = "event_id", id.String()
	} else {
		return domain.Entry{}, domain.NoSuchEvent()
	}
	var entry domain.Entry
	err := database.ForEach(ctx, p.db, func(rows *sql.Rows) error {
		return rows.Scan(&entry.EventID, &entry.Stream, &entry.Position, &entry.Hash)
	}, `
		SELECT event_id, stream, position, hash
		FROM events
		WHERE tenant = ? AND `+column+` = ?`, tenant, named)
	switch {
	case err != nil:
		return entry, failed("look up an event", err)
	case entry.Position == 0:
		return entry, domain.NoSuchEvent()
	}
	return entry, nil
}

// Inclusion proves that an event is in the log that the newest checkpoint describes. It first adds the event to the
// tree if necessary. Of a rewritten event it proves the leaf that was signed, so that a verifier sees the difference.
// With text, the record has its text, if it was not destroyed, and the salt.
func (p *Prover) Inclusion(
	ctx context.Context, tenant string, entry domain.Entry, text bool,
) (domain.Inclusion, error) {
	c, err := p.sign(ctx, tenant, entry.Position)
	if err != nil {
		return domain.Inclusion{}, err
	}
	made := domain.Inclusion{Entry: entry, Checkpoint: c}
	reader := p.tree(tenant).reader(ctx)
	path, err := tlog.ProveRecord(c.Size, entry.Position-1, reader)
	if err == nil && tlog.CheckRecord(path, c.Size, c.Root, entry.Position-1, tlog.RecordHash(entry.Hash)) != nil {
		made.Leaf, err = signedLeaf(path, c, entry.Position, reader)
	}
	if err != nil {
		return domain.Inclusion{}, failed("prove an event", err)
	}
	record, err := p.record(ctx, tenant, entry.Position, text)
	if err != nil {
		return domain.Inclusion{}, failed("read an event", err)
	}
	made.Record, made.Path = record, digests(path)
	return made, nil
}

// signedLeaf is the leaf of a position in the tree that was signed.
func signedLeaf(
	path tlog.RecordProof, c domain.Checkpoint, position int64, tree tlog.HashReader,
) (domain.Digest, error) {
	leaves, err := tree.ReadHashes([]int64{tlog.StoredHashIndex(0, position-1)})
	if err != nil {
		return domain.Digest{}, err
	}
	if tlog.CheckRecord(path, c.Size, c.Root, position-1, leaves[0]) != nil {
		return domain.Digest{}, fmt.Errorf("%w: position %d", errRewritten, position)
	}
	return domain.Digest(leaves[0]), nil
}

// record is an event as an export has it, with or without its text.
func (p *Prover) record(ctx context.Context, tenant string, position int64, text bool) (encoded []byte, err error) {
	var s stored
	err = database.ForEach(ctx, p.db, func(rows *sql.Rows) error {
		if err := rows.Scan(s.targets()...); err != nil {
			return err
		}
		encoded, err = json.Marshal(lineOf(&s, text))
		return err
	}, selectRecords, tenant, position-1, 1)
	return encoded, err
}

// Consistency proves that the tree with to events begins with the tree with from events; 0 means the size of the
// newest checkpoint. The error matches [domain.ErrInvalid] if there are fewer events.
func (p *Prover) Consistency(ctx context.Context, tenant string, from, to int64) (domain.Consistency, error) {
	size, err := p.tree(tenant).size(ctx)
	if err == nil && to == 0 {
		var c domain.Checkpoint
		c, err = p.sign(ctx, tenant, 0)
		to = c.Size
	}
	if err != nil {
		return domain.Consistency{}, failed("read the tree", err)
	}
	var bad domain.Problems
	if from < 1 || from > to {
		bad.Add("from", "must be 1 to %d", to)
	}
	if to > size {
		bad.Add("to", "must be at most %d, the size of the tree", size)
	}
	if err := bad.Err(); err != nil {
		return domain.Consistency{}, err
	}
	reader := p.tree(tenant).reader(ctx)
	c := domain.Consistency{From: from, To: to}
	path, err := tlog.ProveTree(to, from, reader)
	if err == nil {
		c.Path = digests(path)
		c.FromRoot, err = tlog.TreeHash(from, reader)
	}
	if err == nil {
		c.ToRoot, err = tlog.TreeHash(to, reader)
	}
	if err != nil {
		return c, failed("prove that the log was continued", err)
	}
	return c, nil
}

// Status is the status of the tree. The tree is also halted if a part of it, or of its checkpoints, is lost. The
// settings name the key. unknown_keys are other keys that sign the log, and that this server does not have.
func (p *Prover) Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error) {
	s := domain.ProjectionStatus{
		Name: Name, Version: 1, State: "active", Settings: map[string]string{"key": signerID(p.key.Signer)},
	}
	unknown, err := p.unknownSigners(ctx, tenant)
	if err != nil {
		return s, err
	}
	if len(unknown) > 0 {
		s.Settings["unknown_keys"] = strings.Join(unknown, ", ")
	}
	f, err := p.followers.SubscriptionStatus(ctx, Name, tenant)
	if err != nil {
		return s, err
	}
	x, err := p.tree(tenant).extent(ctx)
	if err != nil {
		return s, failed("read what was signed", err)
	}
	if lost := x.whole(); lost != nil && !f.Halted {
		f.Halted, f.LastError = true, lost
	}
	return f.Describe(s), nil
}

func digests(hashes []tlog.Hash) []domain.Digest {
	all := make([]domain.Digest, len(hashes))
	for i, hash := range hashes {
		all[i] = domain.Digest(hash)
	}
	return all
}

// failed describes a failure, and marks it as unavailable if it may be temporary.
func failed(what string, err error) error {
	if errors.Is(err, domain.ErrUnavailable) || errors.Is(err, domain.ErrInvalid) {
		return err
	}
	return fmt.Errorf("%s: %w", what, events.Unavailable(err))
}
