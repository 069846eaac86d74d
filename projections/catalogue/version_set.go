package catalogue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/text"
)

// VersionSet is which versions of the knowledge projection there are to read and to write: the active
// one, and those that are written beside it so that a switch, either way, loses nothing.
type VersionSet struct {
	Versions []Version // the active one first
	ReadAt   time.Time
}

// Version is a version of the knowledge projection that this program can write.
type Version struct {
	Entry
	Tables      rows.Tables
	Policy      domain.ConfidencePolicy
	Tokenizer   text.Tokenizer
	Unsupported bool // this program does not know how to write it
}

// ErrUnsupported is why a version is given up that another release builds or has built.
var ErrUnsupported = errors.New("another release of annals that writes, too, does not know how to write it")

// VersionSetAge is for how long a reader trusts what it knows of the versions. The version it knows is
// written for much longer than that after a switch.
const VersionSetAge = time.Second

// WrittenStates are the states in which a version is written with every append.
var WrittenStates = []string{StateActive, StateVerifying, StateReady, StateStandby}

const versionSetQuery = `
	SELECT name, version, state, settings, created_at, updated_at
	FROM projections
	WHERE name = ?
	AND state IN ('` + StateActive + `', '` + StateVerifying + `', '` + StateReady + `', '` + StateStandby + `')
	ORDER BY CASE state WHEN '` + StateActive + `' THEN 0 ELSE 1 END, version`

// ReadVersionSet reads the entries of the versions that are written.
func (p *Catalogue) ReadVersionSet(each func(*Entry)) rows.Read {
	if p.DB.Engine == database.SQLite {
		return rows.ReadPrepared(versionSetQuery, each, KnowledgeName)
	}
	return rows.ReadEach(p.DB.NewRaw(versionSetQuery, KnowledgeName), each)
}

// NewVersionSet makes a version set of the catalogue's entries. It fails if this program does not know how to
// write the active one.
func (p *Catalogue) NewVersionSet(entries []Entry) (*VersionSet, error) {
	l := &VersionSet{ReadAt: time.Now()}
	for _, e := range entries {
		v := p.VersionOf(e)
		if v.Unsupported && e.State == StateActive {
			return nil, fmt.Errorf("version %d of knowledge is built with the confidence policy %q and the tokenizer %q, and "+
				"this annals does not know both: start the release that built it; to leave that one, first go back there with "+
				"annals rebuild knowledge --rollback",
				e.Version, e.Settings["confidence"], e.Settings["tokenizer"])
		}
		l.Versions = append(l.Versions, v)
	}
	if len(l.Versions) == 0 || l.Versions[0].State != StateActive {
		return nil, fmt.Errorf("no version of knowledge is active: %w", sql.ErrNoRows)
	}
	return l, nil
}

// VersionOf is the version that an entry of the catalogue stands for, with what its settings name.
func (p *Catalogue) VersionOf(e Entry) Version {
	v := Version{Entry: e, Tables: rows.TablesOf(e.Version)}
	var known bool
	v.Policy, known = p.Policies[e.Settings["confidence"]]
	at := slices.IndexFunc(p.Tokenizers, func(t text.Tokenizer) bool { return t.Version == e.Settings["tokenizer"] })
	if at >= 0 {
		v.Tokenizer = p.Tokenizers[at]
	}
	v.Unsupported = !known || at < 0
	return v
}

// Matches tells whether the catalogue still has what the set was made of.
func (l *VersionSet) Matches(entries []Entry) bool {
	return slices.EqualFunc(l.Versions, entries, func(v Version, e Entry) bool {
		return v.Version == e.Version && v.State == e.State
	})
}

// Active is the version that readers read.
func (p *Catalogue) Active() Version { return p.VersionSet.Load().Versions[0] }

// Policy computes confidence as the version does that is active at that moment: what is replayed from the
// log has the confidence that readers see. Its name is that of the active version's policy now.
func (p *Catalogue) Policy() domain.ConfidencePolicy {
	return domain.ConfidencePolicy{
		Name: p.Active().Policy.Name,
		Confidence: func(helpful, harmful, reporters int) float64 {
			return p.Active().Policy.Confidence(helpful, harmful, reporters)
		},
	}
}

// View is what one request reads: the tables and the settings of the version that was active when it began. A switch
// in the meantime does not make it read from two versions.
type View struct {
	rows.Reader
	Version Version
}

// View is what a request reads that begins now.
func (p *Catalogue) View(ctx context.Context) (View, error) {
	if err := p.Refresh(ctx); err != nil {
		return View{}, err
	}
	return p.ViewOf(p.Active(), p.DB.DB), nil
}

// ViewOf reads a version as if it were the active one, in the database or a snapshot of it.
func (p *Catalogue) ViewOf(v Version, reads bun.IDB) View {
	return View{
		Reader:  rows.Reader{DB: p.DB, From: reads, Tables: v.Tables, Now: p.Now, Log: p.Log, Unreadable: &p.Unreadable},
		Version: v,
	}
}

// At is the view at a time, by which confirmations have expired; the view itself for the zero time.
func (v View) At(then time.Time) View {
	if !then.IsZero() {
		v.Now = func() time.Time { return then }
	}
	return v
}

// Refresh looks the versions up again if what is known of them is old. Every read begins with it.
func (p *Catalogue) Refresh(ctx context.Context) error {
	if time.Since(p.VersionSet.Load().ReadAt) < VersionSetAge {
		return nil
	}
	return p.Reload(ctx, p.DB)
}

func (p *Catalogue) Reload(ctx context.Context, db bun.IDB) error {
	var entries []Entry
	err := db.NewRaw(versionSetQuery, KnowledgeName).Scan(ctx, &entries)
	if err != nil {
		return rows.Failed(ctx, "read the catalogue", err)
	}
	found, err := p.NewVersionSet(entries)
	if err != nil {
		return err
	}
	p.VersionSet.Store(found)
	return nil
}

// HoldVersions is the statement by which an append keeps the versions as they are until it has
// ended: a switch takes the same lock exclusively.
const (
	HoldVersions   = "SELECT pg_advisory_xact_lock_shared(hashtextextended('annals.versions', 0))"
	SwitchVersions = "SELECT pg_advisory_xact_lock(hashtextextended('annals.versions', 0))"
)

// ActiveIn is the version that readers read, as of a snapshot.
func (p *Catalogue) ActiveIn(ctx context.Context, tx bun.IDB) (Version, error) {
	var e Entry
	err := tx.NewSelect().Model(&e).Where("name = ?", KnowledgeName).Where("state = ?", StateActive).Scan(ctx)
	if err != nil {
		return Version{}, rows.Failed(ctx, "read the catalogue", err)
	}
	return p.VersionOf(e), nil
}
