package vectors_test

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
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestMeaningFollowsWhatItemsSay(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "retry the payment call with exponential backoff", "team:pay")
		w.Remember("b", "water the tomatoes in the garden every morning", "team:pay")
		w.Understand()
		target := domain.Target{By: w.By, ID: "a"}
		content := "the meeting notes are in the shared folder"
		for _, step := range []struct {
			name     string
			command  domain.Command
			question string
			want     []string
			at       domain.Context
		}{
			{"as remembered", nil, "retry payment backoff", []string{"a"}, Pay},
			{
				"revised, what it said",
				domain.Revise{Target: target, Changes: domain.Revised{Content: &content}},
				"retry payment backoff",
				[]string{},
				Pay,
			},
			{"revised, what it says", nil, "meeting notes in the shared folder", []string{"a"}, Pay},
			{"forgotten", domain.Delete{Target: target}, "meeting notes in the shared folder", []string{}, Pay},
			{"restored", domain.Restore{Target: target}, "meeting notes in the shared folder", []string{"a"}, Pay},
			{
				"shared with others, here",
				domain.Revise{Target: target, Scopes: []domain.Scope{"team:web"}},
				"meeting notes in the shared folder",
				[]string{},
				Pay,
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
				w.Submit(step.command)
				w.Understand()
			}
			Equal(t, w.Nearest(step.question, step.at), step.want, "%s (-got +want)", step.name)
			holdsPieces(w)
			w.Reopened(func(again *World) {
				Equal(t, again.Nearest(step.question, step.at), step.want, "%s, read anew (-got +want)", step.name)
			})
		}
	})
}

// holdsPieces expects one piece of whatever answers may contain.
func holdsPieces(w *World) {
	w.T.Helper()
	want := 0
	for _, k := range w.Items() {
		if IsLive(k) {
			want++
		}
	}
	got := w.Number("SELECT count(*) FROM meaning_1 WHERE tenant = ?", w.By.Tenant)
	if got != want {
		w.T.Errorf("%d pieces, want %d", got, want)
	}
}

// Earlier versions stored a piece once for each scope of its item.
func TestPiecesThatAreStoredPerScopeAreFoundAndReplaced(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "retry the payment call with exponential backoff", "team:pay", "team:web")
		w.Remember("b", "water the tomatoes in the garden every morning", "team:pay", "team:web")
		w.Understand()
		NoError(t, w.DB.Transact(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			earlier := `(
				tenant TEXT NOT NULL, scope TEXT NOT NULL, number INTEGER NOT NULL, piece INTEGER NOT NULL,
				text_hash BLOB NOT NULL, sketch BLOB NOT NULL)`
			if w.DB.Engine == database.Postgres {
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
		w.Reopened(func(again *World) {
			again.Read = w.Read
			Equal(t, again.Nearest("tomatoes in the garden", Pay), []string{"b"}, "as stored (-got +want)")
			content := "the meeting notes are in the shared folder"
			again.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "b"}, Changes: domain.Revised{Content: &content}})
			again.Erase("a")
			again.Understand()
			Equal(t, again.Nearest("meeting notes in the folder", Pay), []string{"b"}, "revised (-got +want)")
		})
		if got := w.Number("SELECT count(*) FROM meaning_1 WHERE tenant = ?", w.By.Tenant); got != 1 {
			t.Errorf("%d pieces are left, want that of b", got)
		}
	})
}

func TestANewAudienceHoldsAtOnce(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "retry the payment call with exponential backoff", "team:pay", "team:web")
		w.Understand()
		w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "a"}, Scopes: []domain.Scope{"user:bob"}})
		// The vectors have not followed yet.
		high := 0.99 // so that it would be the best below
		for _, s := range []domain.Search{
			{Text: "retry payment"},
			{Vector: w.Embed(embedding.Query, "retry payment")[0]},
			{Text: "retry payment", MinScore: &high},
		} {
			s.Context, s.Explain = Pay, true
			answer := w.Search(s)
			if len(answer.Hits) != 0 || answer.Explain.BestBelow != 0 || answer.Explain.Visible != 0 {
				t.Errorf("those it was meant for still find %+v, %+v", answer.Hits, answer.Explain)
			}
		}
		bob := domain.Context{Given: true, Entities: []domain.Entity{"user:bob"}}
		Equal(t, w.Find(domain.Search{Text: "retry payment", Context: bob}), []string{"a"}, "Bob finds (-got +want)")
	})
}

func TestNoTextIsEmbeddedTwice(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		m := &Model{}
		w := NewWorld(t, db, projections.Settings{Embedder: m})
		w.Remember("a", "retry the payment call", "team:pay")
		w.Remember("b", "retry the payment call", "user:alice", "team:pay")
		w.Understand()
		w.Remember("c", "retry the payment call", domain.Public)
		content := "something else"
		target := domain.Target{By: w.By, ID: "a"}
		w.Submit(domain.Revise{Target: target, Changes: domain.Revised{Content: &content}})
		w.Submit(domain.Revise{Target: target, Scopes: []domain.Scope{"org:acme"}})
		w.Understand()
		back := "retry the payment call"
		w.Submit(domain.Revise{Target: target, Changes: domain.Revised{Content: &back}})
		w.Submit(domain.Delete{Target: target})
		w.Understand()
		w.Submit(domain.Restore{Target: target})
		w.Reopened(func(again *World) { again.Understand() })
		w.Understand()
		want := map[string]int{"retry the payment call": 1, "something else": 1}
		Equal(t, m.Embedded, want, "texts embedded (-got +want)")
		if got := w.Find(domain.Search{Text: "payment"}); len(got) != 3 {
			t.Errorf("found %v of three items that say the same", got)
		}
	})
}

func TestALongTextIsFoundByItsLastParagraph(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		c := NewCorpus(5)
		var long strings.Builder
		for long.Len() < 59<<10 {
			fmt.Fprintf(&long, "%s.\n\n", c.Sentence())
		}
		long.WriteString("At last, the beekeeper collects honey from the hives in September.")
		w.Remember("long", long.String(), "team:pay")
		for i := range 30 {
			w.Remember(fmt.Sprint("other", i), c.Sentence(), "team:pay")
		}
		w.Understand()
		for _, context := range []domain.Context{{}, Pay} {
			got := w.Find(domain.Search{
				Vector:  w.Embed(embedding.Query, "the beekeeper collects honey from the hives")[0],
				Context: context, Order: domain.ByScore, MinScore: new(float64),
			})
			if !slices.Contains(got, "long") {
				t.Errorf("by meaning: found %v, want the long one, too", got)
			}
			if got := w.Find(domain.Search{Text: "honey from the beekeeper", Context: context}); len(got) == 0 ||
				got[0] != "long" {
				t.Errorf("by words: found %v first, want the long one", got)
			}
		}
	})
}
