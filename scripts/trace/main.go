package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/coverage"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/projections"
)

// count is how many functions and files a request executes.
type count struct{ functions, files int }

// request is a request to trace. It follows several warm requests.
type request struct {
	name, path, warm, body string
}

var requests = []request{
	{
		name: "remember", path: "/v1/knowledge",
		warm: `{"type":"strategy","content":"Roll back first, then look for the cause."}`,
		body: `{"type":"strategy","content":"Retry with backoff when the gateway answers 503."}`,
	},
	{
		name: "search", path: "/v1/search",
		warm: `{"query":"what to do first"}`,
		body: `{"query":"when to retry"}`,
	},
}

func main() {
	check := flag.Bool("check", false, "print the totals alone")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *check); err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, check bool) error {
	dir, err := os.MkdirTemp("", "annals-trace")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	handler, stop, err := serve(ctx, dir)
	if err != nil {
		return err
	}
	page, _ := os.ReadFile("docs/architecture.md") // no page has no tables
	var problems []error
	for _, r := range requests {
		counters := filepath.Join(dir, r.name)
		if err := r.execute(ctx, handler, counters); err != nil {
			return errors.Join(err, stop())
		}
		executed, err := executedIn(ctx, counters)
		if err != nil {
			return errors.Join(err, stop())
		}
		if !check {
			executed.print(out)
		}
		if !strings.Contains(string(page), executed.table()) {
			problems = append(problems, fmt.Errorf("docs/architecture.md has another table for %s", r.name))
		}
		total := executed.total()
		_, _ = fmt.Fprintf(out, "%s: %d functions in %d files\n", r.name, total.functions, total.files)
	}
	return errors.Join(errors.Join(problems...), stop())
}

// serve returns a handler on a new SQLite database in dir, without background work.
func serve(ctx context.Context, dir string) (http.Handler, func() error, error) {
	logger := slog.New(slog.DiscardHandler)
	db, err := database.Open(ctx, "sqlite:"+filepath.Join(dir, "annals.db"), logger)
	if err != nil {
		return nil, nil, err
	}
	if err := database.Migrate(ctx, db); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	knowledge, err := projections.Open(ctx, db, projections.Settings{})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	log := follow.NewLog(db, knowledge, events.Options{Logger: logger})
	stop := func() error { return errors.Join(log.Close(ctx), db.Close()) }
	past, err := projections.OpenPast(ctx, knowledge, log)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	server := annalshttp.New(annalshttp.Config{
		Writer: log, Historian: log, Finder: log.Finder,
		Reader:  projections.Reader{Knowledge: knowledge, Past: past, Log: log},
		Version: "trace", Logger: logger, Confine: database.ForTenant,
	})
	return server.Handler(), stop, nil
}

// execute sends the request to a warm server, and writes the counters to dir.
func (r request) execute(ctx context.Context, handler http.Handler, dir string) error {
	send := func(body string) error {
		recorder := httptest.NewRecorder()
		message := httptest.NewRequestWithContext(ctx, http.MethodPost, r.path, strings.NewReader(body))
		message.Host = "localhost"
		message.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(recorder, message)
		if recorder.Code >= http.StatusBadRequest {
			return fmt.Errorf("%s: %d %s", r.name, recorder.Code, recorder.Body)
		}
		return nil
	}
	for range 3 {
		if err := send(r.warm); err != nil {
			return err
		}
	}
	if err := coverage.ClearCounters(); err != nil {
		return fmt.Errorf("run it with make trace: %w", err)
	}
	sent := send(r.body)
	return errors.Join(sent, os.Mkdir(dir, 0o755), coverage.WriteMetaDir(dir), coverage.WriteCountersDir(dir))
}
