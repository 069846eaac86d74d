package vectors

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/rows"
)

// Models are the embedding models of this process. Searches read the vectors of the built-in one, and beside them those
// of the active one, which is another until the configured one has every vector. Without another model, all three are
// the built-in one. A question is always embedded by the model whose vectors it is compared with. It is safe for
// concurrent use.
type Models struct {
	catalogue  *catalogue.Catalogue
	memory     int                  // bytes for sketches
	embedders  []embedding.Embedder // the configured one first
	Builtin    *Projection
	Configured *Projection
	Active     atomic.Pointer[Projection]
	seen       atomic.Int64                      // when the catalogue was read, in nanoseconds since 1970
	asked      atomic.Int64                      // when somebody searched last, in nanoseconds since 1970
	missing    atomic.Pointer[map[string]string] // which items have no vector of what searches read, by tenant

	mu    sync.Mutex
	known map[int]*Projection // by version
}

// Open finds the active model, and finds or creates the built-in one and that of the configured embedder. sketchMemory
// is how many bytes the sketches of each model may take in memory.
func Open(
	ctx context.Context, p *catalogue.Catalogue, sketchMemory int, embedders ...embedding.Embedder,
) (*Models, error) {
	s := &Models{catalogue: p, memory: sketchMemory, embedders: embedders, known: map[int]*Projection{}}
	builtin := s.embedderOf(Model{Name: embedding.Builtin{}.Name()})
	both, err := openMeaningTables(ctx, p.DB, builtin, embedders[0], database.At(p.Now()))
	if err != nil {
		return nil, err
	}
	s.Builtin, s.Configured = s.meaning(both[0], builtin), s.meaning(both[1], embedders[0])
	return s, s.reload(ctx)
}

// reload reads which model is active now.
func (s *Models) reload(ctx context.Context) error {
	p := s.catalogue
	var e catalogue.Entry
	err := p.DB.NewSelect().Model(&e).Where("name = ?", catalogue.MeaningName).Where("state = ?", catalogue.StateActive).
		Scan(ctx)
	if err != nil {
		return rows.Failed(ctx, "read the catalogue", err)
	}
	if now := s.Active.Load(); now == nil || now.Tables.version != e.Version {
		var found Model
		if err := p.DB.NewSelect().Model(&found).Where("name = ?", e.Settings["space"]).Scan(ctx); err != nil {
			return rows.Failed(ctx, "read the spaces", err)
		}
		s.Active.Store(s.meaning(TablesOf(e.Version, found), s.embedderOf(found)))
	}
	missing, ctx := map[string]string{}, database.ForEveryTenant(ctx)
	for _, m := range s.Read() {
		err = database.ForEach(ctx, p.DB, func(rows *sql.Rows) error {
			var tenant string
			var streams int
			err := rows.Scan(&tenant, &streams)
			missing[tenant] = fmt.Sprintf("some items (%d) have no vector of %s: annals doctor names them", streams,
				m.Embedder.Name())
			return err
		}, `SELECT tenant, count(*) FROM quarantine WHERE projection = ? GROUP BY tenant`, m.Name())
		if err != nil {
			return fmt.Errorf("read the quarantine of vectors: %w", err)
		}
	}
	s.missing.Store(&missing)
	s.seen.Store(time.Now().UnixNano())
	return nil
}

// Refresh reloads if the last look at the catalogue is too old.
func (s *Models) Refresh(ctx context.Context) error {
	if time.Since(time.Unix(0, s.seen.Load())) < catalogue.VersionSetAge {
		return nil
	}
	return s.reload(ctx)
}

// Incomplete says that items of a tenant have no vector, because their texts are in quarantine; empty if all have one.
func (s *Models) Incomplete(tenant string) string { return (*s.missing.Load())[tenant] }

// meaning is the projection of a version, always the same one.
func (s *Models) meaning(t Tables, e embedding.Embedder) *Projection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[t.version] == nil {
		s.known[t.version] = newMeaning(s.catalogue, t, e, s.memory, &s.asked)
	}
	return s.known[t.version]
}

// embedderOf is the embedder of a model. Those in the program need no setting.
func (s *Models) embedderOf(found Model) embedding.Embedder {
	for _, e := range append(s.embedders, embedding.Builtin{}, embedding.Sentence{}) {
		if e.Name() == found.Name {
			return e
		}
	}
	return embedding.Unconfigured{Space: found.Name, Length: found.Dims}
}

