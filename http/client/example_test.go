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

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/viking" // part: viking
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/sessions" // part: viking
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
	book, followers := follow.NewLog(db, base.Projection, events.Options{Selection: base.Browser})
	past, err := projections.OpenPast(ctx, base, book, followers)
	check(err)
	server := httptest.NewServer(annalshttp.New(annalshttp.Config{
		Writer: book, Historian: book.Reader, Watcher: book.Watchers, Finder: book.Finder,
		Browser: base.Browser, Searcher: base.Searcher, Reader: projections.Reader{Knowledge: base, Past: past, Log: book, Followers: followers},
		Mounts: []annalshttp.Mount{
			viking.Mount(viking.Config{Writer: book, Sessions: sessions.Sessions{Log: book, Followers: followers}}), // part: viking
		},
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
