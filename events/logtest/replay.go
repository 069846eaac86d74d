package logtest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Replay is an inline projection without tables: it replays the streams that a batch of commands reads. To find the
// holder of a URI, it reads all texts of the tenant, so it suits short logs and tests.
type Replay struct {
	Policy domain.ConfidencePolicy // domain.DefaultConfidence if it has no function
}

var _ events.Inline = Replay{}

// Load implements [events.Inline].
func (p Replay) Load(
	ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first database.Batch,
) (events.Stage, error) {
	if err := first.Run(ctx, tx); err != nil {
		return nil, err
	}
	if p.Policy.Confidence == nil {
		p.Policy = domain.DefaultConfidence()
	}
	s := &replayStage{
		policy: p.Policy,
		items:  map[string]*domain.Knowledge{},
		since:  map[string][]domain.Event{},
		untold: map[string]bool{},
		find:   func(uri string) ([]string, error) { return streamsWith(ctx, tx, tenant, []string{uri}) },
		load:   func(streams []string) ([]domain.Event, error) { return events.StreamsWithin(ctx, tx, tenant, streams) },
		write:  func(ctx context.Context, inserts *database.Script) error { return inserts.Finish(ctx, tx) },
	}
	var streams, uris []string
	for _, c := range commands {
		reads := c.Reads()
		if _, isItem := domain.ItemOf(c.Stream()); isItem {
			streams = append(streams, c.Stream())
		}
		for _, id := range reads.Items {
			streams = append(streams, domain.KnowledgeStream(id))
		}
		uris = append(uris, reads.URIs...)
	}
	if len(uris) > 0 {
		holders, err := streamsWith(ctx, tx, tenant, uris)
		if err != nil {
			return nil, err
		}
		streams = append(streams, holders...)
		s.known = map[string]bool{}
		for _, uri := range uris {
			s.known[uri] = true
		}
	}
	return s, s.replay(streams)
}

// replayStage holds the items that were replayed so far.
type replayStage struct {
	policy domain.ConfidencePolicy
	items  map[string]*domain.Knowledge
	since  map[string][]domain.Event // what was decided about them
	untold map[string]bool           // ids of items with a redaction since they were folded
	known  map[string]bool           // URIs whose holders, if any, are among the items
	find   func(uri string) (streams []string, err error)
	load   func(streams []string) ([]domain.Event, error)
	write  func(ctx context.Context, inserts *database.Script) error
	failed error // of a look-up that cannot return it
}

// Knowledge implements [domain.DecisionContext].
func (s *replayStage) Knowledge(id string) *domain.Knowledge {
	if _, loaded := s.items[id]; !loaded && s.failed == nil {
		s.failed = s.replay([]string{domain.KnowledgeStream(id)})
	}
	if k, loaded := s.items[id]; loaded {
		return k
	}
	return &domain.Knowledge{ID: id}
}

// Holder implements [domain.DecisionContext].
func (s *replayStage) Holder(uri string) string {
	if !s.known[uri] && s.failed == nil {
		var streams []string
		if streams, s.failed = s.find(uri); s.failed == nil {
			s.failed = s.replay(streams)
		}
	}
	for id, k := range s.items {
		if k.Text.URI == uri && isLive(k) {
			return id
		}
	}
	return ""
}

// ItemsSaying implements [domain.DecisionContext]. It knows only items that were replayed before.
func (s *replayStage) ItemsSaying(domain.Text, []domain.Scope) []string {
	return slices.Sorted(maps.Keys(s.items))
}

func isLive(k *domain.Knowledge) bool { return k.Exists() && domain.Gone(k) == nil }

// Apply implements [events.Stage].
func (s *replayStage) Apply(event domain.Event) error {
	id, isItem := domain.ItemOf(event.Stream)
	if s.failed != nil || !isItem {
		return s.failed
	}
	if err := s.Knowledge(id).Evolve(event.Fact, event.Metadata(), s.policy); err != nil {
		return err
	}
	s.since[id] = append(s.since[id], event)
	if _, redacted := event.Fact.(domain.Redacted); redacted {
		s.untold[id] = true
	}
	return nil
}

// Complete implements [events.Stage].
func (s *replayStage) Complete() error {
	for id := range s.untold {
		history, err := s.load([]string{domain.KnowledgeStream(id)})
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		if s.items[id], err = events.Refold(id, append(history, s.since[id]...), s.items[id].Version, s.policy); err != nil {
			return err
		}
	}
	clear(s.untold)
	return nil
}

// Save implements [events.Stage]: there is nothing else to write.
func (s *replayStage) Save(ctx context.Context, inserts *database.Script) error {
	if s.failed != nil {
		return s.failed
	}
	return s.write(ctx, inserts)
}

// replay folds the streams that were not folded yet.
func (s *replayStage) replay(streams []string) error {
	var fresh []string
	for _, stream := range streams {
		id := itemOf(stream)
		if _, loaded := s.items[id]; !loaded {
			s.items[id] = &domain.Knowledge{ID: id}
			fresh = append(fresh, stream)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	history, err := s.load(fresh)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	for _, event := range history {
		if err := s.items[itemOf(event.Stream)].Evolve(event.Fact, event.Metadata(), s.policy); err != nil {
			return fmt.Errorf("replay %s: %w", event.Stream, err)
		}
	}
	return nil
}

// streamsWith finds the streams that ever had one of these URIs.
func streamsWith(ctx context.Context, tx bun.IDB, tenant string, uris []string) ([]string, error) {
	var streams []string
	err := database.ForEach(ctx, tx, func(rows *sql.Rows) error {
		var stream string
		err := rows.Scan(&stream)
		streams = append(streams, stream)
		return err
	}, `
		SELECT DISTINCT e.stream
		FROM event_texts AS t
		JOIN events AS e ON e.tenant = t.tenant AND e.position = t.position
		WHERE t.tenant = ? AND e.name IN (?) AND t.text ->> 'uri' IN (?)`,
		tenant, bun.List([]string{domain.Remembered{}.Name(), domain.Moved{}.Name()}), bun.List(uris))
	if err != nil {
		return nil, fmt.Errorf("find holders: %w", err)
	}
	return streams, nil
}

// itemOf is the id of the item whose stream this is.
func itemOf(stream string) string { return strings.TrimPrefix(stream, domain.KnowledgeStream("")) }