// Read are the projections whose vectors searches read, the built-in one first.
func (s *Models) Read() []*Projection {
	if active := s.Active.Load(); active != s.Builtin {
		return []*Projection{s.Builtin, active}
	}
	return []*Projection{s.Builtin}
}

// Meanings are the projections of vectors that this process keeps up to date: those that searches read, unless no
// setting says how to reach the model, and that of the configured embedder.
func (s *Models) Meanings() []*Projection {
	list := slices.DeleteFunc(s.Read(), func(m *Projection) bool { return !m.reachable() })
	if !slices.Contains(list, s.Configured) {
		list = append(list, s.Configured)
	}
	return list
}

// reachable tells whether this process is configured for the projection's model.
func (m *Projection) reachable() bool {
	_, unconfigured := m.Embedder.(embedding.Unconfigured)
	return !unconfigured
}

// modelCheckInterval is how often a process checks whether its configured model has every vector; less often
// if it is the active one.
const modelCheckInterval, activeCheckInterval = time.Second, 20 * time.Second

// FollowMeaning lets every projection of [Models.Meanings] follow the log.
func (s *Models) FollowMeaning(router *message.Router, followers *follow.Followers) {
	for _, m := range s.Meanings() {
		m.Follow(router, followers)
	}
}

// ReadAhead reads sketches into memory, so that the first search need not wait.
func (s *Models) ReadAhead(ctx context.Context) {
	for _, m := range s.Read() {
		if err := m.Cache.ReadAhead(ctx, m); err != nil && ctx.Err() == nil {
			s.catalogue.Log.WarnContext(ctx, "sketches were not read ahead; the first search reads them", "error", err)
		}
	}
}

// MaintainModels switches searches to the configured model when it has every vector, and then stops updating the
// previous one. It runs until ctx ends. It begins with [Models.ReadAhead].
func (s *Models) MaintainModels(ctx context.Context) {
	err := s.catalogue.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := catalogue.LockCatalogue(ctx, s.catalogue.DB.Engine, tx); err != nil {
			return err
		}
		configured, builtin := s.Configured.Tables.version, s.Builtin.Tables.version
		return offer(ctx, tx, configured, builtin, true, database.At(s.catalogue.Now()))
	})
	if err != nil && ctx.Err() == nil {
		s.catalogue.Log.WarnContext(ctx, "the embedding model is not offered; restart to repeat it", "error", err)
	}
	s.ReadAhead(ctx)
	var behind catchUpProbe
	for {
		if err := s.maintainModels(ctx, &behind); err != nil && ctx.Err() == nil {
			s.catalogue.Log.WarnContext(ctx, "the embedding models could not be maintained; retrying", "error", err)
		}
		again := modelCheckInterval
		if s.Active.Load() == s.Configured {
			again = activeCheckInterval
		}
		select {
		case <-time.After(again):
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
		if m != s.Builtin && m != s.Configured && m != s.Active.Load() && m.leave() {
			delete(s.known, m.Tables.version)
		}
	}
	return nil
}

// switchTo makes a model the active one for all processes. It does nothing if a process that started later is
// configured for another model.
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
		return activate(ctx, tx, e.Version, s.Builtin.Tables.version, database.At(p.Now()))
	})
	if errors.Is(err, catalogue.ErrMoved) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("switch to the space %s: %w", m.Embedder.Name(), err)
	}
	p.Log.InfoContext(ctx, "searches use another embedding model", "space", m.Embedder.Name(), "before", before)
	return s.reload(ctx)
}

// leave stops following the log; false if the follower has not started yet.
func (m *Projection) leave() bool {
	if m.follower == nil {
		return true
	}
	select {
	case <-m.following:
		m.follower.Stop()
		return true
	default:
		return false
	}
}

// catchUpProbe tells when a projection has caught up with logs that keep growing: when it has read, a little later,
// everything that the logs had at one moment.
type catchUpProbe struct {
	targets map[string]int64 // the heads of the logs at that moment
	began   time.Time
}

const (
	// probeTime is how old that moment may be.
	probeTime = 5 * time.Second
	// probeEvents is how many new events a log may have that was fully read at that moment.
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
