package receipts_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/receipts"
)

func TestAReceiptSaysWhatTheCallerWasGiven(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(2)
		given := w.answer("how do we retry?", "b", "a")
		given.Items[1].Cut, given.Items[1].Band, given.Items[1].Level = true, domain.Perhaps, domain.Overview
		id := w.Give(given)
		Equal(t, id, "r1-1", "the first id")
		r := w.find(id)
		Equal(t, r.Circumstances, receipts.Circumstances{
			Kind: domain.GivenUse, Status: 200, Caller: "agent:coder", OnBehalfOf: "user:ann", Authentication: "key:abcdefghi2",
			Host: "claude-code/2.0", Session: "s-1", Trace: "t-1", Route: "POST /v1/search", Embedder: "builtin", Ranking: "test-1",
		}, "circumstances (-got +want)")
		b, a := given.Items[0].Item, given.Items[1].Item
		for i := range r.Items {
			r.Items[i].History = [4]byte{}
		}
		Equal(t, r.Items, []receipts.Item{
			{
				Number: b.Number, Version: 1, Score: 0.8124, Semantic: 0.5, Lexical: 0.252, Confidence: 0.5, Band: domain.Sure,
				Scope: "team:pay", Level: domain.Detail,
			},
			{
				Number: a.Number, Version: 1, Score: 0.8124, Semantic: 0.5, Lexical: 0.252, Confidence: 0.5, Band: domain.Perhaps,
				Scope: "team:pay", Level: domain.Overview, Cut: true,
			},
		}, "items (-got +want)")
		Equal(t, []any{r.At, r.Position, r.Question.Text}, []any{day, w.Head(), "how do we retry?"}, "the rest (-got +want)")
		for _, wrong := range []string{"r1-2", "r2-1", "r1-01", "r1-", "1-1", "r0-1", "rx-1", ""} {
			if _, err := w.Receipts.Find(t.Context(), domain.DefaultTenant, wrong); domain.KindOf(err) != domain.KindOf(domain.ErrNotFound) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		if _, err := w.Receipts.Find(t.Context(), "acme", id); domain.KindOf(err) != domain.KindOf(domain.ErrNotFound) {
			t.Errorf("of another tenant: %v", err)
		}
	})
}

func TestReceiptsAreListedByWhatTheyAreAbout(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.fill(3)
		give := func(change func(*domain.Given), ids ...string) string {
			*w.now = w.now.Add(time.Minute)
			given := w.answer("", ids...)
			change(&given)
			return w.Give(given)
		}
		give(func(g *domain.Given) { g.Kind = domain.GivenLook }, "a")
		give(func(g *domain.Given) { g.Host = "codex/1"; g.Caller, g.OnBehalfOf = "user:bo", "" }, "a", "b")
		NoError(t, w.Flush(t.Context()))
		give(func(g *domain.Given) { g.Session, g.TraceID = "s-2", "t-2" }, "c")
		give(func(g *domain.Given) { g.Kind, g.Status = domain.GivenDenial, 403; g.Caller = "" })
		numbers := func(ids ...string) []int64 { return Must(w.Numbers(t.Context(), "default", ids...))(t) }
		for name, of := range map[string]struct {
			q    receipts.Query
			want []string
		}{
			"all":            {receipts.Query{}, []string{"r1-4", "r1-3", "r1-2", "r1-1"}},
			"page by page":   {receipts.Query{Limit: 1}, []string{"r1-4", "r1-3", "r1-2", "r1-1"}},
			"by an agent":    {receipts.Query{By: "agent:coder"}, []string{"r1-3", "r1-1"}},
			"for a user":     {receipts.Query{By: "user:ann"}, []string{"r1-4", "r1-3", "r1-1"}},
			"of both":        {receipts.Query{By: "user:ann", Only: "agent:coder"}, []string{"r1-3", "r1-1"}},
			"an item":        {receipts.Query{Items: numbers("a", "z")}, []string{"r1-2", "r1-1"}},
			"any of items":   {receipts.Query{Items: numbers("b", "c")}, []string{"r1-3", "r1-2"}},
			"a trace":        {receipts.Query{Trace: "t-2"}, []string{"r1-3"}},
			"a session":      {receipts.Query{Session: "s-1"}, []string{"r1-4", "r1-2", "r1-1"}},
			"a host":         {receipts.Query{Host: "codex"}, []string{"r1-2"}},
			"a version":      {receipts.Query{Host: "codex/1"}, []string{"r1-2"}},
			"another one":    {receipts.Query{Host: "codex/2"}, nil},
			"denials":        {receipts.Query{Kind: domain.GivenDenial}, []string{"r1-4"}},
			"since":          {receipts.Query{Since: day.Add(3 * time.Minute)}, []string{"r1-4", "r1-3"}},
			"until":          {receipts.Query{Until: day.Add(3 * time.Minute)}, []string{"r1-2", "r1-1"}},
			"what is absent": {receipts.Query{Trace: "t-9"}, nil},
		} {
			Equal(t, w.ids(of.q), of.want, "%s (-got +want)", name)
		}
		for name, of := range map[string]struct {
			items []string
			want  string
		}{
			"one item": {[]string{"a"}, "2 [agent:coder user:ann user:bo]"},
			"several":  {[]string{"c", "b"}, "2 [agent:coder user:ann user:bo]"},
			"the last": {[]string{"c"}, "1 [agent:coder user:ann]"},
			"none":     {nil, "0 []"},
		} {
			answers, to, err := w.AnswersWith(t.Context(), "default", numbers(of.items...))
			NoError(t, err)
			Equal(t, fmt.Sprint(answers, " ", to), of.want, "answers with %s (-got +want)", name)
		}
	})
}

func TestReceiptsOfSeveralServersAreListedInTheOrderOfTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other := w.begin(0)
		var want []string
		for i := range 300 {
			*w.now = w.now.Add(time.Second / 10)
			on := []*world{w, other}[i%7/4]
			want = append(want, on.Give(w.answer("")))
			if i%11 == 0 {
				NoError(t, on.Flush(t.Context()))
			}
		}
		NoError(t, other.Flush(t.Context()))
		slices.Reverse(want)
		for _, limit := range []int{1, 7, 1000} {
			Equal(t, w.ids(receipts.Query{Limit: limit}), want, "by %d (-got +want)", limit)
		}
	})
}

func TestARunCountsOnAfterAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for run := range 3 {
			if run > 0 {
				w = w.begin(0)
			}
			Equal(t, w.Give(w.answer("")), fmt.Sprintf("r%d-1", run+1), "the first id of a run")
			w.end()
		}
		Equal(t, len(w.ids(receipts.Query{})), 3, "receipts")
		Equal(t, w.Number("SELECT count(*) FROM receipt_runs WHERE lasts = '{\"default\":1}'"), 3, "runs that ended")
	})
}
