package client_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/sessions"
	"github.com/annals-kb/annals/viking"
)

// serve is annals serve, in the process of the examples.
func serve() (url string, stop func()) {
	ctx := context.Background()
	directory, err := os.MkdirTemp("", "annals-example")
	check(err)
	db, err := database.Open(ctx, "sqlite:"+filepath.Join(directory, "annals.db"), slog.New(slog.DiscardHandler))
	check(err)
	check(database.Migrate(ctx, db))
	base, err := projections.Open(ctx, db, projections.Settings{})
	check(err)
	book := follow.NewLog(db, base, events.Options{})
	past, err := projections.OpenPast(ctx, base, book)
	check(err)
	surface := viking.New(viking.Config{Writer: book, Sessions: sessions.Sessions{Log: book}})
	paths, public := viking.Paths()
	server := httptest.NewServer(annalshttp.New(annalshttp.Config{
		Writer: book, Historian: book, Reporter: browse.Reports{Browser: base.Browser, Log: book.Log},
		Reader: projections.Reader{Knowledge: base, Past: past, Log: book},
		Mounts: []annalshttp.Mount{{
			Paths: paths, Public: public, Handler: surface.Answer, Refuse: surface.Refuse,
			As: viking.As,
		}},
	}).Handler())
	return server.URL, func() {
		server.Close()
		check(book.Close(ctx))
		check(db.Close())
		check(os.RemoveAll(directory))
	}
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}

// Remember something, and find it again.
func Example() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()

	annals, err := client.New(client.Config{Server: url, Actor: "agent:crawler", OnBehalfOf: "user:alice"})
	check(err)
	defer annals.Close()

	_, err = annals.Remember(ctx, client.Knowledge{
		ID: "retry-429", Type: "strategy", Task: "calling rate-limited APIs", Content: "Retry 429s with jitter",
	})
	check(err)

	found, err := annals.Search(ctx, client.Search{Query: "how do I call a rate-limited API?"})
	check(err)
	for _, hit := range found.Items {
		fmt.Println(hit.Scope, hit.Knowledge.Content)
	}

	judged, err := annals.GiveFeedback(ctx, "retry-429", client.Vote{Verdict: "helpful", TraceID: "run-1"})
	check(err)
	fmt.Printf("confidence %.2f\n", *judged.Knowledge.Eval.Confidence)
	// Output:
	// user:alice Retry 429s with jitter
	// confidence 0.75
}

// Give an agent what is known before a task, and tell what came of it.
func ExampleAgent() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()

	annals, err := client.New(client.Config{Server: url})
	check(err)
	defer annals.Close()
	_, err = annals.Remember(ctx,
		client.Knowledge{ID: "chromedriver", Category: "tools", Content: "chromedriver 124 needs Chrome 124"})
	check(err)

	agent := client.NewAgent(client.AgentConfig{Client: annals})
	known := agent.Before(ctx, "crawl example.com with chromedriver", nil)
	prompt := []client.Message{{Role: "system", Content: known.Injection}, {Role: "user", Content: "crawl example.com"}}
	fmt.Print(prompt[0].Content)

	prompt = known.Strip(prompt) // from the second step on
	fmt.Println(len(prompt), "message left")

	agent.Failed(ctx, client.Outcome{
		TaskID: "crawl-7", Task: "crawl example.com",
		Failure: "chromedriver does not start", Tools: []string{"shell", "chromedriver"},
	})
	fmt.Println(agent.Stats().FeedbackStatus)
	// Output:
	// ## Tools
	//
	// - chromedriver 124 needs Chrome 124 <viking://user/default/memories/tools/chromedriver.md>
	// 1 message left
	// committed
}

// Without a server an agent works on.
func ExampleAgent_away() {
	annals, err := client.New(client.Config{Server: "http://127.0.0.1:1"})
	check(err)
	agent := client.NewAgent(client.AgentConfig{Client: annals})
	known := agent.Before(context.Background(), "crawl example.com", nil)
	fmt.Printf("%q, %d missed\n", known.Injection, agent.Stats().Missed)
	// Output:
	// "", 1 missed
}

