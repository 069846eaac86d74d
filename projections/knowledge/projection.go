package knowledge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

var _ events.Inline = (*Projection)(nil)

// Projection is the projection that is written in the transaction of the append.
type Projection struct {
	catalogue *catalogue.Catalogue
	keep      catalogue.KeepFunc
	erasers   []catalogue.EraseFunc // of the other projections
}

func New(c *catalogue.Catalogue, keep catalogue.KeepFunc, erasers ...catalogue.EraseFunc) *Projection {
	return &Projection{catalogue: c, keep: keep, erasers: erasers}
}

// stages write all written versions. Commands decide on the state of the active one. Secondary versions are read and
// written under a savepoint. If that fails, the version is abandoned in the same transaction, and the commands
// succeed.
type stages []*Stage

// Load implements [events.Inline]. It loads what the commands read, for every written version, and keeps the versions
// as they are until the transaction ends. On PostgreSQL this is one round trip for a process that writes often.
// Otherwise it reads the versions first, because tables that it knows may be dropped.
func (p *Projection) Load(
	ctx context.Context, tx bun.IDB, tenant string, commands []domain.Command, first database.Batch,
) (events.Stage, error) {
	wants := collect(commands)
	known := p.catalogue.VersionSet.Load()
	if time.Since(known.ReadAt) > catalogue.VersionSetAge {
		known = &catalogue.VersionSet{}
	}
	for {
		all, entries, err := p.open(ctx, tx, tenant, wants, known, first)
		if err != nil {
			return nil, fmt.Errorf("load knowledge: %w", database.Classify(ctx, err))
		}
		first = nil // has run
		isKnown := known.Matches(entries)
		if known, err = p.catalogue.NewVersionSet(ctx, tx, entries); err != nil {
			return nil, err
		}
		p.catalogue.VersionSet.Store(known)
		if isKnown {
			return all, nil
		}
	}
}

// open loads from the known versions, and reads the entries of the current ones.
func (p *Projection) open(
	ctx context.Context, tx bun.IDB, tenant string, w Wanted, known *catalogue.VersionSet, first database.Batch,
) (stages, []catalogue.Entry, error) {
	var entries []catalogue.Entry
	if p.catalogue.DB.Engine == database.Postgres {
		first = append(first, catalogue.HoldVersions())
	}
	reads := append(first, p.catalogue.ReadVersionSet(ctx, func(e *catalogue.Entry) { entries = append(entries, *e) }))
	var all stages
	for _, v := range known.Versions { // none if they are not known yet
		s := NewStage(ctx, p.catalogue, v, tx, tenant)
		s.prepared, s.keep, s.erasers = w.prepared, p.keep, p.erasers
		all = append(all, s)
	}
	if len(all) > 0 {
		reads = append(reads, all[0].Reads(w)...)
	}
	if err := reads.Run(ctx, tx); err != nil {
		return all, entries, err
	}
	if len(all) > 0 {
		if err := all[0].recall(); err != nil {
			return all, entries, err
		}
	}
	return all, entries, all.isolated(ctx, func(s *Stage) error {
		if err := s.Reads(w).Run(ctx, tx); err != nil {
			return err
		}
		return s.recall()
	})
}

// isolated calls do for each secondary version under a savepoint. An error marks the version as failed, and the
// transaction continues as if do had not run.
func (all stages) isolated(ctx context.Context, do func(*Stage) error) error {
	for _, s := range all[min(1, len(all)):] {
		if s.failed != nil {
			continue
		}
		if _, err := s.tx.ExecContext(ctx, "SAVEPOINT secondary"); err != nil {
			return err
		}
		err := database.Classify(ctx, do(s))
		if err != nil && isTransient(err) {
			return err
		}
		end := "RELEASE SAVEPOINT secondary"
		if s.failed = err; err != nil {
			end = "ROLLBACK TO SAVEPOINT secondary; " + end
		}
		if _, err := s.tx.ExecContext(ctx, end); err != nil {
			return err
		}
	}
	return nil
}

// isTransient tells whether an error is unrelated to the version.
func isTransient(err error) bool {
	transient := []error{database.ErrUnavailable, database.ErrFull, context.Canceled, context.DeadlineExceeded}
	return slices.ContainsFunc(transient, func(kind error) bool { return errors.Is(err, kind) })
}

func (all stages) Knowledge(id string) *domain.Knowledge { return all[0].Knowledge(id) }

func (all stages) Holder(uri string) string { return all[0].Holder(uri) }

func (all stages) ItemsSaying(t domain.Text, in []domain.Scope) []string {
	return all[0].ItemsSaying(t, in)
}

func (all stages) Apply(event domain.Event) error {
	if _, isItem := domain.ItemOf(event.Stream); !isItem {
		all[0].others = append(all[0].others, event)
		return nil
	}
	for i, s := range all {
		if s.failed != nil {
			continue
		}
		err := s.Apply(event)
		if err != nil && i == 0 {
			return fmt.Errorf("%s: %w", s.tables.Knowledge, err)
		}
		s.failed = err
	}
	return nil
}

