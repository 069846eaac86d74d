package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// stage holds the items that one batch of commands is about, between their loading and their
// writing. It belongs to one transaction.
type stage struct {
	projection *Knowledge
	tables     tables
	tx         bun.IDB
	ctx        context.Context //nolint:containedctx // Holder has none, and a stage ends with its transaction
	tenant     string

	items   map[string]*item
	order   []string // ids in the order of their first change: writes are deterministic
	holders map[string]string
	err     error // of a look-up that Holder could not report
}

// item is a piece of knowledge in a stage: as it was loaded, and as it is by now.
type item struct {
	was     domain.Knowledge
	now     *domain.Knowledge
	votes   map[string]bool          // event ids of the votes that were loaded
	reports map[domain.Entity]string // event ids of the reports that were loaded
	words   int
	changed bool
}

var _ events.Inline = (*Knowledge)(nil)

// Open implements [events.Inline]: it loads what the commands read, a query per table.
func (p *Knowledge) Open(ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command) (events.Stage, error) {
	s := &stage{
		projection: p, tables: p.tables, tx: tx, ctx: ctx, tenant: tenant,
		items: map[string]*item{}, holders: map[string]string{},
	}
	wants := collect(commands)
	for _, load := range []func(context.Context, wanted) error{s.loadItems, s.loadHolders, s.loadVotes, s.loadReports} {
		if err := load(ctx, wants); err != nil {
			return nil, fmt.Errorf("load knowledge: %w", err)
		}
	}
	return s, nil
}

// wanted is what the commands of a batch read, each once.
type wanted struct {
	items   []string
	uris    []string
	voices  [][]string // id, voter, ballot
	votes   []string
	reports []string
}

func collect(commands []domain.Command) wanted {
	var w wanted
	items, uris, reports := set{}, set{}, set{}
	for _, command := range commands {
		id, reads := command.Item(), command.Reads()
		items.add(&w.items, id)
		for _, other := range reads.Items {
			items.add(&w.items, other)
		}
		for _, uri := range reads.URIs {
			uris.add(&w.uris, uri)
		}
		for _, voice := range reads.Voices {
			w.voices = append(w.voices, []string{id, string(voice.Voter), voice.Key})
		}
		w.votes = append(w.votes, reads.Votes...)
		if reads.Reports {
			reports.add(&w.reports, id)
		}
	}
	return w
}

type set map[string]bool

func (s set) add(list *[]string, value string) {
	if !s[value] {
		s[value] = true
		*list = append(*list, value)
	}
}

func (s *stage) loadItems(ctx context.Context, w wanted) error {
	var rows []row
	err := s.tx.NewSelect().Model(&rows).ModelTableExpr("? AS k", s.tables.knowledge).
		Where("tenant = ?", s.tenant).Where("id IN (?)", bun.In(w.items)).Scan(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		k := rows[i].knowledge()
		s.items[k.ID] = &item{was: *k, now: k, words: rows[i].Words}
	}
	return nil
}

func (s *stage) loadHolders(ctx context.Context, w wanted) error {
	if len(w.uris) == 0 {
		return nil
	}
	var rows []row
	err := s.tx.NewSelect().Model(&rows).ModelTableExpr("? AS k", s.tables.knowledge).Column("id", "uri").
		Where("tenant = ?", s.tenant).Where("uri IN (?)", bun.In(w.uris)).Where(isLive).Scan(ctx)
	if err != nil {
		return err
	}
	for _, uri := range w.uris {
		s.holders[uri] = ""
	}
	for _, r := range rows {
		s.holders[r.URI] = r.ID
	}
	return nil
}

// isLive holds for items that answers may contain and whose URI is theirs alone.
const isLive = "status IN ('active', 'superseded')"

func (s *stage) loadVotes(ctx context.Context, w wanted) error {
	if len(w.voices) == 0 && len(w.votes) == 0 {
		return nil
	}
	var rows []voteRow
	query := s.tx.NewSelect().Model(&rows).ModelTableExpr("? AS v", s.tables.votes).Where("v.tenant = ?", s.tenant)
	query = query.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		if len(w.voices) > 0 {
			q = q.WhereOr("(v.id, v.voter, v.ballot) IN (VALUES ?)", bun.In(w.voices))
		}
		if len(w.votes) > 0 {
			q = q.WhereOr("v.event_id IN (?)", bun.In(w.votes))
		}
		return q
	})
	if err := query.Scan(ctx); err != nil {
		return err
	}
	for i := range rows {
		it, found := s.items[rows[i].ID]
		if !found {
			continue
		}
		if it.votes == nil {
			it.votes, it.now.Votes = map[string]bool{}, map[string]domain.Vote{}
		}
		it.votes[rows[i].EventID] = true
		it.now.Votes[rows[i].EventID] = rows[i].vote()
	}
	return nil
}

func (s *stage) loadReports(ctx context.Context, w wanted) error {
	if len(w.reports) == 0 {
		return nil
	}
	var rows []reportRow
	err := s.tx.NewSelect().Model(&rows).ModelTableExpr("? AS r", s.tables.reports).
		Where("tenant = ?", s.tenant).Where("id IN (?)", bun.In(w.reports)).Scan(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		it, found := s.items[rows[i].ID]
		if !found {
			continue
		}
		if it.reports == nil {
			it.reports, it.now.Reports = map[domain.Entity]string{}, map[domain.Entity]domain.Report{}
		}
		report := rows[i].report()
		it.reports[report.Reporter] = report.EventID
		it.now.Reports[report.Reporter] = report
	}
	return nil
}

// Knowledge implements [domain.Book].
func (s *stage) Knowledge(id string) *domain.Knowledge { return s.item(id).now }

func (s *stage) item(id string) *item {
	it, found := s.items[id]
	if !found {
		it = &item{was: domain.Knowledge{ID: id}, now: &domain.Knowledge{ID: id}}
		s.items[id] = it
	}
	return it
}

// Holder implements [domain.Book].
func (s *stage) Holder(uri string) string {
	if holder, known := s.holders[uri]; known {
		return holder
	}
	var id string
	err := s.tx.NewSelect().TableExpr("?", s.tables.knowledge).Column("id").
		Where("tenant = ?", s.tenant).Where("uri = ?", uri).Where(isLive).Scan(s.ctx, &id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		s.err = fmt.Errorf("find the holder of a uri: %w", err)
	}
	s.holders[uri] = id
	return id
}

// Apply implements [events.Stage]: it folds an event into the state that later commands see.
func (s *stage) Apply(event domain.Event) error {
	id, found := knowledgeID(event.Stream)
	if !found {
		return nil
	}
	it := s.item(id)
	uri, live := it.now.Text.URI, isAlive(it.now)
	if err := it.now.Evolve(event.Fact, event.Occasion(), s.projection.policy); err != nil {
		return err
	}
	if !it.changed {
		it.changed = true
		s.order = append(s.order, id)
	}
	if live && uri != "" && (uri != it.now.Text.URI || !isAlive(it.now)) {
		s.holders[uri] = ""
	}
	if isAlive(it.now) {
		s.holders[it.now.Text.URI] = id
	}
	return nil
}

func isAlive(k *domain.Knowledge) bool {
	return k.Status == domain.Active || k.Status == domain.IsSuperseded
}
