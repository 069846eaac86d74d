package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestWhatWasRememberedIsFoundAtOnceByItsWords(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("english", "Retry the payment call with exponential backoff", "team:pay")
		w.Remember("chinese", "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全", "team:pay")
		w.Remember("code", "func getUserByID(ctx context.Context) panics on a nil pool", "team:pay")
		for question, want := range map[string]string{
			"how are payments retried?": "english",
			"类型安全":                      "chinese",
			"偏好":                        "chinese",
			"user by id":                "code",
			"getUserByID":               "code",
		} {
			got := w.Find(domain.Search{Text: question})
			if len(got) == 0 || got[0] != want {
				t.Errorf("%q found %v, want %s first", question, got, want)
			}
		}
		w.Understand()
		for question, want := range map[string]string{"how are payments retried?": "english", "类型安全": "chinese"} {
			answer := w.Search(domain.Search{Text: question, Explain: true})
			if len(answer.Hits) == 0 || answer.Hits[0].ID != want || answer.Hits[0].Semantic == 0 {
				t.Errorf("%q found %+v, want %s first, by meaning too", question, answer.Hits, want)
			}
		}
	})
}

func TestASmallNumberAloneFindsNothing(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for id, content := range map[string]string{
			"list":     "1. Stop the writers.\n2. Promote the replica.\n3. Start the writers.",
			"version":  "checkout-v2 reads the catalogue",
			"error-42": "The exporter ends with error 42 when its disk is full",
			"error-17": "Error 17 of the exporter: an error of its licence",
			"go":       "The service is built with Go 1.26",
			"http":     "HTTP 503 means that the pool is empty",
			"port":     "The database listens on port 5432",
			"release":  "The release of 3 July broke the catalogue",
		} {
			w.Remember(id, content, "team:pay")
		}
		w.Understand()
		for question, want := range map[string]string{
			"a lasagne for 2 guests": "", "bake 3 cakes": "",
			"error 42": "error-42", "Go 1.26": "go", "HTTP 503": "http", "port 5432": "port", "July 3": "release",
			"42": "error-42",
		} {
			found := w.Find(domain.Search{Text: question})
			if want == "" && len(found) > 0 || want != "" && (len(found) == 0 || found[0] != want) {
				t.Errorf("%q found %v, want %q first", question, found, want)
			}
		}
	})
}

func TestWhatWasRememberedIsFoundThoughNothingWasFoundBefore(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		long := "Retry the payment call. " + strings.Repeat("The garden has tomatoes and carrots and herbs. ", 100)
		for _, context := range []domain.Context{{}, {Given: true, Entities: []domain.Entity{"team:pay"}}} {
			tenant := w.In(fmt.Sprint("tenant-", context.Given))
			question := domain.Search{Text: "retry payment", Context: context}
			if got := tenant.Find(question); len(got) != 0 {
				t.Errorf("found %v in an empty tenant", got)
			}
			tenant.Remember("long", long, "team:pay")
			Equal(t, tenant.Find(question), []string{"long"}, "found by words, at once after nothing was found (-got +want)")
			tenant.Understand()
			question.Vector = tenant.Embed(embedding.Query, "tomatoes and carrots")[0]
			question.Text = ""
			Equal(t, tenant.Find(question), []string{"long"}, "found by meaning (-got +want)")
		}
	})
}

func TestAHitSaysThatItsMeaningIsStillToCome(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		pending := func(want map[string]bool) {
			t.Helper()
			got := map[string]bool{}
			for _, hit := range w.Search(domain.Search{Text: "retry payment"}).Hits {
				got[hit.ID] = hit.Pending
			}
			Equal(t, got, want, "(-got +want)")
		}
		w.Remember("first", "retry the payment call", "team:pay")
		w.Understand()
		w.Remember("second", "retry the payment twice", "team:pay")
		pending(map[string]bool{"first": false, "second": true})
		w.Understand()
		pending(map[string]bool{"first": false, "second": false})
	})
}

// A manual among notes is found by what it is for, however long it is.
func TestALongItemIsFoundByItsTask(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for i := range 30 {
			w.Remember(fmt.Sprint("note-", i), fmt.Sprintf("note %d: 重试 payments twice", i), "team:pay")
		}
		for id, manual := range map[string]struct {
			task, filler string
			runes        int
		}{
			"english": {"deploy the gateway", "abcdefghijklmnopqrstuvwxyz     ", 18_000},
			"chinese": {"部署网关", "的一是在不了有和人这中大为上个国我以要他", 18_000},
		} {
			letters, content := []rune(manual.filler), []rune{}
			random := rand.New(rand.NewPCG(1, 2))
			for range manual.runes {
				content = append(content, letters[random.IntN(len(letters))])
			}
			w.Know(id, domain.Remembered{
				Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
				Text: domain.Text{Task: manual.task, Content: string(content)},
			})
		}
		w.Understand()
		for id, question := range map[string]string{"english": "deploy the gateway", "chinese": "部署网关"} {
			hits := w.Search(domain.Search{Text: question}).Hits
			if len(hits) == 0 || hits[0].ID != id || hits[0].Lexical < 0.4 {
				t.Errorf("%q found %+v", question, hits)
			}
		}
	})
}

