package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/http/servertest"
)

// given says in one line what a caller was given: the items, each with its level, and with its score if it has one.
func given(g domain.Given) string {
	parts := []string{string(g.Kind), g.Route}
	for _, one := range g.Items {
		part := fmt.Sprintf("%s@%d/%d", one.Item.ID, one.Item.Version, one.Level)
		if one.Score > 0 {
			part += " " + string(one.Band) + " " + string(one.Scope)
		}
		if one.Cut {
			part += " cut"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func TestEachAnswerWithItemsHasAReceipt(t *testing.T) {
	EachWith(t, Recording, func(t *testing.T, w *World) {
		recorder := w.Configured.Recorder.(*Recorder)
		w.Remember("window", "The window of deployments is Tuesday at noon.")
		w.Ask("POST", "/v1/knowledge/window/stale", Object{}, "Annals-Actor: user:ann").Want(http.StatusOK)
		const found = "window@2/2 sure user:default"
		for _, c := range []struct {
			method, path string
			body         any
			want, asked  string
		}{
			{"POST", "/v1/search", Object{"query": "deployments window"}, "use, POST /v1/search, " + found, `{"query":"deployments window"}`},
			{"POST", "/v1/search", Object{"query": "deployments window", "level": 0}, "use, POST /v1/search, window@2/0 sure user:default", `{"query":"deployments window","level":0}`},
			{"POST", "/v1/search", Object{"query": "zebra", "min_score": 0.9}, "use, POST /v1/search", `{"query":"zebra","min_score":0.9}`},
			{"POST", "/v1/context", Object{"stage": "query", "query": "deployments window"}, "use, POST /v1/context, window@2/0 sure user:default", `{"stage":"query","query":"deployments window"}`},
			{"GET", "/v1/knowledge/window", nil, "use, GET /v1/knowledge/:id, window@2/2", ""},
			{"GET", "/v1/knowledge/window?as_of=1", nil, "use, GET /v1/knowledge/:id, window@1/2", ""},
			{"GET", "/v1/knowledge", nil, "look, GET /v1/knowledge, window@2/2", ""},
			{"GET", "/v1/reviews", nil, "look, GET /v1/reviews, window@2/2", ""},
		} {
			got := w.Ask(c.method, c.path, c.body).Want(http.StatusOK)
			last := recorder.Last()
			Same(t, given(last), c.want, c.method, " ", c.path)
			Same(t, last.Asked, c.asked, "what was asked")
			receipt := fmt.Sprint("r1-", len(recorder.Given()))
			Same(t, []any{got.JSON()["receipt"], got.Header.Get("Annals-Receipt")}, []any{receipt, receipt}, c.method, " ", c.path)
			Same(t, last.AsOf, map[bool]int64{true: 1}[strings.HasSuffix(c.path, "=1")], "position of ", c.path)
		}
		before := len(recorder.Given())
		lines := w.Ask("GET", "/v1/knowledge", nil, "Accept: application/x-ndjson").Want(http.StatusOK)
		Same(t, lines.Header.Get("Annals-Receipt"), fmt.Sprint("r1-", before+1), "the receipt of lines")
		if receipt := w.Ask("PATCH", "/v1/knowledge/window", Object{"task": "deploying"}).Want(http.StatusOK).Header.Get("Annals-Receipt"); !strings.Contains(receipt, " ") {
			t.Errorf("a write has no receipt for proofs: %q", receipt)
		}
		Same(t, len(recorder.Given()), before+1, "receipts of reads")
	})
}

func TestItemsThatDoNotFitAreCut(t *testing.T) {
	EachWith(t, Recording, func(t *testing.T, w *World) {
		for i := range 5 {
			w.Remember(fmt.Sprint("w", i), fmt.Sprintf("The window %d of deployments: %s", i, strings.Repeat("it begins at noon and ends at two. ", 8)))
		}
		w.Ask("POST", "/v1/context", Object{"stage": "query", "query": "window of deployments", "max_tokens": 150}).Want(http.StatusOK)
		cut := 0
		for _, one := range w.Configured.Recorder.(*Recorder).Last().Items {
			if one.Cut {
				cut++
			}
		}
		if cut == 0 || cut == 5 {
			t.Errorf("%d of 5 items were cut", cut)
		}
	})
}

func TestAReceiptNamesTheHostAndTheSession(t *testing.T) {
	EachWith(t, Recording, func(t *testing.T, w *World) {
		w.Remember("a", "a fact")
		recorder := w.Configured.Recorder.(*Recorder)
		for _, c := range []struct {
			headers []Header
			want    []string
		}{
			{[]Header{"Annals-Host: claude-code/2.0", "Annals-Session: s-1"}, []string{"claude-code/2.0", "s-1"}},
			{[]Header{"User-Agent: codex/1.5 (linux; x)"}, []string{"codex/1.5", ""}},
			{[]Header{Header("User-Agent: " + strings.Repeat("x", 80))}, []string{strings.Repeat("x", 64), ""}},
		} {
			w.Ask("GET", "/v1/knowledge/a", nil, c.headers...).Want(http.StatusOK)
			last := recorder.Last()
			Same(t, []string{last.Host, last.Session}, c.want)
		}
		refused := w.Ask("GET", "/v1/knowledge/a", nil, "Annals-Host: two words").Want(http.StatusUnprocessableEntity)
		Same(t, refused.Errors(), []string{"Annals-Host: must be at most 200 visible ASCII characters"})
	})
}

func TestADenialIsGivenWithoutItems(t *testing.T) {
	keyed := func(w *World, cfg *Config) {
		Keyed(w, cfg)
		Recording(w, cfg)
	}
	EachWith(t, keyed, func(t *testing.T, w *World) {
		mia := w.GivenTo("user:mia", w.Admin())
		recorder := w.Configured.Recorder.(*Recorder)
		w.Ask("GET", "/v1/knowledge/a", nil, Bearer("wrong"), "Annals-Host: spy/1").Want(http.StatusUnauthorized)
		Same(t, given(recorder.Last()), "denied, GET /v1/knowledge/:id")
		Same(t, recorder.Last().Host, "spy/1")
		w.Ask("POST", "/v1/search", Object{"query": "x", "context": Object{"user_id": "bo"}}, mia).Want(http.StatusForbidden)
		last := recorder.Last()
		Same(t, given(last), "denied, POST /v1/search")
		Same(t, []string{string(last.Caller), fmt.Sprint(last.Status)}, []string{"user:mia", "403"})
	})
}

func TestWithoutARecorderThereAreNoReceipts(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "a fact")
		for _, path := range []string{"/v1/knowledge/a", "/v1/knowledge", "/v1/reviews"} {
			got := w.Ask("GET", path, nil).Want(http.StatusOK)
			Same(t, []any{got.JSON()["receipt"], got.Header.Get("Annals-Receipt")}, []any{nil, ""}, path)
		}
	})
}
