package projections_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
)

// nearest are the ids of what lies near a text, which words cannot find.
func (w *world) nearest(text string, context domain.Context) []string {
	w.t.Helper()
	return w.find(domain.Search{
		Vector: w.embed(embedding.Query, text)[0], Context: context, Order: domain.ByScore,
	})
}

var pay = domain.Context{Given: true, Entities: []domain.Entity{"team:pay"}}

func TestMeaningFollowsWhatItemsSay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "retry the payment call with exponential backoff", "team:pay")
		w.remember("b", "water the tomatoes in the garden every morning", "team:pay")
		w.understand()
		target := domain.Target{By: w.by, ID: "a"}
		content := "the meeting notes are in the shared folder"
		for _, step := range []struct {
			name     string
			command  domain.Command
			question string
			want     []string
			at       domain.Context
		}{
			{"as remembered", nil, "retry payment backoff", []string{"a"}, pay},
			{
				"revised, what it said",
				domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
				"retry payment backoff",
				[]string{},
				pay,
			},
			{"revised, what it says", nil, "meeting notes in the shared folder", []string{"a"}, pay},
			{"forgotten", domain.Delete{Target: target}, "meeting notes in the shared folder", []string{}, pay},
			{"restored", domain.Restore{Target: target}, "meeting notes in the shared folder", []string{"a"}, pay},
			{
				"shared with others, here",
				domain.Revise{Target: target, Scopes: []domain.Scope{"team:web"}},
				"meeting notes in the shared folder",
				[]string{},
				pay,
			},
			{
				"shared with others, there", nil, "meeting notes in the shared folder",
				[]string{"a"},
				domain.Context{Given: true, Entities: []domain.Entity{"team:web"}},
			},
			{
				"superseded",
				domain.Supersede{Target: target, Successor: "b"},
				"meeting notes in the shared folder",
				[]string{},
				domain.Context{},
			},
		} {
			if step.command != nil {
				w.submit(step.command)
				w.understand()
			}
			equal(t, w.nearest(step.question, step.at), step.want, "%s (-got +want)", step.name)
			w.holdsPieces()
			w.reopened(func(again *world) {
				equal(t, again.nearest(step.question, step.at), step.want, "%s, read anew (-got +want)", step.name)
			})
		}
	})
}

// reopened is the world as a server sees it that starts now.
func (w *world) reopened(do func(again *world)) {
	w.t.Helper()
	base := must(projections.Open(w.t.Context(), w.db, projections.Settings{}))(w.t)
	again := *w
	again.base, again.read = base, map[string]int64{}
	do(&again)
}

// holdsPieces expects one piece of whatever answers may contain.
func (w *world) holdsPieces() {
	w.t.Helper()
	want := 0
	for _, k := range w.items() {
		if IsLive(k) {
			want++
		}
	}
	got := w.number("SELECT count(*) FROM meaning_1 WHERE tenant = ?", w.by.Tenant)
	if got != want {
		w.t.Errorf("%d pieces, want %d", got, want)
	}
}

// Earlier versions stored a piece once for each scope of its item.
func TestPiecesThatAreStoredPerScopeAreFoundAndReplaced(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "retry the payment call with exponential backoff", "team:pay", "team:web")
		w.remember("b", "water the tomatoes in the garden every morning", "team:pay", "team:web")
		w.understand()
		noError(t, w.db.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			earlier := `(
				tenant TEXT NOT NULL, scope TEXT NOT NULL, number INTEGER NOT NULL, piece INTEGER NOT NULL,
				text_hash BLOB NOT NULL, sketch BLOB NOT NULL)`
			if w.db.Engine == database.Postgres {
				earlier = "(LIKE meaning_1)"
			}
			_, err := tx.ExecContext(ctx, `
				CREATE TABLE earlier `+earlier+`;
				INSERT INTO earlier (tenant, scope, number, piece, text_hash, sketch)
				SELECT m.tenant, s.scope, m.number, m.piece, m.text_hash, m.sketch
				FROM meaning_1 AS m
				CROSS JOIN (SELECT 'team:pay' AS scope UNION SELECT 'team:web') AS s;
				DROP TABLE meaning_1;
				ALTER TABLE earlier RENAME TO meaning_1;
				CREATE UNIQUE INDEX earlier ON meaning_1 (tenant, scope, number, piece)`)
			return err
		}))
		w.reopened(func(again *world) {
			again.read = w.read
			equal(t, again.nearest("tomatoes in the garden", pay), []string{"b"}, "as stored (-got +want)")
			content := "the meeting notes are in the shared folder"
			again.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "b"}, Changes: domain.Revised{Content: &content}})
			again.erase("a")
			again.understand()
			equal(t, again.nearest("meeting notes in the folder", pay), []string{"b"}, "revised (-got +want)")
		})
		if got := w.number("SELECT count(*) FROM meaning_1 WHERE tenant = ?", w.by.Tenant); got != 1 {
			t.Errorf("%d pieces are left, want that of b", got)
		}
	})
}

func TestANewAudienceHoldsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "retry the payment call with exponential backoff", "team:pay", "team:web")
		w.understand()
		w.submit(domain.Revise{Target: domain.Target{By: w.by, ID: "a"}, Scopes: []domain.Scope{"user:bob"}})
		// The vectors have not followed yet.
		high := 0.99 // so that it would be the best below
		for _, s := range []domain.Search{
			{Text: "retry payment"},
			{Vector: w.embed(embedding.Query, "retry payment")[0]},
			{Text: "retry payment", MinScore: &high},
		} {
			s.Context, s.Explain = pay, true
			answer := w.search(s)
			if len(answer.Hits) != 0 || answer.Explain.BestBelow != 0 || answer.Explain.Visible != 0 {
				t.Errorf("those it was meant for still find %+v, %+v", answer.Hits, answer.Explain)
			}
		}
		bob := domain.Context{Given: true, Entities: []domain.Entity{"user:bob"}}
		equal(t, w.find(domain.Search{Text: "retry payment", Context: bob}), []string{"a"}, "Bob finds (-got +want)")
	})
}

func TestNoTextIsEmbeddedTwice(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		m := &model{}
		w := newWorld(t, db, projections.Settings{Embedder: m})
		w.remember("a", "retry the payment call", "team:pay")
		w.remember("b", "retry the payment call", "user:alice", "team:pay")
		w.understand()
		w.remember("c", "retry the payment call", domain.Public)
		content := "something else"
		target := domain.Target{By: w.by, ID: "a"}
		w.submit(domain.Revise{Target: target, Changes: domain.Revised{Content: &content}})
		w.submit(domain.Revise{Target: target, Scopes: []domain.Scope{"org:acme"}})
		w.understand()
		back := "retry the payment call"
		w.submit(domain.Revise{Target: target, Changes: domain.Revised{Content: &back}})
		w.submit(domain.Delete{Target: target})
		w.understand()
		w.submit(domain.Restore{Target: target})
		w.reopened(func(again *world) { again.understand() })
		w.understand()
		want := map[string]int{"retry the payment call": 1, "something else": 1}
		equal(t, m.embedded, want, "texts embedded (-got +want)")
		if got := w.find(domain.Search{Text: "payment"}); len(got) != 3 {
			t.Errorf("found %v of three items that say the same", got)
		}
	})
}

func TestALongTextIsFoundByItsLastParagraph(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := newCorpus(5)
		var long strings.Builder
		for long.Len() < 59<<10 {
			fmt.Fprintf(&long, "%s.\n\n", c.sentence())
		}
		long.WriteString("At last, the beekeeper collects honey from the hives in September.")
		w.remember("long", long.String(), "team:pay")
		for i := range 30 {
			w.remember(fmt.Sprint("other", i), c.sentence(), "team:pay")
		}
		w.understand()
		for _, context := range []domain.Context{{}, pay} {
			got := w.find(domain.Search{
				Vector:  w.embed(embedding.Query, "the beekeeper collects honey from the hives")[0],
				Context: context, Order: domain.ByScore, MinScore: new(float64),
			})
			if !slices.Contains(got, "long") {
				t.Errorf("by meaning: found %v, want the long one, too", got)
			}
			if got := w.find(domain.Search{Text: "honey from the beekeeper", Context: context}); len(got) == 0 ||
				got[0] != "long" {
				t.Errorf("by words: found %v first, want the long one", got)
			}
		}
	})
}
