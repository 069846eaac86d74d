package projections_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/embedding"
	"github.com/annals-kb/annals/projections"
)

func TestWhatWasRememberedIsFoundAtOnceByItsWords(t *testing.T) {
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		w.remember("english", "Retry the payment call with exponential backoff", "team:pay")
		w.remember("chinese", "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全", "team:pay")
		w.remember("code", "func getUserByID(ctx context.Context) panics on a nil pool", "team:pay")
		for question, want := range map[string]string{
			"how are payments retried?": "english",
			"类型安全":                      "chinese",
			"偏好":                        "chinese",
			"user by id":                "code",
			"getUserByID":               "code",
		} {
			got := w.find(domain.Search{Text: question})
			if len(got) == 0 || got[0] != want {
				t.Errorf("%q found %v, want %s first", question, got, want)
			}
		}
		w.understand()
		for question, want := range map[string]string{"how are payments retried?": "english", "类型安全": "chinese"} {
			answer := w.search(domain.Search{Text: question, Explain: true})
			if len(answer.Hits) == 0 || answer.Hits[0].ID != want || answer.Hits[0].Semantic == 0 {
				t.Errorf("%q found %+v, want %s first, by meaning too", question, answer.Hits, want)
			}
		}
	})
}

func TestWhatWasRememberedIsFoundThoughNothingWasFoundBefore(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		long := "Retry the payment call. " + strings.Repeat("The garden has tomatoes and carrots and herbs. ", 100)
		for _, context := range []domain.Context{{}, {Given: true, Entities: []domain.Entity{"team:pay"}}} {
			tenant := w.in(fmt.Sprint("tenant-", context.Given))
			question := domain.Search{Text: "retry payment", Context: context}
			if got := tenant.find(question); len(got) != 0 {
				t.Errorf("found %v in an empty tenant", got)
			}
			tenant.remember("long", long, "team:pay")
			if got := tenant.find(question); !slices.Equal(got, []string{"long"}) {
				t.Errorf("found %v by words, at once after nothing was found", got)
			}
			tenant.understand()
			question.Vector = tenant.embed(embedding.Query, "tomatoes and carrots")[0]
			question.Text = ""
			if got := tenant.find(question); !slices.Equal(got, []string{"long"}) {
				t.Errorf("found %v by meaning", got)
			}
		}
	})
}

func TestAHitSaysThatItsMeaningIsStillToCome(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		pending := func(want map[string]bool) {
			t.Helper()
			got := map[string]bool{}
			for _, hit := range w.search(domain.Search{Text: "retry payment"}).Hits {
				got[hit.ID] = hit.Pending
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error(diff)
			}
		}
		w.remember("first", "retry the payment call", "team:pay")
		w.understand()
		w.remember("second", "retry the payment twice", "team:pay")
		pending(map[string]bool{"first": false, "second": true})
		w.understand()
		pending(map[string]bool{"first": false, "second": false})
	})
}

func TestAnItemInSeveralScopesCountsOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, projections.Settings{})
		for i := range 20 {
			w.remember(fmt.Sprint("i", i), "note on payment "+[]string{"retries", "refunds"}[i%2], "team:pay", "org:acme", "user:alice")
		}
		scores := map[int]float64{}
		for n := range 3 {
			answer := w.search(domain.Search{Text: "payment refunds", Context: domain.Context{
				Given: true, Entities: []domain.Entity{"team:pay", "org:acme", "user:alice"}[:n+1],
			}})
			scores[n] = answer.Hits[0].Lexical
		}
		if scores[0] == 0 || scores[1] != scores[0] || scores[2] != scores[0] {
			t.Errorf("words score %v in one, two and three scopes of the same items", scores)
		}
	})
}
