package receipts_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

// busyDay is a day on which items are written, judged, moved, merged and erased while agents are given them.
type busyDay struct {
	*world
	random *rand.Rand
	items  []string
	given  map[string]string // the canonical answers, by their receipts
	wordOf map[string][]string
}

func (d *busyDay) some() string { return d.items[d.random.IntN(len(d.items))] }

// happens lets something happen that may be refused.
func (d *busyDay) happens() {
	target, word := domain.Target{By: d.By, ID: d.some()}, fmt.Sprint("lesson ", d.random.IntN(1e6))
	var command domain.Command
	switch n := d.random.IntN(100); {
	case n < 25:
		id := fmt.Sprint("i", len(d.items))
		d.items = append(d.items, id)
		command = d.Knowing(id, domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "team:pay", Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{Task: "task of " + word, Content: word, Abstract: "about " + word},
		})
	case n < 45:
		command = domain.Revise{Target: target, Changes: domain.Revised{Content: &word}}
	case n < 70:
		verdict := []domain.Verdict{domain.Helpful, domain.Harmful}[n%2]
		command = domain.GiveFeedback{Target: target, Verdict: verdict, TraceID: word, Query: "why " + word}
	case n < 78:
		scope := []domain.Scope{"team:pay", "team:ops", "org:acme"}[n%3]
		command = domain.Revise{Target: target, Scopes: []domain.Scope{scope}, Owner: scope.Entity()}
	case n < 83:
		command = domain.Supersede{Target: target, Successor: d.some()}
	case n < 88:
		command = domain.Merge{Target: target, Items: []string{d.some()}, Changes: domain.Revised{Content: &word}, CarryVotes: true}
	case n < 93:
		command = domain.Delete{Target: target}
	case n < 97:
		command = domain.Restore{Target: target}
	default:
		command = domain.Erase{Target: target, ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"}}
	}
	_, _ = d.Log.Submit(d.T.Context(), domain.Submission{By: d.By, Command: command})
}

// answers gives an agent up to five items, and notes their wordings and the canonical answer.
func (d *busyDay) answers() {
	d.T.Helper()
	answer := d.answer(fmt.Sprint("question ", d.random.IntN(1e6)))
	var wordings []string
	for range d.random.IntN(6) {
		item := d.item(d.some())
		if item.Item.Status == domain.IsErased {
			continue
		}
		if item.Level = domain.Level(d.random.IntN(3)); item.Level == domain.Overview {
			item.Level = domain.Detail
		}
		item.Level.Trim(item.Item)
		item.Score = d.random.Float64()
		answer.Items = append(answer.Items, item)
		wordings = append(wordings, item.Item.Text.Content)
	}
	id := d.Give(answer)
	a := d.replay(id)
	Equal(d.T, a.Faults, []string(nil), "faults of %s", id)
	for i, item := range a.Given {
		Equal(d.T, item.Knowledge.Text.Content, wordings[i], "%s, item %d (-replayed +given)", id, i+1)
	}
	d.given[id], d.wordOf[id] = string(a.Canonical()), wordings
}

// lastsIn holds every answer of the day against what another world replays. Of an erased item, the wording is gone.
func (d *busyDay) lastsIn(w *world, where string) {
	d.T.Helper()
	erased := 0
	for id, want := range d.given {
		a := w.replay(id)
		Equal(d.T, a.Faults, []string(nil), "%s: faults of %s", where, id)
		if !slices.ContainsFunc(a.Given, func(i receipts.GivenItem) bool { return i.Erased }) {
			Equal(d.T, string(a.Canonical()), want, "%s: %s (-now +then)", where, id)
			continue
		}
		erased++
		for i, item := range a.Given {
			says := strings.Contains(string(a.Canonical()), d.wordOf[id][i])
			if item.Erased && item.Certificate == "" || !item.Erased && !says {
				d.T.Errorf("%s: item %d of %s: erased %v by %q, says what it said: %v", where, i+1, id, item.Erased, item.Certificate, says)
			}
		}
	}
	listed := w.ids(receipts.Query{Limit: 1000})
	Equal(d.T, len(listed), len(d.given), "%s: listed receipts", where)
	for i, id := range listed[:min(len(listed), 100)] {
		if want := fmt.Sprint("r1-", len(listed)-i); id != want {
			d.T.Errorf("%s: %s is listed where %s should be", where, id, want)
		}
	}
	d.T.Logf("%s: %d answers, of which %d have an erased item", where, len(d.given), erased)
	Equal(d.T, w.verify(), []string(nil), "%s: faults", where)
}

func TestTheAnswersOfADayAreReplayedAsTheyWere(t *testing.T) {
	t.Parallel()
	answers := 10_000
	if testing.Short() {
		answers = 200
	}
	for _, engine := range databasetest.Engines(t) {
		t.Run(engine.String(), func(t *testing.T) {
			t.Parallel()
			now := day
			clock := func() time.Time { return now }
			db := databasetest.Open(t, databasetest.Migrated(t, engine))
			r := NewRebuildingWith(t, db, projections.Settings{}, events.Options{Clock: clock})
			d := busyDay{
				world:  (&world{World: r.World, now: &now}).begin(0),
				random: rand.New(rand.NewPCG(1, uint64(answers))), given: map[string]string{}, wordOf: map[string][]string{},
			}
			d.items = d.fill(5)
			for len(d.given) < answers {
				now = now.Add(time.Duration(d.random.IntN(8_000)) * time.Millisecond)
				if d.random.IntN(4) == 0 {
					d.happens()
				} else {
					d.answers()
				}
				if d.random.IntN(50) == 0 {
					NoError(t, d.Seal(t.Context()))
				}
			}
			d.lastsIn(d.world, "at the end")
			r.Switches(domain.RebuildOrder{})
			d.lastsIn(d.world, "after a rebuild")
			d.end()
			other := databasetest.Open(t, databasetest.Migrated(t, map[database.Engine]database.Engine{
				database.SQLite: database.Postgres, database.Postgres: database.SQLite,
			}[engine]))
			copied(t, db, other)
			there := NewWorldWith(t, other, projections.Settings{}, events.Options{Clock: clock})
			d.lastsIn((&world{World: there, now: &now}).begin(0), "on the other engine")
		})
	}
}

// copied copies what a backup has of receipts and the log to another database.
func copied(t *testing.T, from, to *database.DB) {
	t.Helper()
	for _, table := range []string{"events", "event_texts", "destroyed_texts", "streams", "receipt_runs", "receipt_pages"} {
		found := Must(from.QueryContext(t.Context(), "SELECT * FROM "+table))(t)
		columns, types := Must(found.Columns())(t), Must(found.ColumnTypes())(t)
		var copies database.Script
		var rows [][]any
		for found.Next() {
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			NoError(t, found.Scan(into...))
			for i, value := range row {
				switch v := value.(type) {
				case nil:
					row[i] = []byte(nil)
				case time.Time:
					row[i] = database.At(v)
				case []byte:
					if name := types[i].DatabaseTypeName(); name != "BLOB" && name != "BYTEA" {
						row[i] = string(v)
					}
				}
			}
			rows = append(rows, row)
		}
		NoError(t, found.Close())
		copies.Insert(to.Engine, table+" ("+strings.Join(columns, ", ")+")", "", rows)
		NoError(t, to.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error { return copies.Run(ctx, tx) }))
	}
}
