package projections_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
)

// minScore is the threshold of searches that name none.
var minScore = embedding.Builtin{}.Calibration().MinScore

func listed(hits []domain.Found) string {
	var lines string
	for _, hit := range hits {
		lines += fmt.Sprintf("\n  %-4s %.3f = %.3f, %.3f; %.3f %s %v", hit.ID, hit.Score, hit.Semantic, hit.Lexical,
			hit.Weight, hit.Scope, hit.Best)
	}
	return lines
}

func searchableScopes(hits []domain.Hit) []domain.Found {
	all := make([]domain.Found, len(hits))
	for i, hit := range hits {
		all[i].Hit = hit
	}
	return all
}

// fill remembers n items and lets things happen to them.
func (w *world) fill(c corpus, n int) {
	w.t.Helper()
	commands := make([]domain.Command, 0, 3*n)
	for i := range n {
		commands = append(commands, w.complete(domain.Remember{By: w.by, ID: fmt.Sprint("i", i), Knowledge: c.knowledge()}))
	}
	for range 2 * n {
		commands = append(commands, c.happening(w.by, fmt.Sprint("i", c.IntN(n)), fmt.Sprint("i", c.IntN(n))))
	}
	submissions := make([]domain.Submission, len(commands))
	for i, command := range commands {
		submissions[i] = domain.Submission{Command: command, By: w.by}
	}
	for i, result := range w.log.SubmitAll(w.t.Context(), submissions) {
		if i < n && result.Err != nil {
			w.t.Fatal(result.Err)
		}
	}
	w.understand()
}

func (c corpus) knowledge() domain.Remembered {
	k := domain.Remembered{
		Class: domain.Class{Type: pick(c, domain.Types), ContextType: pick(c, domain.ContextTypes), Polarity: pick(c, domain.Polarities), Category: pick(c, append([]domain.Category{""}, domain.Categories...))},

		Owner: pick(c, []domain.Entity{"user:alice", "team:pay", "org:acme"}), Scopes: c.audience(),
		Source: domain.Source{TraceID: pick(c, []string{"", "t1", "t2"})},
		Text: domain.Text{
			Content: c.sentence(), Task: pick(c, []string{"", c.sentence()}), Abstract: pick(c, []string{"", "", c.sentence()}),
			Tags: pick(c, []domain.Tags{
				nil,
				{"category": {"preference"}},
				{"domain": {"coding_style", "payment"}, "empty": {}},
			}),
		},
	}
	if c.IntN(3) == 0 {
		k.Baseline = &domain.Eval{Helpful: 1 + c.IntN(9), Harmful: c.IntN(5)}
	}
	return k
}

// happening is a vote, a report, or now and then the end of an item.
func (c corpus) happening(by domain.Principal, id, other string) domain.Command {
	target := domain.Target{By: by, ID: id}
	switch c.IntN(12) {
	case 0:
		return domain.Delete{Target: target}
	case 1:
		return domain.Supersede{Target: target, Successor: other}
	case 2, 3:
		return domain.ReportStale{Target: target}
	case 4:
		content := c.sentence()
		return domain.Revise{Target: target, Changes: domain.Revised{Content: &content}}
	default:
		return domain.GiveFeedback{Target: target, Verdict: pick(c, domain.Verdicts), TraceID: fmt.Sprint(c.IntN(5))}
	}
}

// asking makes up searches.
type asking struct{ *rapid.T }

func (a asking) search(w *world, truth everything) domain.Search {
	c := newCorpus(rapid.Uint64().Draw(a.T, "question"))
	about := truth[pick(c, slices.Sorted(maps.Keys(truth)))].Knowledge
	s := domain.Search{
		By: a.somebody(w.by), Text: c.question(about.Text.Content), Filter: a.filter(about),
		Order: rapid.SampledFrom([]domain.Order{"", domain.ByPriority, domain.ByScore}).Draw(a.T, "order"),
		Limit: rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(a.T, "limit"),
	}
	if score := rapid.SampledFrom([]float64{-1, 0, 0.05, 0.2, 0.4}).Draw(a.T, "min score"); score >= 0 {
		s.MinScore = &score
	}
	if rapid.IntRange(0, 4).Draw(a.T, "a vector") == 0 {
		s.Vector = w.embed(embedding.Query, about.Text.Content)[0]
	}
	if rapid.Bool().Draw(a.T, "a context") {
		s.Context.Given = true
		s.Context.Entities = rapid.SliceOfDistinct(rapid.SampledFrom(s.By.Entities()), rapid.ID[domain.Entity]).
			Draw(a.T, "context")
	}
	s.Everyone, s.Copies = true, true
	complete := must(s.Complete())(a)
	return complete
}

