package domain_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

// han is n characters of three bytes each.
func han(n int) string { return strings.Repeat("知", n) }

func ascii(n int) string { return strings.Repeat("x", n) }

func many[T any](n int, each func(int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = each(i)
	}
	return all
}

// meta is a JSON object of n bytes.
func meta(n int) json.RawMessage { return json.RawMessage(`{"a":"` + ascii(n-8) + `"}`) }

func TestEveryLimitHoldsAtItsEdge(t *testing.T) {
	t.Parallel()
	team := func(i int) Scope { return Scope(fmt.Sprintf("team:%d", i)) }
	for _, c := range []struct {
		field  string
		change func(*Remembered)
		valid  bool
	}{
		{"content", func(r *Remembered) { r.Text.Content = ascii(64 << 10) }, true},
		{"content", func(r *Remembered) { r.Text.Content = ascii(64<<10 + 1) }, false},
		{"content", func(r *Remembered) { r.Text.Content = han(64 << 10 / 3) }, true},
		{"content", func(r *Remembered) { r.Text.Content = han(64<<10/3 + 1) }, false},
		{"content", func(r *Remembered) { r.Text.Content = "知" }, true},
		{"content", func(r *Remembered) { r.Text.Content = "" }, false},
		{"content", func(r *Remembered) { r.Text.Content = " \t\n\u3000" }, false},
		{"content", func(r *Remembered) { r.Text.Content = "a\x00b" }, false},
		{"content", func(r *Remembered) { r.Text.Content = "a\xff" }, false},
		{"task", func(r *Remembered) { r.Text.Task = han(2000) }, true},
		{"task", func(r *Remembered) { r.Text.Task = han(2001) }, false},
		{"task", func(r *Remembered) { r.Text.Task = "\x00" }, false},
		{"abstract", func(r *Remembered) { r.Text.Abstract = han(4000) }, true},
		{"abstract", func(r *Remembered) { r.Text.Abstract = han(4001) }, false},
		{"overview", func(r *Remembered) { r.Text.Overview = han(16000) }, true},
		{"overview", func(r *Remembered) { r.Text.Overview = han(16001) }, false},

		{"scopes", func(r *Remembered) { r.Scopes = many(32, team) }, true},
		{"scopes", func(r *Remembered) { r.Scopes = many(33, team) }, false},
		{"scopes", func(r *Remembered) { r.Scopes = []Scope{} }, false},
		{"scopes[1]", func(r *Remembered) { r.Scopes = []Scope{"team:x", "team:x"} }, false},
		{"scopes[1]", func(r *Remembered) { r.Scopes = []Scope{"team:x", "team:X"} }, true},
		{"scopes[0]", func(r *Remembered) { r.Scopes = []Scope{"public:everyone"} }, false},
		{"owner", func(r *Remembered) { r.Owner = "user:a b" }, false},
		{"owner", func(r *Remembered) { r.Owner = "public" }, false},

		{"tags", func(r *Remembered) { r.Text.Tags = Tags{Labels: many(64, func(int) string { return "v" })} }, true},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{Labels: many(65, func(int) string { return "v" })} }, false},
		{"tags", func(r *Remembered) {
			r.Text.Tags = Tags{}
			for i := range 65 {
				r.Text.Tags[fmt.Sprint("key", i)] = nil
			}
		}, false},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{han(256): {han(256)}} }, true},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{han(257): {"v"}} }, false},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{"k": {han(257)}} }, false},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{"": {"v"}} }, false},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{"k": {"\x00"}} }, false},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{"k": {""}} }, false},
		{"tags", func(r *Remembered) { r.Text.Tags = Tags{Labels: {"v", ""}} }, false},

		{"meta", func(r *Remembered) { r.Text.Meta = meta(16 << 10) }, true},
		{"meta", func(r *Remembered) { r.Text.Meta = meta(16<<10 + 1) }, false},
		{"meta", func(r *Remembered) { r.Text.Meta = append(meta(16<<10), "   \n"...) }, true},
		{"meta", func(r *Remembered) { r.Text.Meta = json.RawMessage(`[]`) }, false},
		{"meta", func(r *Remembered) { r.Text.Meta = json.RawMessage(`{`) }, false},
		{"meta", func(r *Remembered) { r.Text.Meta = json.RawMessage(`null`) }, true},
		{"meta", func(r *Remembered) { r.Text.Meta = json.RawMessage(`{"a":"\u0000"}`) }, false},
		{"meta", func(r *Remembered) { r.Text.Meta = json.RawMessage(`{"a":"\\\u0000"}`) }, false},
		{"meta", func(r *Remembered) { r.Text.Meta = json.RawMessage(`{"a":"\\u0000"}`) }, true},

		{"uri", func(r *Remembered) { r.Text.URI = "viking://" + ascii(1024-9) }, true},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://" + ascii(1024-8) }, false},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://用户/记忆.md" }, true},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://" }, false},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://a b" }, true},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://a /b" }, false},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://a\n" }, false},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://a/../b" }, false},
		{"uri", func(r *Remembered) { r.Text.URI = "viking://a/..b/.c" }, true},
		{"uri", func(r *Remembered) { r.Text.URI = "https://example.org" }, false},

		{"source.name", func(r *Remembered) { r.Source.Name = han(256) }, true},
		{"source.name", func(r *Remembered) { r.Source.Name = han(257) }, false},
		{"source.category", func(r *Remembered) { r.Source.Category = han(257) }, false},
		{"source.agent_id", func(r *Remembered) { r.Source.AgentID = han(257) }, false},
		{"source.submitted_by", func(r *Remembered) { r.Source.SubmittedBy = "\x00" }, false},
		{"source.trace_id", func(r *Remembered) { r.Source.TraceID = han(257) }, false},
		{"source.urls", func(r *Remembered) {
			r.Source.URLs = many(32, func(i int) string { return fmt.Sprint("https://example.org/", i) })
		}, true},
		{"source.urls", func(r *Remembered) {
			r.Source.URLs = many(33, func(i int) string { return fmt.Sprint("https://example.org/", i) })
		}, false},
		{"source.urls[0]", func(r *Remembered) { r.Source.URLs = []string{"https://" + ascii(2048-8)} }, true},
		{"source.urls[0]", func(r *Remembered) { r.Source.URLs = []string{"https://" + ascii(2048-7)} }, false},
		{"source.urls[0]", func(r *Remembered) { r.Source.URLs = []string{"/relative"} }, false},
		{"source.timestamp", func(r *Remembered) { r.Source.Timestamp = "2026-03-03" }, true},
		{"source.timestamp", func(r *Remembered) { r.Source.Timestamp = "2026-03-03T10:00:00+08:00" }, true},
		{"source.timestamp", func(r *Remembered) { r.Source.Timestamp = "2026-02-30" }, false},
		{"source.timestamp", func(r *Remembered) { r.Source.Timestamp = "yesterday" }, false},

		{"eval.helpful", func(r *Remembered) { r.Baseline = &Eval{Helpful: 1e9} }, true},
		{"eval.helpful", func(r *Remembered) { r.Baseline = &Eval{Helpful: 1e9 + 1} }, false},
		{"eval.helpful", func(r *Remembered) { r.Baseline = &Eval{Helpful: -1} }, false},
		{"eval.harmful", func(r *Remembered) { r.Baseline = &Eval{Harmful: -1} }, false},
		{"eval.confidence", func(r *Remembered) { r.Baseline = &Eval{Confidence: 1} }, true},
		{"eval.confidence", func(r *Remembered) { r.Baseline = &Eval{Confidence: 1.01} }, false},
		{"eval.confidence", func(r *Remembered) { r.Baseline = &Eval{Confidence: math.NaN()} }, false},
		{"eval.helpful_history", func(r *Remembered) { r.Baseline = &Eval{HelpfulHistory: make([]Use, 50)} }, true},
		{"eval.helpful_history", func(r *Remembered) { r.Baseline = &Eval{HelpfulHistory: make([]Use, 51)} }, false},
		{"eval.harmful_history[0].query", func(r *Remembered) { r.Baseline = &Eval{HarmfulHistory: []Use{{Query: han(2001)}}} }, false},
		{"eval.harmful_history[0].by", func(r *Remembered) { r.Baseline = &Eval{HarmfulHistory: []Use{{By: "nobody"}}} }, false},

		{"derived_from", func(r *Remembered) {
			r.DerivedFrom = many(1000, func(i int) string { return eventID(int64(i)) })
		}, true},
		{"derived_from", func(r *Remembered) {
			r.DerivedFrom = many(1001, func(i int) string { return eventID(int64(i)) })
		}, false},
		{"derived_from[0]", func(r *Remembered) { r.DerivedFrom = []string{"17"} }, false},

		{"type", func(r *Remembered) { r.Type = "novel" }, false},
		{"context_type", func(r *Remembered) { r.ContextType = "novel" }, false},
		{"category", func(r *Remembered) { r.Category = "novel" }, false},
		{"polarity", func(r *Remembered) { r.Polarity = "neutral" }, false},
		{"media", func(r *Remembered) { r.Media = "smell" }, false},
	} {
		command := remember(administrator())
		c.change(&command.Knowledge)
		_, err := command.Complete()
		want := []string{c.field}
		if c.valid {
			want = nil
		}
		if got := badFields(err); !slices.Equal(got, want) || err != nil && c.valid {
			t.Errorf("%s: bad fields %v, want %v", c.field, got, want)
		}
	}
}

