package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// versionSet is which versions of the knowledge projection there are to read and to write: the active
// one, and those that are written beside it so that a switch, either way, loses nothing.
type versionSet struct {
	versions []version // the active one first
	readAt   time.Time
}

// version is a version of the knowledge projection that this program can write.
type version struct {
	entry
	tables      tables
	policy      domain.ConfidencePolicy
	tokenizer   text.Tokenizer
	unsupported bool // this program does not know how to write it
}

// errUnsupported is why a version is given up that another release builds or has built.
var errUnsupported = errors.New("another release of annals that writes, too, does not know how to write it")

// versionSetAge is for how long a reader trusts what it knows of the versions. The version it knows is
// written for much longer than that after a switch.
const versionSetAge = time.Second

// writtenStates are the states in which a version is written with every append.
var writtenStates = []string{stateActive, stateVerifying, stateReady, stateDraining}

const versionSetQuery = `
	SELECT name, version, state, settings, created_at, updated_at
	FROM projections
	WHERE name = ? AND state IN ('` + stateActive + `', '` + stateVerifying + `', '` + stateReady + `', '` + stateDraining + `')
	ORDER BY CASE state WHEN '` + stateActive + `' THEN 0 ELSE 1 END, version`

// readVersionSet reads the entries of the versions that are written.
func (p *Knowledge) readVersionSet(each func(*entry)) read {
	if p.db.Engine == database.SQLite {
		return readPrepared(versionSetQuery, each, knowledgeName)
	}
	return readEach(p.db.NewRaw(versionSetQuery, knowledgeName), each)
}

// newVersionSet makes a version set of the catalogue's entries. It fails if this program does not know how to
// write the active one.
func (p *Knowledge) newVersionSet(entries []entry) (*versionSet, error) {
	l := &versionSet{readAt: time.Now()}
	for _, e := range entries {
		v := p.versionOf(e)
		if v.unsupported && e.State == stateActive {
			return nil, fmt.Errorf("version %d of knowledge is built with the confidence policy %q and the tokenizer %q, and this annals does not know both: start the release that built it; to leave that one, first go back there with annals rebuild knowledge --rollback",
				e.Version, e.Settings["confidence"], e.Settings["tokenizer"])
		}
		l.versions = append(l.versions, v)
	}
	if len(l.versions) == 0 || l.versions[0].State != stateActive {
		return nil, fmt.Errorf("no version of knowledge is active: %w", sql.ErrNoRows)
	}
	return l, nil
}

// versionOf is the version that an entry of the catalogue stands for, with what its settings name.
func (p *Knowledge) versionOf(e entry) version {
	v := version{entry: e, tables: tablesOf(e.Version)}
	var known bool
	v.policy, known = p.policies[e.Settings["confidence"]]
	at := slices.IndexFunc(p.tokenizers, func(t text.Tokenizer) bool { return t.Version == e.Settings["tokenizer"] })
	if at >= 0 {
		v.tokenizer = p.tokenizers[at]
	}
	v.unsupported = !known || at < 0
	return v
}

// matches tells whether the catalogue still says what the set was made of.
func (l *versionSet) matches(entries []entry) bool {
	return slices.EqualFunc(l.versions, entries, func(v version, e entry) bool {
		return v.Version == e.Version && v.State == e.State
	})
}

// active is the version that readers read.
func (p *Knowledge) active() version { return p.versionSet.Load().versions[0] }

// pinned is the projection for one request, at the version that is active now: what is switched
// meanwhile does not let it read from two.
func (p *Knowledge) pinned() *Knowledge { return p.at(p.active(), p.reads) }

// at is the projection as readers would see it if a version were the active one, in the database or a
// snapshot of it.
func (p *Knowledge) at(v version, reads bun.IDB) *Knowledge {
	pinned := *p
	pinned.reads, pinned.versionSet = reads, &atomic.Pointer[versionSet]{}
	if p.models != nil {
		pinned.meaning = p.models.read.Load()
	}
	pinned.versionSet.Store(&versionSet{versions: []version{v}, readAt: time.Now().Add(time.Hour)}) // so it is not looked up again
	return &pinned
}

// tables are those of the active version.
func (p *Knowledge) tables() tables { return p.active().tables }

// refresh looks the versions up again if what is known of them is old. Every read begins with it.
func (p *Knowledge) refresh(ctx context.Context) error {
	if err := p.models.refresh(ctx); err != nil {
		return err
	}
	if time.Since(p.versionSet.Load().readAt) < versionSetAge {
		return nil
	}
	return p.look(ctx, p.db)
}

func (p *Knowledge) look(ctx context.Context, db bun.IDB) error {
	var entries []entry
	err := db.NewRaw(versionSetQuery, knowledgeName).Scan(ctx, &entries)
	if err != nil {
		return p.failed(ctx, "read the catalogue", err)
	}
	found, err := p.newVersionSet(entries)
	if err != nil {
		return err
	}
	p.versionSet.Store(found)
	return nil
}

// holdVersions is the statement by which an append keeps the versions as they are until it has
// ended: whoever switches takes the same lock alone.
const (
	holdVersions   = "SELECT pg_advisory_xact_lock_shared(hashtextextended('annals.versions', 0))"
	switchVersions = "SELECT pg_advisory_xact_lock(hashtextextended('annals.versions', 0))"
)