func TestManyQuestionsAreAnsweredAsEachAloneAndEmbeddedTogether(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		m := &Model{}
		w := NewWorld(t, db, projections.Settings{Embedder: m})
		w.Remember("payment", "retry the payment call", "team:pay")
		w.Remember("garden", "water the tomatoes", "team:pay")
		w.Understand()
		var all []domain.Search
		for _, s := range []domain.Search{
			{Text: "retry payments"},
			{Text: "retry payments", Filter: domain.Filter{Types: []domain.Type{domain.Tool}}},
			{Text: "tomatoes"},
			{Text: "retry payments", Limit: 1},
			{Vector: w.Embed(embedding.Document, "water the tomatoes")[0]},
			{Text: "of another length", Vector: w.Embed(embedding.Document, "retry the payment call")[0]},
		} {
			s.By = w.By
			s.Everyone, s.Copies = true, true
			complete := Must(s.Complete())(t)
			all = append(all, complete)
		}
		all[2].Explain = true
		var want []domain.Answer
		for _, s := range all {
			alone := w.Search(s)
			if !s.Explain {
				alone.Explain = nil // why it is empty
			}
			want = append(want, alone)
		}
		m.Asked = nil
		got := Must(w.Base.Searcher.SearchAll(t.Context(), all))(t)
		if diff := cmp.Diff(got, want, cmpopts.IgnoreFields(domain.Explanation{}, "Took")); diff != "" {
			t.Error(diff)
		}
		if len(got[1].Hits) != 0 || got[2].Explain == nil {
			t.Errorf("found tools, or explained nothing: %+v", got)
		}
		if len(got[0].Hits) == 0 || len(got[2].Hits) == 0 || len(got[4].Hits) == 0 {
			t.Errorf("found nothing: %+v", got)
		}
		Equal(t, m.Asked, [][]string{{"retry payments", "tomatoes"}}, "embedded")

		m.Goes(fmt.Errorf("loading: %w", embedding.ErrUnavailable))
		got, err := w.Base.Searcher.SearchAll(t.Context(), all)
		if err != nil || got[0].Degraded == "" || len(got[0].Hits) == 0 || got[4].Degraded != "" {
			t.Errorf("without a model: %v, %+v", err, got)
		}
		all[1].Vector = []float32{1}
		if _, err := w.Base.Searcher.SearchAll(t.Context(), all); err == nil {
			t.Error("a vector that does not fit was taken")
		}
	})
}

func TestWhatWasReplacedDoesNotCrowdOutWhatHolds(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("current",
			"Since March, a payment that fails is retried by the gateway, and nobody has to do anything about it", "team:pay")
		var commands []domain.Command
		for i := range 400 {
			id := fmt.Sprint("old", i)
			commands = append(commands, w.Knowing(id, domain.Remembered{
				Class: domain.Class{Type: domain.Strategy}, Scopes: []domain.Scope{"team:pay"},
				Text: domain.Text{Content: fmt.Sprint("retry the failed payment call ", i)},
			}), domain.Supersede{Target: domain.Target{By: w.By, ID: id}, Successor: "current"})
		}
		w.SubmitAll(commands...)
		w.Understand()
		for _, context := range []domain.Context{{}, {Given: true, Entities: []domain.Entity{"team:pay"}}} {
			s := domain.Search{Text: "retry the failed payment call", Context: context}
			Equal(t, w.Find(s), []string{"current"}, "in %v: found (-got +want)", context.Entities)
			s.Filter.Statuses = []domain.Status{domain.Active, domain.IsSuperseded}
			if got := w.Find(s); len(got) != domain.DefaultLimit || slices.Contains(got, "current") {
				t.Errorf("in %v: found %v, want what was replaced, on request", context.Entities, got)
			}
		}
	})
}

// A note has other names, which its text does not have.
func TestAnItemIsFoundByItsAliasesAndLabels(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for i := range 30 {
			w.Remember(fmt.Sprint("note-", i), fmt.Sprintf("note %d: retry payments twice", i), "team:pay")
		}
		w.Know("named", domain.Remembered{
			Class: domain.Class{Type: domain.Definition}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay"},
			Text: domain.Text{
				Task: "Kettle number 120", Content: "This is a note of many cups, and of what lies beside them.",
				Tags: domain.Tags{"aliases": {"Samowar", "水壶"}, "labels": {"boiling/hot"}},
			},
		})
		w.Understand()
		for _, question := range []string{"samowar", "水壶", "boiling"} {
			search := Must(domain.Search{By: w.By, Text: question, Everyone: true}.Complete())(t)
			hits := Must(w.Base.Searcher.Search(t.Context(), search))(t).Hits
			if len(hits) != 1 || hits[0].ID != "named" {
				t.Errorf("%q found %+v", question, hits)
			}
		}
	})
}