// somebody is the admin, or a member of some groups.
func (a asking) somebody(admin domain.Principal) domain.Principal {
	if rapid.IntRange(0, 2).Draw(a.T, "who") == 0 {
		admin.Memberships = []domain.Entity{"user:alice", "project:456", "team:pay", "org:acme"}
		return admin
	}
	member := domain.Principal{Tenant: admin.Tenant, Subject: "user:alice", Role: domain.Member}
	member.Memberships = rapid.SliceOfDistinct(
		rapid.SampledFrom([]domain.Entity{"project:456", "project:789", "agent:bot", "team:pay", "team:web", "org:acme"}),
		rapid.ID[domain.Entity]).Draw(a.T, "memberships")
	return member
}

// filter is none, or one or two conditions that at least one item meets.
func (a asking) filter(about *domain.Knowledge) domain.Filter {
	var f domain.Filter
	for range rapid.IntRange(0, 2).Draw(a.T, "conditions") {
		conditions := conditionsMetBy(about)
		conditions[rapid.SampledFrom(slices.Sorted(maps.Keys(conditions))).Draw(a.T, "condition")](&f)
	}
	return f
}

// conditionsMetBy are conditions on each field of a filter that an item passes.
func conditionsMetBy(k *domain.Knowledge) map[string]func(*domain.Filter) {
	stale := k.Stale.Reporters > 0
	conditions := map[string]func(*domain.Filter){
		"type":         func(f *domain.Filter) { f.Types = []domain.Type{k.Type, domain.Tool} },
		"context_type": func(f *domain.Filter) { f.ContextTypes = []domain.ContextType{k.ContextType} },
		"owner":        func(f *domain.Filter) { f.Owner = k.Owner },
		"scope":        func(f *domain.Filter) { f.Scope = k.Scopes[0] },
		"visibility":   func(f *domain.Filter) { f.Visibility = k.Visibility() },
		"uri":          func(f *domain.Filter) { f.URIPrefix = k.Text.URI[:len(k.Text.URI)-5] },
		"under": func(f *domain.Filter) {
			f.Under = []domain.URI{
				"viking://nowhere",
				domain.URI(k.Text.URI).Parent(),
			}
		},
		"under itself": func(f *domain.Filter) { f.Under = []domain.URI{domain.URI(k.Text.URI)} },
		"polarity":     func(f *domain.Filter) { f.Polarity = k.Polarity },
		"stale":        func(f *domain.Filter) { f.Stale = &stale },
		"status":       func(f *domain.Filter) { f.Statuses = []domain.Status{k.Status, domain.IsSuperseded} },
		"created from": func(f *domain.Filter) { f.CreatedFrom = k.CreatedAt },
		"created to":   func(f *domain.Filter) { f.CreatedTo = k.CreatedAt.Add(time.Microsecond) },
		"updated from": func(f *domain.Filter) { f.UpdatedFrom = k.UpdatedAt },
		"updated to":   func(f *domain.Filter) { f.UpdatedTo = k.UpdatedAt.Add(time.Microsecond) },
	}
	if k.Category != "" {
		conditions["category"] = func(f *domain.Filter) { f.Categories = []domain.Category{k.Category} }
	}
	if k.Source.TraceID != "" {
		conditions["trace_id"] = func(f *domain.Filter) { f.TraceID = k.Source.TraceID }
	}
	for key, values := range k.Text.Tags {
		conditions["tag "+key] = func(f *domain.Filter) { f.Tags = domain.Tags{key: {}} }
		if len(values) > 0 {
			conditions["tag value "+key] = func(f *domain.Filter) { f.Tags = domain.Tags{key: {"none", values[0]}} }
		}
	}
	return conditions
}
