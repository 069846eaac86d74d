package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// stage holds the items that one batch of commands is about, between their loading and their
// writing. It belongs to one transaction.
type stage struct {
	projection *Knowledge
	version    version
	tables     tables
	policy     domain.ConfidencePolicy
	tx         bun.IDB
	ctx        context.Context // Knowledge and Holder have none, and a stage ends with its transaction
	tenant     string

	items    map[string]*item
	order    []string // ids in the order of their first change: writes are deterministic
	holders  map[string]string
	prepared map[string]prepared // commands, by item
	redacted []string            // ids of those whose texts are destroyed, all or some
	err      error               // of a look-up that Knowledge or Holder could not report
	failed   error               // why this version cannot be written any more, if nobody reads it
}

// item is a piece of knowledge in a stage: as it was loaded, and as it is by now.
type item struct {
	was           domain.Knowledge
	now           *domain.Knowledge
	votes         map[string]bool                 // event ids of the votes that were loaded
	reports       map[domain.Entity]domain.Report // that were loaded
	words         int
	changed       bool
	refold        bool           // texts of its past were redacted: now is folded anew, with all votes and reports
	refoldPending bool           // and is not yet, since the last of them was applied
	fresh         []domain.Event // of the batch
	history       []domain.Event // the whole stream, once it was read
}

func newStage(ctx context.Context, p *Knowledge, v version, tx bun.IDB, tenant string) *stage {
	s := &stage{
		projection: p, version: v, tables: v.tables, policy: v.policy, tx: tx, ctx: ctx, tenant: tenant,
		items: map[string]*item{}, holders: map[string]string{},
	}
	if v.unsupported {
		s.failed = errUnsupported
	}
	return s
}

// wanted is what the commands of a batch read, each once.
type wanted struct {
	items    []string
	uris     []string
	ballots  [][]string // id, voter, ballot
	voters   [][]string // id, voter; of their votes those since
	since    time.Time
	votes    [][]string // id, event id
	reports  []string
	prepared map[string]prepared
}

