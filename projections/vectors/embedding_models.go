package vectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Models are the embedding models of this process: the configured one, and the one that
// searches are made in, until the former has everything that is known. A question is always embedded by
// the model of the space that it is compared in. It is safe for concurrent use.
type Models struct {
	catalogue  *catalogue.Catalogue
	embedders  []embedding.Embedder // the configured one first
	Configured *Projection
	Active     atomic.Pointer[Projection]
	seen       atomic.Int64 // nanoseconds since 1970: when the catalogue was looked at

	mu    sync.Mutex
	known map[int]*Projection // by version
}

// Open finds the space of the configured embedder or creates it, and the one that is read.
func Open(ctx context.Context, p *catalogue.Catalogue, embedders ...embedding.Embedder) (*Models, error) {
	s := &Models{catalogue: p, embedders: embedders, known: map[int]*Projection{}}
	wanted, err := openMeaningTables(ctx, p.DB, embedders[0], database.At(p.Now()))
	if err != nil {
		return nil, err
	}
	s.Configured = s.meaning(wanted, embedders[0])
	return s, s.reload(ctx)
}

// reload finds out which space is read by now.
func (s *Models) reload(ctx context.Context) error {
	p := s.catalogue
	var e catalogue.Entry
	err := p.DB.NewSelect().Model(&e).Where("name = ?", catalogue.MeaningName).Where("state = ?", catalogue.StateActive).
		Scan(ctx)
	if err != nil {
		return rows.Failed(ctx, "read the catalogue", err)
	}
	s.seen.Store(time.Now().UnixNano())
	if now := s.Active.Load(); now != nil && now.Tables.version == e.Version {
		return nil
	}
	var found Model
	if err := p.DB.NewSelect().Model(&found).Where("name = ?", e.Settings["space"]).Scan(ctx); err != nil {
		return rows.Failed(ctx, "read the spaces", err)
	}
	s.Active.Store(s.meaning(TablesOf(e.Version, found), s.embedderOf(found)))
	return nil
}

// Refresh looks again if what is known is old.
func (s *Models) Refresh(ctx context.Context) error {
	if time.Since(time.Unix(0, s.seen.Load())) < catalogue.VersionSetAge {
		return nil
	}
	return s.reload(ctx)
}

// meaning is the projection of a version, the same one each time.
func (s *Models) meaning(t Tables, e embedding.Embedder) *Projection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[t.version] == nil {
		s.known[t.version] = newMeaning(s.catalogue, t, e)
	}
	return s.known[t.version]
}

// embedderOf is the embedder that makes a space's vectors.
func (s *Models) embedderOf(found Model) embedding.Embedder {
	for _, e := range append(s.embedders, embedding.Embedder(embedding.Builtin{})) {
		if e.Name() == found.Name {
			return e
		}
	}
	return embedding.Unconfigured{Space: found.Name, Length: found.Dims}
}

// Meanings are the background projections of vectors that this process can keep up to date: that of the
// configured embedder, and that of the space that searches are made in, if its model is configured, too.
func (s *Models) Meanings() []*Projection {
	list := []*Projection{s.Configured}
	if read := s.Active.Load(); read != s.Configured && read.reachable() {
		list = append(list, read)
	}
	return list
}

// reachable tells whether this process knows the model that makes the space's vectors.
func (m *Projection) reachable() bool {
	_, unconfigured := m.Embedder.(embedding.Unconfigured)
	return !unconfigured
}

// modelCheckInterval is how often a process looks whether the space it is configured for is complete.
const modelCheckInterval = time.Second

// FollowMeaning lets every projection of vectors that this process can keep up to date follow the log.
func (s *Models) FollowMeaning(router *message.Router, log *follow.Log) {
	for _, m := range s.Meanings() {
		m.Follow(router, log)
	}
}