func (all stages) Complete() error {
	for i, s := range all {
		if s.failed != nil {
			continue
		}
		err := s.refoldRedacted()
		if err != nil && i == 0 {
			return fmt.Errorf("%s: %w", s.tables.Knowledge, err)
		}
		s.failed = err
	}
	return nil
}

func (all stages) Save(ctx context.Context, inserts *database.Script) error {
	active := all[0]
	statements := &rows.Script{Engine: active.catalogue.DB.Engine, Script: *inserts}
	if err := all.erase(ctx, statements); err != nil {
		return err
	}
	all.invalidateSummaries(statements)
	if len(active.others) > 0 {
		active.keep(active.tx, active.tenant, active.others, statements)
	}
	if err := active.Write(statements); err != nil {
		return err
	}
	if len(all) == 1 {
		return statements.ExecuteLast(ctx, active.tx)
	}
	if err := statements.Execute(ctx, active.tx); err != nil {
		return err
	}
	err := all.isolated(ctx, func(s *Stage) error {
		part := &rows.Script{Engine: statements.Engine}
		if err := s.Write(part); err != nil {
			return err
		}
		return part.Execute(ctx, s.tx)
	})
	if err != nil {
		return err
	}
	return all.abandonFailed(ctx)
}

// abandonFailed abandons the versions that failed.
func (all stages) abandonFailed(ctx context.Context) error {
	for _, s := range all[1:] {
		if s.failed == nil {
			continue
		}
		p := s.catalogue
		p.Log.ErrorContext(ctx, "a secondary version cannot be written and is abandoned",
			"version", s.version.Version, "error", s.failed)
		state := catalogue.StateFailed
		if s.version.State == catalogue.StateStandby {
			state = catalogue.StateRetired
		}
		query := catalogue.AbandonVersion(s.tx, s.version.Entry, state, s.failed, database.At(p.Now())).
			Where("state <> ?", catalogue.StateActive)
		if _, err := query.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// invalidateSummaries deletes the summaries of the directories above items that fewer principals may see now: that
// were forgotten, moved or rescoped, or that lose texts. A summary being made of them is not stored.
func (all stages) invalidateSummaries(script *rows.Script) {
	s := all[0]
	above := map[domain.URI]bool{}
	for _, id := range s.order {
		it := s.items[id]
		if !it.was.Exists() || !slices.Contains(s.redacted, id) && it.was.Text.URI == it.now.Text.URI &&
			it.was.Status == it.now.Status &&
			it.was.Owner == it.now.Owner && slices.Equal(it.was.Scopes, it.now.Scopes) {
			continue
		}
		for _, uri := range domain.URI(it.was.Text.URI).SummarizedDirectories() {
			above[uri] = true
		}
	}
	if len(above) == 0 {
		return
	}
	rows := s.tx.NewSelect().TableExpr("directories").Column("uri").Where("tenant = ?", s.tenant).
		Where("uri IN (?)", bun.List(slices.Sorted(maps.Keys(above))))
	if script.Engine == database.Postgres { // in the order in which Mark locks them
		rows = rows.Order("uri").For("UPDATE")
	}
	now := s.catalogue.Now().UnixMicro()
	script.AddQuery(s.tx.NewUpdate().TableExpr("directories").
		Set("generation = generation + 1, made_of = '', abstract = '', overview = '', attempts = 0").
		Set("changed_at = ?, since = coalesce(since, ?)", now, now).
		Where("tenant = ?", s.tenant).Where("uri IN (?)", rows))
}

// prepared is a command with the terms of its new item, which take longest to compute.
type prepared struct {
	domain.Command
	id    string
	item  domain.Knowledge
	terms map[string]words.ItemTerms // by the tokenizer's version
}

var _ events.Preparation = (*Projection)(nil)

// Prepare implements [events.Preparation]. It cuts a new item's text into terms with the tokenizer of each written
// version.
func (p *Projection) Prepare(command domain.Command) domain.Command {
	remember, ok := command.(domain.Remember)
	if !ok {
		return command
	}
	item := domain.Knowledge{ID: remember.ID, Text: remember.Knowledge.Text, Source: remember.Knowledge.Source}
	wordings := map[string]words.ItemTerms{}
	for _, v := range p.catalogue.VersionSet.Load().Versions {
		if _, cut := wordings[v.Tokenizer.Version]; !cut && !v.Unsupported {
			wordings[v.Tokenizer.Version] = words.ItemTermsOf(v.Tokenizer, &item)
		}
	}
	return prepared{Command: command, id: remember.ID, item: item, terms: wordings}
}

// preparedOf returns the prepared commands by item.
func preparedOf(commands []domain.Command) map[string]prepared {
	found := make(map[string]prepared, len(commands))
	for _, command := range commands {
		if p, ok := command.(prepared); ok {
			found[p.id] = p
		}
	}
	return found
}

// itemTermsOf returns the item's current terms, from its command if that prepared them.
func (s *Stage) itemTermsOf(k *domain.Knowledge) words.ItemTerms {
	if p, found := s.prepared[k.ID]; found && saySame(&p.item, k) {
		if w, cut := p.terms[s.version.Tokenizer.Version]; cut {
			return w
		}
	}
	return words.ItemTermsOf(s.version.Tokenizer, k)
}
