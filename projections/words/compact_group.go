package words

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/background"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	// defaultLargeBacklog is the surplus of packed rows above which they are moved as a group while the log is idle.
	defaultLargeBacklog = 20_000
	// groupWrite is how many rows of the index one transaction writes. groupEmpty is how many items lose their packed
	// rows in one. Appends wait for it.
	groupWrite, groupEmpty = 20_000, 1000
)

// groupMove moves the terms of a group of items into the index, one range of hashes after the other, and empties
// their packed rows at the end. Until then, and after an interruption, the index has some terms of items with packed
// rows. Searches read such items from the packed rows alone. A change of an item removes its terms from both.
type groupMove struct {
	*Compactor
	log     *events.Log
	version catalogue.Version
	group   Group
	read    int64              // the position up to which changes are known
	changed map[int64]struct{} // numbers of items that changed since the group was read: they stay packed
	numbers map[string]int64   // by id; nil until something changes
}

// compactGroup moves as many of a tenant's packed rows as fit into memory.
func (p *Compactor) compactGroup(ctx context.Context, log *events.Log, v catalogue.Version, tenant string) error {
	read, _, err := log.Head(ctx, tenant)
	if err != nil {
		return err
	}
	group, err := ReadGroup(ctx, p.DB, v, tenant, 0, func(query *bun.SelectQuery) *bun.SelectQuery {
		packed := p.DB.NewSelect().TableExpr("? AS s", v.Tables.Scopes).ColumnExpr("1").
			Where("s.tenant = k.tenant").Where("s.number = k.number").Where("s.bag IS NOT NULL")
		return query.Where("EXISTS (?)", packed)
	})
	if err != nil {
		return err
	}
	m := &groupMove{Compactor: p, log: log, version: v, group: group, read: read, changed: map[int64]struct{}{}}
	err = EachRange(ctx, group, func(list []TermRow) []TermRow { return list }, m.index)
	if err != nil {
		return err
	}
	for items := range slices.Chunk(group.Items, groupEmpty) {
		if err := m.empty(ctx, items); err != nil {
			return err
		}
	}
	return nil
}

// index writes rows of the index, in pieces.
func (m *groupMove) index(ctx context.Context, list []TermRow) error {
	for some := range slices.Chunk(list, groupWrite) {
		err := m.write(ctx, func(script *rows.Script) {
			unchanged := some
			if len(m.changed) > 0 {
				unchanged = slices.DeleteFunc(slices.Clone(some), func(r TermRow) bool { return m.hasChanged(r.number) })
			}
			InsertTerms(script, m.version.Tables, m.group.Tenant, unchanged)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// empty drops the packed rows of items whose terms are all in the index.
func (m *groupMove) empty(ctx context.Context, items []GroupItem) error {
	return m.write(ctx, func(script *rows.Script) {
		var numbers []int64
		for _, item := range items {
			if !m.hasChanged(item.Number) {
				numbers = append(numbers, item.Number)
			}
		}
		m.emptyPacked(script, m.version.Tables, m.group.Tenant, numbers)
	})
}

// write runs a script in a transaction under the tenant's lock, after noting what has changed.
func (m *groupMove) write(ctx context.Context, fill func(*rows.Script)) error {
	var began time.Time
	err := m.DB.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := m.log.LockTenant(ctx, tx, m.group.Tenant); err != nil {
			return err
		}
		began = time.Now()
		if err := m.noteChanges(ctx); err != nil {
			return err
		}
		script := &rows.Script{Engine: m.DB.Engine}
		fill(script)
		return script.Execute(ctx, tx)
	})
	if err == nil {
		m.log.Background().Yield(ctx, "", time.Since(began), background.LongestPause)
	}
	return err
}

// noteChanges notes which items of the group changed since the last call.
func (m *groupMove) noteChanges(ctx context.Context) error {
	for {
		page, err := m.log.Envelopes(ctx, m.group.Tenant, m.read, events.PageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		if m.numbers == nil {
			m.numbers = map[string]int64{}
			for _, item := range m.group.Items {
				m.numbers[item.ID] = item.Number
			}
		}
		for _, event := range page {
			id, _ := domain.ItemOf(event.Stream)
			if number, in := m.numbers[id]; in {
				m.changed[number] = struct{}{}
			}
		}
		m.read = page[len(page)-1].Position
	}
}

func (m *groupMove) hasChanged(number int64) bool {
	_, changed := m.changed[number]
	return changed
}

// emptyPacked adds the statement that drops the packed rows of items.
func (p *Compactor) emptyPacked(script *rows.Script, t rows.Tables, tenant string, numbers []int64) {
	if len(numbers) == 0 {
		return
	}
	table := bun.Safe(t.Scopes)
	if p.DB.Engine == database.SQLite { // it would scan every item of the tenant
		table += " INDEXED BY " + bun.Safe(t.Scopes) + "_number"
	}
	script.AddQuery(p.DB.NewUpdate().TableExpr("?", table).Set("bag = NULL").
		Where("tenant = ?", tenant).Where("number IN (?)", bun.List(numbers)))
}