// MaintainModels switches searches to the space of the configured embedder when it is complete, and then stops
// keeping up the one before, until ctx ends. It begins with reading into memory what searches compare there, so
// that the first need not wait for it.
func (s *Models) MaintainModels(ctx context.Context) {
	if n, ok := s.Active.Load().Nearest.(*MemoryNearest); ok {
		if err := n.Cache.ReadAhead(ctx, n.meaning); err != nil && ctx.Err() == nil {
			s.catalogue.Log.WarnContext(ctx, "sketches were not read ahead; the first search reads them", "error", err)
		}
	}
	var behind catchUpProbe
	for {
		if err := s.maintainModels(ctx, &behind); err != nil && ctx.Err() == nil {
			s.catalogue.Log.WarnContext(ctx, "spaces of vectors were not looked after; it is tried again", "error", err)
		}
		select {
		case <-time.After(modelCheckInterval):
		case <-ctx.Done():
			return
		}
	}
}

func (s *Models) maintainModels(ctx context.Context, behind *catchUpProbe) error {
	if err := s.reload(ctx); err != nil {
		return err
	}
	if s.Active.Load() != s.Configured {
		ahead, err := events.SnapshotOf(s.catalogue.DB).Ahead(ctx, s.Configured.Name())
		if err != nil {
			return err
		}
		if !behind.caughtUp(ahead, time.Now()) {
			return nil
		}
		if err := s.switchTo(ctx, s.Configured); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.known {
		if m != s.Configured && m != s.Active.Load() && m.leave() {
			delete(s.known, m.Tables.version)
		}
	}
	return nil
}

// switchTo lets everybody search in a space from now on. It does nothing if another process is
// configured for another space, and was started since.
func (s *Models) switchTo(ctx context.Context, m *Projection) error {
	p := s.catalogue
	before := s.Active.Load().Embedder.Name()
	err := p.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := catalogue.LockCatalogue(ctx, p.DB.Engine, tx); err != nil {
			return err
		}
		var e catalogue.Entry
		err := tx.NewSelect().Model(&e).Where("name = ?", catalogue.MeaningName).Where("version = ?", m.Tables.version).
			Scan(ctx)
		if err != nil {
			return err
		}
		if e.State != catalogue.StateCatching {
			return fmt.Errorf("version %d of meaning is %s: %w", e.Version, e.State, catalogue.ErrMoved)
		}
		return activate(ctx, tx, e, database.At(p.Now()))
	})
	if errors.Is(err, catalogue.ErrMoved) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("switch to the space %s: %w", m.Embedder.Name(), err)
	}
	p.Log.InfoContext(ctx, "searches are made in another space of vectors", "space", m.Embedder.Name(), "before", before)
	return s.reload(ctx)
}

// leave stops following the log; false if it was not begun yet.
func (m *Projection) leave() bool {
	if m.follower == nil {
		return true
	}
	select {
	case <-m.follower.Started():
		m.follower.Stop()
		return true
	default:
		return false
	}
}

// catchUpProbe tells when somebody has caught up with logs that go on growing: when what there was at a moment
// is read a little later.
type catchUpProbe struct {
	targets map[string]int64 // the heads, at that moment
	began   time.Time
}

const (
	// probeTime is how long a moment may be ago.
	probeTime = 5 * time.Second
	// probeEvents is how much may have come in a log that there was nothing left of at that moment.
	probeEvents = 500
)

func (c *catchUpProbe) caughtUp(ahead []events.Ahead, now time.Time) bool {
	if len(ahead) == 0 {
		return true
	}
	if c.targets != nil {
		for _, a := range ahead {
			target, known := c.targets[a.Tenant]
			if known && a.After < target || !known && a.Events() > probeEvents {
				return false
			}
		}
		if now.Sub(c.began) <= probeTime {
			return true
		}
	}
	c.targets, c.began = map[string]int64{}, now
	for _, a := range ahead {
		c.targets[a.Tenant] = a.Head
	}
	return false
}
