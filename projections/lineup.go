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

// lineup is which versions of the knowledge projection there are to read and to write: the active
// one, and those that are written beside it so that a switch, either way, loses nothing.
type lineup struct {
	versions []version // the active one first
	seen     time.Time
}

// version is a version of the knowledge projection that this program can write.
type version struct {
	entry
	tables    tables
	policy    domain.ConfidencePolicy
	tokenizer text.Tokenizer
	foreign   bool // this program does not know how to write it
}

// errForeign is why a version is given up that another release builds or has built.
var errForeign = errors.New("another release of annals that writes, too, does not know how to write it")

// lineupAge is for how long a reader trusts what it knows of the versions. The version it knows is
// written for much longer than that after a switch.
const lineupAge = time.Second

// writtenStates are the states in which a version is written with every append.
var writtenStates = []string{stateActive, stateVerifying, stateReady, stateDraining}

const lineupQuery = `
	SELECT name, version, state, settings, created_at, updated_at
	FROM projections
	WHERE name = ? AND state IN ('` + stateActive + `', '` + stateVerifying + `', '` + stateReady + `', '` + stateDraining + `')
	ORDER BY CASE state WHEN '` + stateActive + `' THEN 0 ELSE 1 END, version`

// readLineup reads the entries of the versions that are written.
func (p *Knowledge) readLineup(each func(*entry)) read {
	if p.db.Engine == database.SQLite {
		return readKept(lineupQuery, each, knowledgeName)
	}
	return readEach(p.db.NewRaw(lineupQuery, knowledgeName), each)
}

// assemble makes a lineup of the catalogue's entries. It fails if this program does not know how to
// write the active one.
func (p *Knowledge) assemble(entries []entry) (*lineup, error) {
	l := &lineup{seen: time.Now()}
	for _, e := range entries {
		v := p.versionOf(e)
		if v.foreign && e.State == stateActive {
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
	v.foreign = !known || at < 0
	return v
}

// same tells whether the catalogue still says what the lineup was made of.
func (l *lineup) same(entries []entry) bool {
	return slices.EqualFunc(l.versions, entries, func(v version, e entry) bool {
		return v.Version == e.Version && v.State == e.State
	})
}

// active is the version that readers read.
func (p *Knowledge) active() version { return p.lineup.Load().versions[0] }

// pinned is the projection for one request, at the version that is active now: what is switched
// meanwhile does not let it read from two.
func (p *Knowledge) pinned() *Knowledge { return p.at(p.active(), p.reads) }

// at is the projection as readers would see it if a version were the active one, in the database or a
// snapshot of it.
func (p *Knowledge) at(v version, reads bun.IDB) *Knowledge {
	pinned := *p
	pinned.reads, pinned.lineup = reads, &atomic.Pointer[lineup]{}
	if p.spaces != nil {
		pinned.meaning = p.spaces.read.Load()
	}
	pinned.lineup.Store(&lineup{versions: []version{v}, seen: time.Now().Add(time.Hour)}) // so it is not looked up again
	return &pinned
}

// tables are those of the active version.
func (p *Knowledge) tables() tables { return p.active().tables }

// refresh looks the versions up again if what is known of them is old. Every read begins with it.
func (p *Knowledge) refresh(ctx context.Context) error {
	if err := p.spaces.refresh(ctx); err != nil {
		return err
	}
	if time.Since(p.lineup.Load().seen) < lineupAge {
		return nil
	}
	return p.look(ctx, p.db)
}

func (p *Knowledge) look(ctx context.Context, db bun.IDB) error {
	var entries []entry
	err := db.NewRaw(lineupQuery, knowledgeName).Scan(ctx, &entries)
	if err != nil {
		return p.failed(ctx, "read the catalogue", err)
	}
	found, err := p.assemble(entries)
	if err != nil {
		return err
	}
	p.lineup.Store(found)
	return nil
}

// holdVersions is the statement by which an append keeps the versions as they are until it has
// ended: whoever switches takes the same lock alone.
const (
	holdVersions   = "SELECT pg_advisory_xact_lock_shared(hashtextextended('annals.versions', 0))"
	switchVersions = "SELECT pg_advisory_xact_lock(hashtextextended('annals.versions', 0))"
)
