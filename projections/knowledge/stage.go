package knowledge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Stage holds the items of one batch of commands from loading to writing. It belongs to one transaction.
type Stage struct {
	catalogue *catalogue.Catalogue
	version   catalogue.Version
	tables    rows.Tables
	policy    domain.ConfidencePolicy
	tx        bun.IDB
	ctx       context.Context // for Knowledge and Holder; a stage ends with its transaction
	tenant    string
	keep      catalogue.KeepFunc
	others    []domain.Event // of the batch, of other streams than items
	erasers   []catalogue.EraseFunc

	items    map[string]*item
	order    []string // ids in the order of their first change: writes are deterministic
	holders  map[string]string
	prepared map[string]prepared // commands, by item
	votes    rows.Set            // items all of whose votes were loaded, and "item voter" whose votes on it were
	redacted []string            // ids of items that lose some or all texts
	erased   bool                // these items were erased from the index of words
	err      error               // from a look-up by Knowledge or Holder, which cannot return it
	failed   error               // why this secondary version cannot be written any more
}

// item is an item in a stage: as it was loaded, and as it is now.
type item struct {
	was           domain.Knowledge
	now           *domain.Knowledge
	votes         map[string]domain.Verdict       // of the votes that were loaded, by their event ids
	reports       map[domain.Entity]domain.Report // that were loaded
	words         int
	changed       bool
	refold        bool           // it is folded again after a redaction: write all votes and reports
	recalled      bool           // it was folded, since its row lacks columns
	refoldPending bool           // it is not folded again yet since its last redaction
	fresh         []domain.Event // of the batch
	history       []domain.Event // the whole stream, if it was read
}

func NewStage(ctx context.Context, c *catalogue.Catalogue, v catalogue.Version, tx bun.IDB, tenant string) *Stage {
	s := &Stage{
		catalogue: c, version: v, tables: v.Tables, policy: v.Policy, tx: tx, ctx: ctx, tenant: tenant,
		items: map[string]*item{}, holders: map[string]string{}, votes: rows.Set{},
	}
	if v.Unsupported {
		s.failed = catalogue.ErrUnsupported
	}
	return s
}

// Wanted is what the commands of a batch read, without duplicates.
type Wanted struct {
	Items    []string
	fresh    []string // ids that no item has
	uris     []string
	Voters   [][]string // id, voter
	VotesOf  []string   // ids of items
	Reports  []string
	prepared map[string]prepared
}

func collect(commands []domain.Command) Wanted {
	w := Wanted{prepared: preparedOf(commands)}
	items, uris, reports, voted := rows.Set{}, rows.Set{}, rows.Set{}, rows.Set{}
	for _, command := range commands {
		id, isItem := domain.ItemOf(command.Stream())
		reads := command.Reads()
		switch {
		case isItem && reads.Fresh:
			w.fresh = append(w.fresh, id)
		case isItem:
			items.Add(&w.Items, id)
		}
		for _, other := range reads.Items {
			items.Add(&w.Items, other)
		}
		for _, uri := range reads.URIs {
			uris.Add(&w.uris, uri)
		}
		for _, voter := range reads.Voters {
			if key := []string{id, string(voter)}; !voted[strings.Join(key, " ")] {
				voted[strings.Join(key, " ")] = true
				w.Voters = append(w.Voters, key)
			}
		}
		for _, of := range reads.VotesOf {
			voted.Add(&w.VotesOf, of)
		}
		if reads.Reports {
			reports.Add(&w.Reports, id)
		}
	}
	return w
}

// in is a table, narrowed to the tenant.
func (s *Stage) in(table rows.Source, alias string) rows.Table {
	return rows.Table{Engine: s.catalogue.DB.Engine, Tenant: s.tenant, Table: table, Alias: alias}
}

// Reads are the queries that load what is wanted.
func (s *Stage) Reads(w Wanted) database.Batch {
	var reads database.Batch
	for _, id := range w.fresh {
		s.item(id) // note it as looked up
	}
	if len(w.Items) > 0 {
		reads = append(reads, s.readItems(w))
	}
	if len(w.uris) > 0 {
		reads = append(reads, s.readHolders(w))
	}
	if len(w.Voters) > 0 {
		reads = append(reads, s.readVotes(w.Voters, "id", "voter"))
	}
	if len(w.VotesOf) > 0 {
		reads = append(reads, s.readVotes(rows.SingleKeys(w.VotesOf), "id"))
	}
	if len(w.Reports) > 0 {
		reads = append(reads, s.readReports(w))
	}
	return reads
}

func (s *Stage) readItems(w Wanted) database.Query {
	for _, id := range w.Items {
		s.item(id) // note it as looked up, whether it exists or not
	}
	each := func(r *rows.Row) {
		s.items[r.ID] = &item{was: r.Knowledge, now: &r.Knowledge, words: r.Words}
	}
	return lookUp(s, "k."+strings.Join(rows.KnowledgeColumns, ", k."), "id", w.Items, each)
}

func (s *Stage) readHolders(w Wanted) database.Query {
	for _, uri := range w.uris {
		s.holders[uri] = ""
	}
	return lookUp(s, "k.id, k.uri", rows.Live+" AND k.uri", w.uris, func(h *holder) { s.holders[h.URI] = h.ID })
}

