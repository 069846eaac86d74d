package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/client"
)

func TestAnAgentIsEnrichedBeforeDuringAndAfterATask(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for category, content := range map[string]string{
			"preferences": "Prefers teal bars on the sales dashboard", "tools": "xlsx_to_csv for the sales dashboard fails " +
				"with .xlsm", "antipatterns": "Do not parse the sales dashboard's xlsx by hand",
		} {
			if _, err := w.api.Remember(ctx, client.Knowledge{Category: category, Content: content}); err != nil {
				t.Fatal(err)
			}
		}
		agent := client.NewAgent(client.AgentConfig{Client: w.api, MinScore: new(0.01)})
		history := []client.Message{{Role: "user", Content: "the weekly dashboard"}, {Role: "assistant", Content: "which?"}}
		before := agent.Before(ctx, "make the sales dashboard", history)
		if !strings.Contains(before.Injection, "## Pitfalls") || !strings.Contains(before.Hints, "teal") ||
			before.Query != "make the sales dashboard\nPrior user turns: the weekly dashboard" {
			t.Errorf("got %+v", before)
		}
		if diff := cmp.Diff(before.Avoid, []string{"Do not parse the sales dashboard's xlsx by hand"}); diff != "" {
			t.Error(diff)
		}
		prompt := []client.Message{
			{Role: "system", Content: "Be brief"},
			{Role: "system", Content: before.Injection},
			{Role: "user", Content: before.Injection},
		}
		if diff := cmp.Diff(before.Strip(prompt), []client.Message{prompt[0], prompt[2]}); diff != "" || len(prompt) != 3 {
			t.Error(diff)
		}
		if during := agent.During(ctx, "dashboard with xlsm"); !strings.Contains(during.Injection, "xlsx_to_csv") {
			t.Errorf("got %+v", during)
		}
		if start := agent.Start(ctx, ""); !strings.Contains(start.Injection, "teal") {
			t.Errorf("got %+v", start)
		}
		if analysis := agent.Analysis(ctx, "dashboard", "xlsx_to_csv: cannot open"); !strings.Contains(analysis,
			"xlsx_to_csv") {
			t.Errorf("got %s", analysis)
		}
		stats := agent.Stats()
		if stats.Query != before.Query || stats.HitCounts["antipatterns"] != 1 || stats.EnrichmentChars == 0 ||
			!stats.AnalysisContextUsed || stats.Missed != 0 {
			t.Errorf("got %+v", stats)
		}
	})
}

func TestAnAgentTellsWhatWorkedAndWhatDidNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		agent := client.NewAgent(client.AgentConfig{
			Client: w.api, Sessions: "openspace",
			Environment: map[string]string{"chrome": "124"},
		})
		var tools []string
		for i := range 40 {
			tools = append(tools, fmt.Sprintf("tool-%d", i))
		}
		skill := client.Skill{
			Name: "sales dashboard", Description: "Builds dashboards",
			Content: "# Steps\n\n1. Read the sheet.",
		}
		if !agent.Succeeded(ctx, client.Outcome{
			TaskID: "42", Task: "make it", Response: "made", Tools: tools,
			Skills: []client.Skill{skill},
		}) {
			t.Error("it was not told")
		}
		said := w.said("openspace-evo-42")
		if len(said) != 6 || said[0] != "user: make it" || said[1] != "assistant: Final response: made" ||
			said[5] != "commit" ||
			!strings.HasSuffix(said[2], "→ tool-29") || !strings.Contains(said[3],
			"Environment: arch=") || !strings.Contains(said[3], "chrome=124") ||
			said[4] != "assistant: Skill 'sales dashboard' evolved: Builds dashboards" {
			t.Errorf("got %q", said)
		}
		if !agent.Failed(ctx, client.Outcome{TaskID: "42", Task: "make it", Failure: "chromedriver does not start"}) {
			t.Error("it was not told")
		}
		said = w.said("openspace-neg-42")
		if len(said) != 5 || !strings.HasPrefix(said[0],
			"assistant: POLARITY: negative") || said[2] != "assistant: Failure reason: chromedriver does not start" {
			t.Errorf("got %q", said)
		}
		for range 2 { // the second time nothing is new
			if pushed := agent.PushSkills(ctx, skill, client.Skill{Name: "empty"}); pushed != 1 {
				t.Errorf("pushed %d", pushed)
			}
		}
		k, err := w.api.Knowledge(ctx, w.skills()["sales dashboard"])
		if err != nil || k.ContextType != "skill" || !strings.Contains(string(k.Meta),
			`"chrome":"124"`) || k.Content != skill.Content {
			t.Errorf("got %+v, %v", k, err)
		}
		if stats := agent.Stats(); stats.FeedbackStatus != "committed" || stats.PushedSkills != 2 {
			t.Errorf("got %+v", stats)
		}
	})
}