// Let knowledge be made of a conversation while it goes on.
func ExampleConversation() {
	url, stop := serve()
	defer stop()

	annals, err := client.New(client.Config{Server: url})
	check(err)
	defer annals.Close()
	talk := client.NewConversation(client.ConversationConfig{Client: annals, Session: "chat-7", Pause: 30 * time.Second})
	talk.Store([]client.Message{{Role: "user", Content: "I prefer tabs."}, {Role: "assistant", Content: "Noted."}})
	fmt.Println(talk.Close(context.Background()))
	// Output:
	// <nil>
}

// What a server refuses says why.
func ExampleError() {
	url, stop := serve()
	defer stop()

	annals, err := client.New(client.Config{Server: url})
	check(err)
	defer annals.Close()
	_, err = annals.Remember(context.Background(), client.Knowledge{Type: "lunch", Content: "soup"})
	fmt.Println(err)
	// Output:
	// Some fields are not right: type must be one of user_profile, strategy, tool, usecase, definition, plan
}

// Push a skill that an agent has learned, so that others find it, and ask what has been done.
func ExampleAgent_PushSkills() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()

	annals, err := client.New(client.Config{Server: url})
	check(err)
	defer annals.Close()
	agent := client.NewAgent(client.AgentConfig{Client: annals, Scopes: []string{"public"}})
	skill := client.Skill{
		Name: "sales-dashboard-builder", Description: "Build dashboards from xlsx",
		Content: "# Steps\n\n1. Read the sheet.",
	}
	fmt.Println(agent.PushSkills(ctx, skill), "pushed")

	before := agent.Before(ctx, "build the sales dashboard",
		[]client.Message{{Role: "user", Content: "from sales.xlsx, please"}})
	fmt.Print(before.Hints)
	stats := agent.Stats()
	fmt.Println(stats.Query)
	fmt.Println(stats.PushedSkills, "pushed,", stats.HitCounts["skills"], "found")
	// Output:
	// 1 pushed
	// Skill that fits: sales-dashboard-builder: Build dashboards from xlsx
	// build the sales dashboard
	// Prior user turns: from sales.xlsx, please
	// 1 pushed, 1 found
}

// Tell what worked, and find out what is known when something fails.
func ExampleAgent_Analysis() {
	url, stop := serve()
	defer stop()
	ctx := context.Background()

	annals, err := client.New(client.Config{Server: url})
	check(err)
	defer annals.Close()
	_, err = annals.Remember(ctx,
		client.Knowledge{ID: "xlsx", Category: "tools", Content: "xlsx_to_csv works for .xlsx and fails for .xlsm"})
	check(err)

	agent := client.NewAgent(client.AgentConfig{Client: annals})
	fmt.Print(agent.Analysis(ctx, "make the sales dashboard", "xlsx_to_csv: cannot open sales.xlsm"))
	told := agent.Succeeded(ctx, client.Outcome{
		TaskID: "dashboard-8", Task: "make the sales dashboard", Response: "It is in out/dashboard.html.",
		Tools: []string{"xlsx_to_csv", "python"},
	})
	fmt.Println(told, agent.Stats().FeedbackStatus)
	// Output:
	// ## Tools
	//
	// - xlsx_to_csv works for .xlsx and fails for .xlsm <viking://user/default/memories/tools/xlsx.md>
	// true committed
}

// A question is composed of the task and of what the user said last.
func ExampleComposeQuery() {
	fmt.Println(client.ComposeQuery("make the sales dashboard", []client.Message{
		{Role: "user", Content: "bars, not lines"}, {Role: "assistant", Content: "Which colours?"}, {
			Role:    "user",
			Content: "teal",
		},
	}))
	// Output:
	// make the sales dashboard
	// Prior user turns: bars, not lines || teal
}