func TestAnIDIsShortAndPlain(t *testing.T) {
	t.Parallel()
	for id, valid := range map[string]bool{
		"a": true, "0": true, "A.b_c~d-e": true, ascii(128): true,
		"": false, ascii(129): false, ".a": false, "-a": false, "a/b": false, "a b": false, "知": false, "a\n": false, "a\x00": false,
	} {
		command := remember(as(alice))
		command.ID = id
		if _, err := command.Complete(); (err == nil) != valid {
			t.Errorf("%q: got %v, want valid %t", id, err, valid)
		}
	}
}

func TestEveryBadFieldIsNamedAtOnceAndNoneThatNobodyGave(t *testing.T) {
	t.Parallel()
	given(t).when(Remember{By: as(alice), ID: "/", Visibility: "hidden", Knowledge: Remembered{
		Class:  Class{Type: "novel", ContextType: "novel", Category: "novel", Polarity: "novel", Media: "novel"},
		Scopes: []Scope{"everybody"}, Owner: "nobody",
		Source:   Source{URLs: []string{"x"}, Timestamp: "x"},
		Baseline: &Eval{Helpful: -1, Confidence: 2},
		Text:     Text{Task: "\x00", Meta: json.RawMessage("1"), URI: "x", Tags: Tags{"": nil}},
	}}).invalid("id", "type", "category", "polarity", "task", "content", "tags", "meta", "context_type", "media",
		"scopes[0]", "owner", "visibility", "source.urls[0]", "source.timestamp", "eval.helpful", "eval.confidence", "uri")
	// Scopes and URI follow from the owner: its fault is not theirs.
	given(t).when(remember(as(alice), func(c *Remember) { c.Knowledge.Owner = "nobody at all" })).invalid("owner")

	given(t, remembered()).when(Revise{
		Target: on(as(alice)), Visibility: "hidden", Scopes: []Scope{"everybody"}, Owner: "nobody", URI: "x",
		Changes: Revised{
			Reclassed: Reclassed{Type: new(Type("")), Category: new(Category("novel")), Polarity: new(Polarity(""))}, Task: new("\x00"), Content: new(""), Abstract: new("\xff"), Overview: new(han(16001)),
			Tags: new(Tags{"": nil}), Meta: new(json.RawMessage("1")),
		},
	}).invalid("type", "category", "polarity", "task", "content", "abstract", "overview", "tags", "meta",
		"scopes[0]", "owner", "uri", "visibility")
}