// Names in Chinese, or of punctuation, are names; the skills of one are not those of another, and a team's are the
// team's.
func TestEverySkillIsItsOwn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for _, actor := range []string{"user:ann", "user:ben"} {
			api := w.client(client.Config{Actor: actor})
			own := client.NewAgent(client.AgentConfig{Client: api})
			if pushed := own.PushSkills(ctx, client.Skill{Name: "销售仪表盘", Content: actor},
				client.Skill{Name: "周报", Content: actor}, client.Skill{Name: "C", Content: actor}, client.Skill{
					Name:    "C++",
					Content: actor,
				}); pushed != 4 {
				t.Errorf("%s pushed %d", actor, pushed)
			}
			shared := client.NewAgent(client.AgentConfig{Client: api, Scopes: []string{"team:web"}})
			if pushed := shared.PushSkills(ctx, client.Skill{Name: "deploy", Content: actor}); pushed != 1 {
				t.Errorf("%s shared %d", actor, pushed)
			}
			for _, task := range []string{"任务一", "任务二"} {
				own.Failed(ctx, client.Outcome{TaskID: task, Failure: task})
			}
		}
		owners := map[string]int{}
		for k, err := range w.api.List(ctx, url.Values{"context_type": {"skill"}}) {
			if err != nil {
				t.Fatal(err)
			}
			owners[k.Owner]++
		}
		if diff := cmp.Diff(owners, map[string]int{"user:ann": 4, "user:ben": 4, "team:web": 1}); diff != "" {
			t.Error(diff)
		}
		if got := w.sessions("user:ann"); got != 2 {
			t.Errorf("two tasks make %d sessions", got)
		}
	})
}

// Whatever is wrong with the server, an agent works on as if there were none.
func TestAnAgentWithoutAMemoryWorksOn(t *testing.T) {
	t.Parallel()
	broken, _ := answering(t, 500, nil, `{"title":"broken"}`)
	garbled, _ := answering(t, 200, nil, `{"injection":`)
	odd, _ := answering(t, 200, nil, `[1,2,3]`)
	locked, _ := answering(t, 401, nil, `{"title":"who are you"}`)
	agents := map[string]*client.Agent{"without a client": client.NewAgent(client.AgentConfig{})}
	for name, url := range map[string]string{
		"away": "http://127.0.0.1:1", "broken": broken, "garbled": garbled,
		"odd": odd, "locked": locked,
	} {
		c, err := client.New(client.Config{Server: url, Retries: -1, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		agents[name] = client.NewAgent(client.AgentConfig{Client: c})
	}
	ctx := context.WithoutCancel(t.Context())
	for name, agent := range agents {
		if diff := cmp.Diff(agent.Before(ctx, "task", nil), client.Enrichment{}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		started, during, analysis := agent.Start(ctx, ""), agent.During(ctx, "goal"), agent.Analysis(ctx, "task")
		if started.Injection+during.Injection+analysis != "" {
			t.Errorf("%s: %v, %v, %q", name, started, during, analysis)
		}
		told := agent.Succeeded(ctx, client.Outcome{TaskID: "1"}) || agent.Failed(ctx, client.Outcome{TaskID: "1"})
		if told || agent.PushSkills(ctx, client.Skill{Name: "x", Content: "y"}) > 0 {
			t.Errorf("%s: something was told", name)
		}
		if stats := agent.Stats(); stats.FeedbackStatus != "failed" || stats.EnrichmentChars != 0 ||
			stats.AnalysisContextUsed {
			t.Errorf("%s: %+v", name, stats)
		}
	}
}

func TestAQuestionIsComposedOfTheTaskAndTheLastTurns(t *testing.T) {
	t.Parallel()
	turn := func(said string) client.Message { return client.Message{Role: "user", Content: said} }
	for want, c := range map[string]struct {
		task    string
		history []client.Message
	}{
		"":                    {},
		"task":                {"task", []client.Message{{Role: "assistant", Content: "x"}, turn("  ")}},
		"Prior user turns: a": {"", []client.Message{turn("a")}},
		"t\nPrior user turns: b || c || d": {
			"t",
			[]client.Message{turn("a"), turn("b"), {Role: "assistant", Content: "x"}, turn("c"), turn("d")},
		},
		strings.Repeat("说", 500): {strings.Repeat("说", 600), []client.Message{turn("a")}},
	} {
		if got := client.ComposeQuery(c.task, c.history); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAConversationIsStoredOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := client.NewConversation(client.ConversationConfig{Client: w.api, Session: "chat", Pause: time.Hour})
		say := func(role, content string) client.Message { return client.Message{Role: role, Content: content} }
		talk := []client.Message{
			say("system", "be brief"), say("user", "one"), say("assistant", "two"), say("user", ""),
			say("user", "three"), say("user", "three"), say("assistant", "four"), say("user", "five"),
		}
		c.Store(talk[:4])
		c.Store(talk)
		if got := w.said("chat"); got != nil {
			t.Errorf("stored before a pause: %q", got)
		}
		for range 2 { // the second time there is nothing new
			if err := c.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
		talk = append(talk, say("assistant", "six"), say("user", "seven"))
		c.Store(talk)
		if err := c.Close(ctx); err != nil {
			t.Fatal(err)
		}
		c.Store(append(talk, say("user", "after the end")))
		want := []string{
			"assistant: two", "user: three", "assistant: four", "user: five", "commit", "assistant: six",
			"user: seven", "commit",
		}
		if diff := cmp.Diff(w.said("chat"), want); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAConversationIsStoredWhenThereIsAPause(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := client.NewConversation(client.ConversationConfig{Client: w.api, Session: "chat", Pause: time.Millisecond})
		c.Store([]client.Message{{Role: "user", Content: "hello"}})
		databasetest.Until(t, "the conversation is stored", func() bool { return len(w.said("chat")) == 2 })
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
