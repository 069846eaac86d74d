package projections

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
)

// embeddingModels are the embedding models of this process: the configured one, and the one that
// searches are made in, until the former has everything that is known. A question is always embedded by
// the model of the space that it is compared in. It is safe for concurrent use.
type embeddingModels struct {
	knowledge *Knowledge
	embedders []embedding.Embedder // the configured one first
	wanted    *Meaning
	read      atomic.Pointer[Meaning]
	seen      atomic.Int64 // nanoseconds since 1970: when the catalogue was looked at

	mu    sync.Mutex
	known map[int]*Meaning // by version
}

// openEmbeddingModels finds the space of the configured embedder or creates it, and the one that is read.
func openEmbeddingModels(ctx context.Context, p *Knowledge, embedders ...embedding.Embedder) (*embeddingModels, error) {
	s := &embeddingModels{knowledge: p, embedders: embedders, known: map[int]*Meaning{}}
	wanted, err := openMeaningTables(ctx, p.db, embedders[0], database.At(p.now()))
	if err != nil {
		return nil, err
	}
	s.wanted = s.meaning(wanted, embedders[0])
	return s, s.reload(ctx)
}

// reload finds out which space is read by now.
func (s *embeddingModels) reload(ctx context.Context) error {
	p := s.knowledge
	var e entry
	err := p.db.NewSelect().Model(&e).Where("name = ?", meaningName).Where("state = ?", stateActive).Scan(ctx)
	if err != nil {
		return p.failed(ctx, "read the catalogue", err)
	}
	s.seen.Store(time.Now().UnixNano())
	if now := s.read.Load(); now != nil && now.tables.version == e.Version {
		return nil
	}
	var found embeddingModel
	if err := p.db.NewSelect().Model(&found).Where("name = ?", e.Settings["space"]).Scan(ctx); err != nil {
		return p.failed(ctx, "read the spaces", err)
	}
	s.read.Store(s.meaning(meaningTablesOf(e.Version, found), s.embedderOf(found)))
	return nil
}

// refresh looks again if what is known is old.
func (s *embeddingModels) refresh(ctx context.Context) error {
	if time.Since(time.Unix(0, s.seen.Load())) < versionSetAge {
		return nil
	}
	return s.reload(ctx)
}

// meaning is the projection of a version, the same one each time.
func (s *embeddingModels) meaning(t meaningTables, e embedding.Embedder) *Meaning {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[t.version] == nil {
		s.known[t.version] = newMeaning(s.knowledge, t, e)
	}
	return s.known[t.version]
}

// embedderOf is the embedder that makes a space's vectors.
func (s *embeddingModels) embedderOf(found embeddingModel) embedding.Embedder {
	for _, e := range append(s.embedders, embedding.Embedder(embedding.Builtin{})) {
		if e.Name() == found.Name {
			return e
		}
	}
	return embedding.Unconfigured{Space: found.Name, Length: found.Dims}
}

// Meanings are the background projections of vectors that this process can keep up to date: that of the
// configured embedder, and that of the space that searches are made in, if its model is configured, too.
func (p *Knowledge) Meanings() []*Meaning {
	list := []*Meaning{p.models.wanted}
	if read := p.models.read.Load(); read != p.models.wanted && read.reachable() {
		list = append(list, read)
	}
	return list
}

// reachable tells whether this process knows the model that makes the space's vectors.
func (m *Meaning) reachable() bool {
	_, unconfigured := m.embedder.(embedding.Unconfigured)
	return !unconfigured
}

// modelCheckInterval is how often a process looks whether the space it is configured for is complete.
const modelCheckInterval = time.Second

// FollowMeaning lets every projection of vectors that this process can keep up to date follow the log.
func (p *Knowledge) FollowMeaning(router *message.Router, log *events.Log) {
	for _, m := range p.Meanings() {
		m.Follow(router, log)
	}
}

// MaintainModels switches searches to the space of the configured embedder when it is complete, and then
// stops keeping up the one before, until ctx ends. It begins with reading into memory what searches compare there, so that the first
// need not wait for it.
func (p *Knowledge) MaintainModels(ctx context.Context) {
	if n, ok := p.models.read.Load().nearest.(*memoryNearest); ok {
		if err := n.cache.readAhead(ctx, n.meaning); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "sketches were not read ahead; the first search reads them", "error", err)
		}
	}
	var behind catchUpProbe
	for {
		if err := p.maintainModels(ctx, &behind); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "spaces of vectors were not looked after; it is tried again", "error", err)
		}
		select {
		case <-time.After(modelCheckInterval):
		case <-ctx.Done():
			return
		}
	}
}

func (p *Knowledge) maintainModels(ctx context.Context, behind *catchUpProbe) error {
	s := p.models
	if err := s.reload(ctx); err != nil {
		return err
	}
	if s.read.Load() != s.wanted {
		ahead, err := events.SnapshotOf(p.db).Ahead(ctx, s.wanted.Name())
		if err != nil {
			return err
		}
		if !behind.caughtUp(ahead, time.Now()) {
			return nil
		}
		if err := s.wanted.BuildGraph(ctx); err != nil {
			return err
		}
		if err := s.switchTo(ctx, s.wanted); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.known {
		if m != s.wanted && m != s.read.Load() && m.leave() {
			delete(s.known, m.tables.version)
		}
	}
	return nil
}

// switchTo lets everybody search in a space from now on. It does nothing if another process is
// configured for another space, and was started since.
func (s *embeddingModels) switchTo(ctx context.Context, m *Meaning) error {
	p := s.knowledge
	before := s.read.Load().embedder.Name()
	err := p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockCatalogue(ctx, p.db.Engine, tx); err != nil {
			return err
		}
		var e entry
		err := tx.NewSelect().Model(&e).Where("name = ?", meaningName).Where("version = ?", m.tables.version).Scan(ctx)
		if err != nil {
			return err
		}
		if e.State != stateCatching {
			return fmt.Errorf("version %d of meaning is %s: %w", e.Version, e.State, errMoved)
		}
		return activate(ctx, tx, e, database.At(p.now()))
	})
	if errors.Is(err, errMoved) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("switch to the space %s: %w", m.embedder.Name(), err)
	}
	p.log.InfoContext(ctx, "searches are made in another space of vectors", "space", m.embedder.Name(), "before", before)
	return s.reload(ctx)
}

// leave stops following the log; false if it was not begun yet.
func (m *Meaning) leave() bool {
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