func TestReasonsAreShortAndReadable(t *testing.T) {
	t.Parallel()
	for _, command := range []func(reason string) Command{
		func(reason string) Command { return ReportStale{Target: on(as(alice)), Reason: reason} },
		func(reason string) Command { return Confirm{Target: on(as(alice)), Reason: reason} },
		func(reason string) Command { return Supersede{Target: on(as(alice)), Successor: "k2", Reason: reason} },
		func(reason string) Command { return Delete{Target: on(as(alice)), Reason: reason} },
		func(reason string) Command { return Restore{Target: on(as(alice)), Reason: reason} },
	} {
		story := given(t, remembered()).and("k2", successor())
		story.when(command(han(2001))).invalid("reason")
		story.when(command("\x00")).invalid("reason")
		if story.when(command(han(2000))); story.err != nil {
			t.Errorf("%T: %v", command(""), story.err)
		}
	}
}

// What is refused may be a secret that was pasted into the wrong field: it must not travel on
// into answers and logs.
func TestNoRefusalRepeatsWhatWasGiven(t *testing.T) {
	t.Parallel()
	const secret = "sk-VERY-SECRET"
	hidden := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: not refused", what)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: repeated in %q", what, err)
		}
	}
	bad := secret + " \x00"
	_, err := Remember{By: as(alice), ID: bad, Visibility: secret, Knowledge: Remembered{
		Class:  Class{Type: secret, ContextType: secret, Category: secret, Polarity: secret, Media: secret},
		Scopes: []Scope{secret, "user:" + Scope(bad)}, Owner: secret,
		Source: Source{
			Name: bad, Category: bad, URLs: []string{secret, "http://[" + secret, "%" + secret}, AgentID: bad,
			SubmittedBy: bad, Timestamp: secret, TraceID: bad,
		},
		Baseline:    &Eval{HelpfulHistory: []Use{{Query: bad, TraceID: bad, Outcome: bad, By: secret}}},
		DerivedFrom: []string{secret},
		Text: Text{
			Task: bad, Content: bad, Abstract: bad, Overview: bad, Tags: Tags{bad: {bad}},
			Meta: json.RawMessage(secret), URI: secret,
		},
	}}.Complete()
	hidden("remember", err)
	hidden("feedback", GiveFeedback{Verdict: secret, Query: bad, TraceID: bad, Outcome: bad}.Validate())
	hidden("retraction", RetractFeedback{EventID: secret}.Validate())
	hidden("successor", Supersede{Successor: bad}.Validate())
	_, err = Search{
		By: as(alice), Text: bad, Order: secret, Context: Context{Given: true, Entities: []Entity{secret}},
		Filter: Filter{
			Types: []Type{secret}, ContextTypes: []ContextType{secret}, Categories: []Category{secret}, Tags: Tags{bad: {bad}},
			Owner: secret, Scope: secret, Visibility: secret, URIPrefix: bad, Polarity: secret, TraceID: bad, Statuses: []Status{secret},
		},
	}.Complete()
	hidden("search", err)
	if got := len(badFields(err)); got != 15 {
		t.Errorf("search: %d bad fields, want 15: %v", got, badFields(err))
	}
}
