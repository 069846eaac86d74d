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

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/embedding"
)

// page has a table for each request.
const page = "docs/architecture.md"

// request is a request to trace. It follows several warm requests.
type request struct {
	name, path, warm, body string

	wait string // what the first requests add to the path
}

var requests = []request{
	{
		name: "remember", path: "/v1/knowledge",
		warm: `{"type":"strategy","content":"Roll back first, then look for the cause."}`,
		// An id that the server makes may have digits in which a scrubber looks for numbers of people.
		body: `{"id":"then","type":"strategy","content":"Retry with backoff when the gateway answers 503."}`,
	},
	{
		name: "search", path: "/v1/search",
		warm: `{"query":"what to do first"}`,
		body: `{"query":"when to retry"}`, wait: "?min_position=3&max_wait=25",
	},
}

func main() {
	update := flag.Bool("update", false, "write the tables into "+page)
	flag.Parse()
	if err := run(database.ForEveryTenant(context.Background()), os.Stdout, *update); err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, update bool) (err error) {
	dir, err := os.MkdirTemp("", "annals-trace")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	service, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if err := warm(ctx, service); err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	tables := string(text)
	for _, r := range requests {
		executed, err := r.trace(ctx, service.API.Handler(), filepath.Join(dir, r.name))
		if err != nil {
			return err
		}
		executed.print(out, r.name)
		if tables = executed.replaceIn(tables, r.name); !strings.Contains(tables, executed.table()) {
			return fmt.Errorf("%s has no table for %s", page, r.name)
		}
	}
	switch {
	case tables == string(text):
		return nil
	case !update:
		return fmt.Errorf("%s has other tables: make trace UPDATE=1 writes them", page)
	}
	return os.WriteFile(page, []byte(tables), 0o644)
}

// open opens the server of annals serve with its defaults, whatever the environment says.
func open(ctx context.Context, dir string) (*serve.Service, error) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "ANNALS_") {
			_ = os.Unsetenv(name)
		}
	}
	var cfg serve.Config
	if _, err := kong.Must(&cfg, terminal.NumberMappers()...).Parse(nil); err != nil {
		return nil, err
	}
	cfg.Storage = serve.Storage{Data: dir}
	return serve.OpenService(ctx, cfg.Complete(), embedding.Builtin{}, nil, slog.New(slog.DiscardHandler))
}

// warm sends every request a few times, until a search finds the items by meaning, too. It ends the background work,
// whose functions would be counted now and then.
func warm(ctx context.Context, service *serve.Service) error {
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- service.Work(working) }()
	var err error
	for _, r := range requests {
		for range 3 {
			err = errors.Join(err, r.send(ctx, service.API.Handler(), r.path+r.wait, r.warm))
		}
	}
	stop()
	return errors.Join(err, <-ended)
}

// trace sends the request to a warm server, and reads in dir what it executed.
func (r request) trace(ctx context.Context, handler http.Handler, dir string) (executed, error) {
	if err := r.send(ctx, handler, r.path, r.warm); err != nil { // what is kept for a second is read again
		return nil, err
	}
	if err := coverage.ClearCounters(); err != nil {
		return nil, fmt.Errorf("run it with make trace: %w", err)
	}
	err := errors.Join(r.send(ctx, handler, r.path, r.body),
		os.Mkdir(dir, 0o755), coverage.WriteMetaDir(dir), coverage.WriteCountersDir(dir))
	if err != nil {
		return nil, err
	}
	return executedIn(ctx, dir)
}

func (r request) send(ctx context.Context, handler http.Handler, path, body string) error {
	recorder := httptest.NewRecorder()
	message := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	message.Host = "localhost"
	message.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(recorder, message)
	if recorder.Code >= http.StatusBadRequest {
		return fmt.Errorf("%s: %d %s", r.name, recorder.Code, recorder.Body)
	}
	return nil
}