func collect(commands []domain.Command) wanted {
	w := wanted{prepared: preparedOf(commands)}
	items, uris, reports := set{}, set{}, set{}
	voters := map[[2]string]bool{}
	for _, command := range commands {
		id, isItem := domain.ItemOf(command.Stream())
		if isItem {
			items.add(&w.items, id)
		}
		reads := command.Reads()
		for _, other := range reads.Items {
			items.add(&w.items, other)
		}
		for _, uri := range reads.URIs {
			uris.add(&w.uris, uri)
		}
		for _, voice := range reads.Ballots {
			w.ballots = append(w.ballots, []string{id, string(voice.Voter), voice.Key})
			if since := voice.Since; !since.IsZero() {
				if voter := [2]string{id, string(voice.Voter)}; !voters[voter] {
					voters[voter] = true
					w.voters = append(w.voters, voter[:])
				}
				if w.since.IsZero() || since.Before(w.since) {
					w.since = since
				}
			}
		}
		for _, vote := range reads.Votes {
			w.votes = append(w.votes, []string{id, vote})
		}
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

// in is the tenant's place in a table.
func (s *stage) in(table bun.Ident, alias string) lookupTable {
	return lookupTable{engine: s.projection.db.Engine, tenant: s.tenant, table: table, alias: alias}
}

// reads are the queries that load what is wanted.
func (s *stage) reads(w wanted) []read {
	var reads []read
	if len(w.items) > 0 {
		reads = append(reads, s.readItems(w))
	}
	if len(w.uris) > 0 {
		reads = append(reads, s.readHolders(w))
	}
	if len(w.ballots) > 0 {
		reads = append(reads, s.readVotes(
			lookUp(s.tx.NewSelect().Model((*voteRow)(nil)), s.in(s.tables.votes, "v"), w.ballots, "id", "voter", "ballot")))
	}
	if len(w.voters) > 0 {
		reads = append(reads, s.readVotes(
			lookUp(s.tx.NewSelect().Model((*voteRow)(nil)), s.in(s.tables.votes, "v"), w.voters, "id", "voter").
				Where("v.at >= ?", database.At(w.since))))
	}
	if len(w.votes) > 0 {
		reads = append(reads, s.readVotes(s.votesOf(s.tx.NewSelect().Model((*voteRow)(nil)), w.votes)))
	}
	if len(w.reports) > 0 {
		reads = append(reads, s.readReports(w))
	}
	return reads
}

func (s *stage) readItems(w wanted) read {
	for _, id := range w.items {
		s.item(id) // is looked up, whether it is there or not
	}
	each := func(r *row) {
		k := r.knowledge()
		s.items[k.ID] = &item{was: *k, now: k, words: r.Words}
	}
	if s.projection.db.Engine == database.SQLite {
		return readPrepared(`
			SELECT k.`+strings.Join(knowledgeColumns, ", k.")+`
			FROM json_each(?) AS wanted CROSS JOIN `+string(s.tables.knowledge)+` AS k
			WHERE k.tenant = ? AND k.id = wanted.value`, each, database.List(w.items), s.tenant)
	}
	return readEach(lookUp(s.tx.NewSelect().Model((*row)(nil)), s.in(s.tables.knowledge, "k"), singleKeys(w.items), "id"), each)
}

// isLive holds for items that answers may contain and whose URI is theirs alone.
const isLive = "status IN ('active', 'superseded')"

func (s *stage) readHolders(w wanted) read {
	for _, uri := range w.uris {
		s.holders[uri] = ""
	}
	each := func(h *holder) { s.holders[h.URI] = h.ID }
	if s.projection.db.Engine == database.SQLite {
		return readPrepared(`
			SELECT k.id, k.uri
			FROM json_each(?) AS wanted CROSS JOIN `+string(s.tables.knowledge)+` AS k
			WHERE k.tenant = ? AND k.uri = wanted.value AND k.`+isLive, each, database.List(w.uris), s.tenant)
	}
	live := s.in(s.tables.knowledge, "k")
	live.condition = isLive
	return readEach(lookUp(s.tx.NewSelect().Model((*holder)(nil)), live, singleKeys(w.uris), "uri"), each)
}

// holder is whose a URI is.
type holder struct {
	bun.BaseModel `bun:"table:knowledge,alias:k"`

	ID  string `bun:"id"`
	URI string `bun:"uri"`
}

// votesOf lets a query select votes by item and event.
func (s *stage) votesOf(query *bun.SelectQuery, votes [][]string) *bun.SelectQuery {
	if s.projection.db.Engine == database.SQLite { // which keeps them by item
		return lookUp(query, s.in(s.tables.votes, "v"), votes, "id", "event_id")
	}
	return query.ModelTableExpr("? AS v", s.tables.votes).
		Where("v.tenant = ?", s.tenant).Where("v.event_id IN (?)", bun.List(eventsOf(votes)))
}

// eventsOf are the event ids of votes.
func eventsOf(votes [][]string) []string {
	events := make([]string, len(votes))
	for i, vote := range votes {
		events[i] = vote[1]
	}
	return events
}

func (s *stage) readVotes(query *bun.SelectQuery) read {
	return readEach(query, func(r *voteRow) {
		it, found := s.items[r.ID]
		if !found {
			return
		}
		if it.votes == nil {
			it.votes, it.now.Votes = map[string]bool{}, map[string]domain.Vote{}
		}
		it.votes[r.EventID] = true
		it.now.Votes[r.EventID] = r.vote()
	})
}

func (s *stage) readReports(w wanted) read {
	query := lookUp(s.tx.NewSelect().Model((*reportRow)(nil)), s.in(s.tables.reports, "r"), singleKeys(w.reports), "id")
	return readEach(query, func(r *reportRow) {
		it, found := s.items[r.ID]
		if !found {
			return
		}
		if it.reports == nil {
			it.reports, it.now.Reports = map[domain.Entity]domain.Report{}, map[domain.Entity]domain.Report{}
		}
		report := r.report()
		it.reports[report.Reporter] = report
		it.now.Reports[report.Reporter] = report
	})
}

// Knowledge implements [domain.DecisionContext].
func (s *stage) Knowledge(id string) *domain.Knowledge {
	if _, known := s.items[id]; !known {
		if err := s.projection.readAll(s.ctx, s.tx, []read{s.readItems(wanted{items: []string{id}})}); err != nil {
			s.err = fmt.Errorf("look an item up: %w", err)
		}
	}
	return s.item(id).now
}

func (s *stage) item(id string) *item {
	it, found := s.items[id]
	if !found {
		it = &item{was: domain.Knowledge{ID: id}, now: &domain.Knowledge{ID: id}}
		s.items[id] = it
	}
	return it
}

// Holder implements [domain.DecisionContext].
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
	id, found := domain.ItemOf(event.Stream)
	if !found {
		return nil
	}
	it := s.item(id)
	uri, live := it.now.Text.URI, isAlive(it.now)
	if err := it.now.Evolve(event.Fact, event.Metadata(), s.policy); err != nil {
		return err
	}
	if !it.changed {
		it.changed = true
		s.order = append(s.order, id)
	}
	if err := s.noteRedaction(it, event); err != nil {
		return err
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