// lookUp selects columns of the items k that have a value, each in an index.
func lookUp[T any](s *Stage, columns, has string, values []string, each func(*T)) database.Query {
	query := s.tables.Knowledge.String() + " AS k WHERE k.tenant = ? AND k." + has + " = wanted.value"
	if s.catalogue.DB.Engine == database.SQLite { // which never changes the order of a CROSS JOIN
		query = "json_each(?) AS wanted CROSS JOIN " + query
	} else {
		query = "json_array_elements_text(?::json) AS wanted (value) CROSS JOIN LATERAL (SELECT * FROM " +
			query + " OFFSET 0) AS k"
	}
	return rows.ReadEach(s.ctx, s.catalogue.DB, "SELECT "+columns+" FROM "+query, each, database.List(values), s.tenant)
}

// holder is a URI with its item.
type holder struct {
	bun.BaseModel `bun:"table:knowledge,alias:k"`

	ID  string `bun:"id"`
	URI string `bun:"uri"`
}

// readVotes reads all votes of items, or those of voters.
func (s *Stage) readVotes(keys [][]string, columns ...string) database.Query {
	for _, key := range keys {
		s.votes[strings.Join(key, " ")] = true
	}
	query := rows.LookUp(s.tx.NewSelect().Model((*rows.VoteRow)(nil)), s.in(s.tables.Votes, "v"), keys, columns...)
	return rows.ReadEach(s.ctx, s.catalogue.DB, query.String(), func(r *rows.VoteRow) {
		it, found := s.items[r.ID]
		if !found || it.votes[r.EventID] != "" {
			return
		}
		if it.votes == nil {
			it.votes = map[string]domain.Verdict{}
		}
		if it.now.Votes == nil {
			it.now.Votes = map[string]domain.Vote{}
		}
		it.votes[r.EventID] = domain.Verdict(r.Verdict)
		it.now.Votes[r.EventID] = r.Vote()
	})
}

// readVotesFor reads the votes that folding a fact needs, unless they are loaded.
func (s *Stage) readVotesFor(it *item, fact domain.Fact) error {
	id := it.now.ID
	voter, needed := s.policy.VotesFor(it.now, fact)
	if !needed || !it.was.Exists() || s.votes[id] || voter != "" && s.votes[id+" "+string(voter)] {
		return nil
	}
	return database.Batch{s.readVotes([][]string{{id}}, "id")}.Run(s.ctx, s.tx)
}

func (s *Stage) readReports(w Wanted) database.Query {
	query := rows.LookUp(s.tx.NewSelect().Model((*rows.ReportRow)(nil)), s.in(s.tables.Reports, "r"),
		rows.SingleKeys(w.Reports), "id")
	return rows.ReadEach(s.ctx, s.catalogue.DB, query.String(), func(r *rows.ReportRow) {
		it, found := s.items[r.ID]
		if !found {
			return
		}
		if it.reports == nil {
			it.reports, it.now.Reports = map[domain.Entity]domain.Report{}, map[domain.Entity]domain.Report{}
		}
		report := r.Report()
		it.reports[report.Reporter] = report
		it.now.Reports[report.Reporter] = report
	})
}

// recall folds the items that were loaded from a table that lacks columns, so that commands decide on all of them.
func (s *Stage) recall() error {
	if len(s.tables.Changed) == 0 {
		return nil
	}
	for id, it := range s.items {
		if !it.was.Exists() || it.recalled {
			continue
		}
		history, err := events.StreamsWithin(s.ctx, s.tx, s.tenant, []string{domain.KnowledgeStream(id)})
		if err != nil {
			return err
		}
		now := &domain.Knowledge{ID: id}
		for _, event := range history {
			if err := now.Evolve(event.Fact, event.Metadata(), s.policy); err != nil {
				return fmt.Errorf("fold %s: %w", event.Stream, err)
			}
		}
		it := &item{was: *now, now: now, words: it.words, recalled: true, votes: map[string]domain.Verdict{}}
		it.was.Votes, it.was.Reports, it.reports = nil, nil, maps.Clone(now.Reports)
		for eventID, vote := range now.Votes {
			it.votes[eventID] = vote.Verdict
		}
		s.items[id], s.votes[id] = it, true
	}
	return nil
}

func (s *Stage) Knowledge(id string) *domain.Knowledge {
	if _, known := s.items[id]; !known {
		if err := (database.Batch{s.readItems(Wanted{Items: []string{id}})}).Run(s.ctx, s.tx); err != nil {
			s.err = fmt.Errorf("look an item up: %w", err)
		} else if err := s.recall(); err != nil {
			s.err = err
		}
	}
	return s.item(id).now
}

func (s *Stage) item(id string) *item {
	it, found := s.items[id]
	if !found {
		it = &item{was: domain.Knowledge{ID: id}, now: &domain.Knowledge{ID: id}}
		s.items[id] = it
	}
	return it
}

func (s *Stage) Holder(uri string) string {
	if holder, known := s.holders[uri]; known {
		return holder
	}
	var id string
	err := s.tx.NewSelect().TableExpr("? AS k", s.tables.Knowledge).Column("id").
		Where("tenant = ?", s.tenant).Where("uri = ?", uri).Where(rows.Live).Scan(s.ctx, &id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		s.err = fmt.Errorf("find the holder of a uri: %w", err)
	}
	s.holders[uri] = id
	return id
}

// Apply implements [events.Stage]: it folds an event into the state that later commands see.
func (s *Stage) Apply(event domain.Event) error {
	id, found := domain.ItemOf(event.Stream)
	if !found {
		return nil
	}
	it := s.item(id)
	uri, live := it.now.Text.URI, rows.IsLive(it.now)
	if err := s.readVotesFor(it, event.Fact); err != nil {
		return err
	}
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
	if live && uri != "" && (uri != it.now.Text.URI || !rows.IsLive(it.now)) {
		s.holders[uri] = ""
	}
	if rows.IsLive(it.now) {
		s.holders[it.now.Text.URI] = id
	}
	return nil
}
