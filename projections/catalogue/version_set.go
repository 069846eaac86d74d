package catalogue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
)

// VersionSet has the versions of the knowledge projection that are written: the active one, and those that are
// written beside it so that no switch loses anything.
type VersionSet struct {
	Versions []Version // the active one first
	ReadAt   time.Time
}

// Version is a version of the knowledge projection with the policy and the tokenizer of its settings.
type Version struct {
	Entry
	Tables      rows.Tables
	Policy      domain.ConfidencePolicy
	Tokenizer   text.Tokenizer
	Unsupported bool // this program does not know its policy, tokenizer or form
}

// ErrUnsupported is why a version of another release is abandoned.
var ErrUnsupported = errors.New("another release of annals appends events, and cannot write this version")

// VersionSetAge is how long a reader trusts what it knows of the versions. After a switch, the previous version is
// written for longer than that.
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
func (p *Catalogue) ReadVersionSet(ctx context.Context, each func(*Entry)) database.Query {
	return rows.ReadEach(ctx, p.DB, versionSetQuery, each, KnowledgeName)
}

// NewVersionSet makes a version set of the catalogue's entries. It fails if this program cannot write the active one.
func (p *Catalogue) NewVersionSet(ctx context.Context, db bun.IDB, entries []Entry) (*VersionSet, error) {
	l := &VersionSet{ReadAt: time.Now()}
	if err := p.LookAt(ctx, db, false, entries...); err != nil {
		return nil, err
	}
	for _, e := range entries {
		v := p.VersionOf(e)
		if v.Unsupported && e.State == StateActive && !knownForm(e) {
			return nil, domain.Refuse(domain.ErrUnreadable, "the tables of version %d of knowledge have form %s of a later "+
				"release, and this annals knows forms up to %s", e.Version, e.Settings[SettingForm], rows.Form).
				WithFix("start that release; to leave it, first go back there with annals rebuild knowledge --rollback")
		}
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

// VersionOf makes a version of its entry in the catalogue.
func (p *Catalogue) VersionOf(e Entry) Version {
	v := Version{Entry: e, Tables: rows.TablesOf(e.Version)}
	if found, known := p.tables.Load(e.Version); known {
		v.Tables = found.(rows.Tables)
	}
	var known bool
	v.Policy, known = p.Policies[e.Settings["confidence"]]
	at := slices.IndexFunc(p.Tokenizers, func(t text.Tokenizer) bool { return t.Version == e.Settings["tokenizer"] })
	if at >= 0 {
		v.Tokenizer = p.Tokenizers[at]
	}
	v.Unsupported = !known || at < 0 || !knownForm(e)
	return v
}

// SettingForm is the number of the form of a version's tables; earlier releases did not note it.
const SettingForm = "form"

func knownForm(e Entry) bool {
	number, err := strconv.Atoi(cmp.Or(e.Settings[SettingForm], "0"))
	known, _ := strconv.Atoi(rows.Form)
	return err == nil && number <= known
}

// LookAgain looks at the tables of the written versions again.
func (p *Catalogue) LookAgain(ctx context.Context) (active rows.Tables, err error) {
	var entries []Entry
	for _, v := range p.VersionSet.Load().Versions {
		entries = append(entries, v.Entry)
	}
	err = errors.Join(p.LookAt(ctx, p.DB, true, entries...), p.Reload(ctx, p.DB))
	return p.Active().Tables, err
}

// LookAt finds out which form the tables of versions have; again, also of those whose form is known.
func (p *Catalogue) LookAt(ctx context.Context, db bun.IDB, again bool, entries ...Entry) error {
	var there database.Layout
	for _, e := range entries {
		if _, known := p.tables.Load(e.Version); known && !again || e.Settings["dropped"] != "" {
			continue
		}
		if there.Columns == nil {
			var err error
			if there, err = database.ReadLayout(ctx, db, p.DB.Engine); err != nil {
				return rows.WithRemedy(err)
			}
		}
		made, err := Definition(p.DB.Engine, e.Version, e.State)
		if err != nil {
			return err
		}
		p.tables.Store(e.Version, rows.TablesOf(e.Version).InForm(made, there))
	}
	return nil
}

// Matches tells whether the set was made of the same entries.
func (l *VersionSet) Matches(entries []Entry) bool {
	return slices.EqualFunc(l.Versions, entries, func(v Version, e Entry) bool {
		return v.Version == e.Version && v.State == e.State
	})
}

// Active is the version that readers read.
func (p *Catalogue) Active() Version { return p.VersionSet.Load().Versions[0] }

// Policy computes confidence by the policy of the version that is active at the time of each call, so that replays
// compute what readers see. Its name is that of the active version's policy now.
func (p *Catalogue) Policy() domain.ConfidencePolicy {
	return domain.ConfidencePolicy{
		Name: p.Active().Policy.Name,
		Confidence: func(helpful, harmful, reporters int) float64 {
			return p.Active().Policy.Confidence(helpful, harmful, reporters)
		},
		Weighs: func(k *domain.Knowledge, reporters int) float64 { return p.Active().Policy.Rate(k, reporters) },
	}
}

// View is what one request reads: the tables and the settings of the version that was active when it began.
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

// At is the view with the confirmations that have expired at a time.
func (v View) At(then time.Time) View {
	v.Now = func() time.Time { return then }
	return v
}

// Refresh reads the versions again if they were read too long ago. Every read begins with it.
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
	found, err := p.NewVersionSet(ctx, db, entries)
	if err != nil {
		return err
	}
	p.VersionSet.Store(found)
	return nil
}

// HoldVersions keeps the versions as they are until an append on PostgreSQL ends. A switch runs SwitchVersions, which
// takes the same lock exclusively.
func HoldVersions() database.Query {
	return database.Query{
		SQL: "SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))", Values: []any{"annals.versions"},
		Each: func(*sql.Rows) error { return nil },
	}
}

// SwitchVersions is described at [HoldVersions].
const SwitchVersions = "SELECT pg_advisory_xact_lock(hashtextextended('annals.versions', 0))"

// ActiveIn is the active version, as of a snapshot.
func (p *Catalogue) ActiveIn(ctx context.Context, tx bun.IDB) (Version, error) {
	var e Entry
	err := tx.NewSelect().Model(&e).Where("name = ?", KnowledgeName).Where("state = ?", StateActive).Scan(ctx)
	if err != nil {
		return Version{}, rows.Failed(ctx, "read the catalogue", err)
	}
	if err := p.LookAt(ctx, tx, false, e); err != nil {
		return Version{}, err
	}
	return p.VersionOf(e), nil
}
