package projectiontest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/embedding"
)

// Knowledge is written in English, Chinese and code, often in all of them at once.
var (
	english = strings.Fields(`payment retry backoff invoice customer deploy server rollback database migration index
		query slow cache timeout login token password session user profile prefers dark theme editor keyboard meeting
		report budget travel hotel flight weather garden recipe tomato soup doctor appointment insurance contract
		lawyer review merge branch conflict test failing flaky build pipeline release version customer refund`)
	chinese = strings.Fields(`用户偏好 类型安全 数据库迁移 编码风格 会议纪要 部署流程 支付失败 重试策略 缓存失效 登录超时
		项目计划 代码评审 深色主题 知识管理 团队协作 错误处理 性能优化 日志分析 天气很好 今天晚上 机器学习 模型训练`)
	code = strings.Fields(`getUserByID parse_config http.Handler context.Context err!=nil SELECT-*-FROM kubectl/apply
		max_connections NewServer() v1.26.3 /etc/annals.toml --dry-run ECONNRESET foo::bar TypeScript JavaScript`)
)

// Scopes of every tier; everybody in these tests is one of them.
var Scopes = []domain.Scope{
	"user:alice", "user:bob", "project:456", "project:789", "agent:bot", "team:pay", "team:web", "org:acme", domain.Public,
}

// Corpus makes up text, the same for the same seed.
type Corpus struct{ *rand.Rand }

func NewCorpus(seed uint64) Corpus { return Corpus{rand.New(rand.NewPCG(seed, 1))} }

// word is one of a language's; the first ones are common.
func (c Corpus) word(words []string) string {
	i := min(c.IntN(len(words)), c.IntN(len(words)))
	return words[i]
}

// Sentence is some words of one language, or of all.
func (c Corpus) Sentence() string {
	length := 3 + c.IntN(20)
	var words []string
	kind := c.IntN(5)
	for range length {
		switch {
		case kind < 2 || kind == 4 && c.IntN(2) == 0:
			words = append(words, c.word(english))
		case kind == 2 || kind == 4 && c.IntN(2) == 0:
			words = append(words, c.word(chinese))
		default:
			words = append(words, c.word(code))
		}
	}
	return strings.Join(words, " ")
}

// Question asks about some of what a text says, and something else.
func (c Corpus) Question(about string) string {
	words := strings.Fields(about)
	asked := []string{c.word(english)}
	for range 1 + c.IntN(4) {
		asked = append(asked, words[c.IntN(len(words))])
	}
	return strings.Join(asked, " ")
}

// audience is one to four scopes.
func (c Corpus) audience() []domain.Scope {
	n := 1 + c.IntN(4)
	chosen := make([]domain.Scope, 0, n)
	for _, i := range c.Perm(len(Scopes))[:n] {
		chosen = append(chosen, Scopes[i])
	}
	return chosen
}

func pick[T any](c Corpus, values []T) T { return values[c.IntN(len(values))] }

// RememberOddly adds items whose tags and places look like SQL, JSON and patterns.
func (w *World) RememberOddly() {
	w.T.Helper()
	for i, tags := range []domain.Tags{
		{`a"b`: {`c"d`, `\`}},
		{"a.b": {"$.x"}},
		{"支付": {"支付?", "it's"}},
		{"": nil, "a": {}},
		{"a": {"a", "b"}, "b": {"a"}},
		{"Case": {"Case"}},
	} {
		delete(tags, "")
		w.Know(fmt.Sprint("odd", i), domain.Remembered{
			Class: domain.Class{Type: domain.Tool}, Owner: "user:alice", Scopes: []domain.Scope{
				domain.Scope(fmt.Sprint("user:Al_ce", i)),
				"user:alice",
			},
			Text: domain.Text{Content: "payment 支付", Tags: tags, URI: fmt.Sprint("viking://odd/%_'?", i, "/x")},
		})
	}
	for i, name := range []string{domain.AbstractName, domain.OverviewName, "x" + domain.AbstractName} {
		w.Know(fmt.Sprint("short", i), domain.Remembered{
			Class: domain.Class{Type: domain.Tool}, Owner: "user:alice",
			Text: domain.Text{Content: "payment 支付", URI: "viking://odd/" + name},
		})
	}
}

// MinScore is the threshold of searches that name none.
const MinScore = embedding.MinScore

func Listed(hits []domain.Found) string {
	var lines strings.Builder
	for _, hit := range hits {
		fmt.Fprintf(&lines, "\n  %-4s %.3f = %.3f, %.3f; %.3f %s %v", hit.ID, hit.Score, hit.Semantic, hit.Lexical,
			hit.Weight, hit.Scope, hit.Best)
	}
	return lines.String()
}

func SearchableScopes(hits []domain.Hit) []domain.Found {
	all := make([]domain.Found, len(hits))
	for i, hit := range hits {
		all[i].Hit = hit
	}
	return all
}

// Fill remembers n items and lets things happen to them.
func (w *World) Fill(c Corpus, n int) {
	w.T.Helper()
	commands := make([]domain.Command, 0, 3*n)
	for i := range n {
		commands = append(commands, w.Complete(domain.Remember{By: w.By, ID: fmt.Sprint("i", i), Knowledge: c.Knowledge()}))
	}
	for range 2 * n {
		commands = append(commands, c.happening(w.By, fmt.Sprint("i", c.IntN(n)), fmt.Sprint("i", c.IntN(n))))
	}
	submissions := make([]domain.Submission, len(commands))
	for i, command := range commands {
		submissions[i] = domain.Submission{Command: command, By: w.By}
	}
	for i, result := range w.Log.SubmitAll(w.T.Context(), submissions) {
		if i < n && result.Err != nil {
			w.T.Fatal(result.Err)
		}
	}
	w.Understand()
}

func (c Corpus) Knowledge() domain.Remembered {
	k := domain.Remembered{
		Class: domain.Class{
			Type: pick(c, domain.Types), ContextType: pick(c, domain.ContextTypes), Polarity: pick(c, domain.Polarities),
			Category: pick(c, append([]domain.Category{""}, domain.Categories...)),
		},
		Owner: pick(c, []domain.Entity{"user:alice", "team:pay", "org:acme"}), Scopes: c.audience(),
		Source: domain.Source{TraceID: pick(c, []string{"", "t1", "t2"})},
		Text: domain.Text{
			Content: c.Sentence(), Task: pick(c, []string{"", c.Sentence()}), Abstract: pick(c, []string{"", "", c.Sentence()}),
			Tags: pick(c, []domain.Tags{
				nil,
				{"category": {"preference"}},
				{"domain": {"coding_style", "payment"}, "empty": {}},
			}),
		},
	}
	k.Proposed = c.IntN(12) == 0
	if c.IntN(3) == 0 {
		k.Baseline = &domain.Eval{Helpful: 1 + c.IntN(9), Harmful: c.IntN(5)}
	}
	return k
}

// happening is a vote, a report, or now and then the end of an item.
func (c Corpus) happening(by domain.Principal, id, other string) domain.Command {
	target := domain.Target{By: by, ID: id}
	switch c.IntN(12) {
	case 0:
		return domain.Delete{Target: target}
	case 1:
		return domain.Supersede{Target: target, Successor: other}
	case 2, 3:
		return domain.ReportStale{Target: target}
	case 4:
		content := c.Sentence()
		return domain.Revise{Target: target, Changes: domain.Revised{Content: &content}}
	case 5:
		return domain.Quarantine{Target: target}
	default:
		return domain.GiveFeedback{Target: target, Verdict: pick(c, domain.Verdicts), TraceID: fmt.Sprint(c.IntN(5))}
	}
}

// Asking makes up searches.
type Asking struct{ *rapid.T }

func (a Asking) Search(w *World, truth Everything) domain.Search {
	c := NewCorpus(rapid.Uint64().Draw(a.T, "question"))
	about := truth[pick(c, slices.Sorted(maps.Keys(truth)))].Knowledge
	s := domain.Search{
		By: a.Somebody(w.By), Text: c.Question(about.Text.Content), Filter: a.Filter(about),
		Order: rapid.SampledFrom([]domain.Order{"", domain.ByPriority, domain.ByScore}).Draw(a.T, "order"),
		Limit: rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(a.T, "limit"),
	}
	switch words := strings.Fields(about.Text.Content); rapid.IntRange(0, 11).Draw(a.T, "a form") {
	case 0, 1:
		s.Text = about.ID
	case 2, 3:
		at := rapid.IntRange(0, len(words)-1).Draw(a.T, "a phrase")
		s.Text += ` "` + strings.Join(words[at:min(at+2, len(words))], " ") + `"`
	case 4:
		s.Text += " -" + rapid.SampledFrom(words).Draw(a.T, "without")
	case 5:
		s.Text += ` -"` + strings.Join(words[:min(2, len(words))], " ") + `"`
	}
	if score := rapid.SampledFrom([]float64{-1, 0, 0.05, 0.2, 0.4}).Draw(a.T, "min score"); score >= 0 {
		s.MinScore = &score
	}
	if rapid.IntRange(0, 4).Draw(a.T, "a vector") == 0 {
		s.Vector = w.Embed(embedding.Query, about.Text.Content)[0]
	}
	if rapid.Bool().Draw(a.T, "a context") {
		s.Context.Given = true
		s.Context.Entities = rapid.SliceOfDistinct(rapid.SampledFrom(s.By.Entities()), rapid.ID[domain.Entity]).
			Draw(a.T, "context")
	}
	s.Everyone, s.Copies = true, true
	complete := Must(s.Complete())(a)
	return complete
}

// Somebody is the admin, or a member of some groups.
func (a Asking) Somebody(admin domain.Principal) domain.Principal {
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

// Filter is none, or one or two conditions that at least one item meets.
func (a Asking) Filter(about *domain.Knowledge) domain.Filter {
	var f domain.Filter
	for range rapid.IntRange(0, 2).Draw(a.T, "conditions") {
		conditions := ConditionsMetBy(about)
		conditions[rapid.SampledFrom(slices.Sorted(maps.Keys(conditions))).Draw(a.T, "condition")](&f)
	}
	return f
}

// ConditionsMetBy are conditions on each field of a filter that an item passes.
func ConditionsMetBy(k *domain.Knowledge) map[string]func(*domain.Filter) {
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

// FillFrom remembers as many items of somebody else's, by their numbers.
func (w *World) FillFrom(first, n int) {
	w.T.Helper()
	var commands []domain.Command
	for i := first; i < first+n; i++ {
		commands = append(commands, w.Knowing(fmt.Sprint("more-", i), domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"org:acme"},
			Text: domain.Text{Content: fmt.Sprint("item ", i)},
		}))
	}
	w.SubmitAll(commands...)
}

// DistinctWords are so many different words.
func DistinctWords(n int) string {
	var words strings.Builder
	for i := range n {
		fmt.Fprintf(&words, "w%dx ", i)
	}
	return words.String()
}
