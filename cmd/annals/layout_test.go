package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/embedding"
)

// anything is a piece of knowledge that somebody may remember. Ids are given, so that the same can be found again.
func anything(number int) *rapid.Generator[map[string]any] {
	word := rapid.StringMatching(`[a-zA-Z0-9 \n"'<>&\\{}\[\]说明，。é#-]{1,60}`)
	content := rapid.OneOf(
		rapid.Map(word, func(s string) string { return "x" + s }),
		rapid.SampledFrom([]string{"\u200b.", "\ufeffx", "=1+1\r\n", "---  \n", " \ufffd\t"}))
	entity := rapid.SampledFrom([]string{
		"user:alice", "user:Bob.2@x", "agent:crawler_ops", "team:pay", "project:456",
		"org:acme",
	})
	scope := rapid.OneOf(entity, rapid.Just("public"))
	return rapid.Custom(func(t *rapid.T) map[string]any {
		k := map[string]any{
			"id": fmt.Sprintf("k%03d", number), "content": content.Draw(t, "content"), "type": string(rapid.SampledFrom(domain.Types).Draw(t, "type")),
			"owner": entity.Draw(t, "owner"), "scopes": rapid.SliceOfNDistinct(scope, 1, 4, rapid.ID[string]).Draw(t, "scopes"),
		}
		may := func(field string, value any) {
			if rapid.Bool().Draw(t, field) {
				k[field] = value
			}
		}
		may("task", word.Draw(t, "task"))
		may("abstract", word.Draw(t, "abstract"))
		may("overview", word.Draw(t, "overview"))
		may("category", string(rapid.SampledFrom(domain.Categories).Draw(t, "category")))
		may("polarity", "negative")
		may("context_type", string(rapid.SampledFrom(domain.ContextTypes).Draw(t, "context")))
		may("tags", map[string]any{
			"category": rapid.SampledFrom([]string{"preference", "habit", "constraint", "background"}).Draw(t, "tag"),
			"其他":       []string{"a", "x" + word.Draw(t, "label")},
		})
		may("meta", map[string]any{
			"number": rapid.Int().Draw(t, "number"), "none": nil,
			"deep": map[string]any{"x": []any{1.5, "y", true}},
		})
		may("source", map[string]any{
			"name": word.Draw(t, "name"), "urls": []string{"https://example.com/?a=b&c"}, "timestamp": "2026-03-03",
			"trace_id": "t-1", "agent_id": "a", "category": "exp",
		})
		may("occurred_at", "2026-03-03T01:02:03.123456Z")
		may("uri", fmt.Sprintf("viking://resources/k%03d.md", number))
		helpful := rapid.IntRange(0, 9).Draw(t, "helpful")
		history := make([]map[string]any, rapid.IntRange(0, helpful).Draw(t, "uses"))
		for i := range history {
			history[i] = map[string]any{
				"query": word.Draw(t, "query"), "trace_id": fmt.Sprint(i), "outcome": "worked",
				"by": "user:alice", "at": "2026-03-03T01:02:03Z",
			}
		}
		may("eval", map[string]any{
			"helpful": helpful, "harmful": rapid.IntRange(0, 3).Draw(t,
				"harmful"), "confidence": float64(rapid.IntRange(0, 1000).Draw(t, "confidence")) / 1000,
			"helpful_history": history,
		})
		return k
	})
}

// here serves a database in this process.
func here(t *testing.T, url string) string {
	t.Helper()
	cfg := serve.Config{
		Storage: serve.Storage{Database: url, Data: t.TempDir()}, LogName: "annals",
		Scrub: "off",
	}.Complete()
	service, err := serve.OpenService(t.Context(), cfg, embedding.Builtin{}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service.API.Handler())
	working, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	worked := make(chan error, 1)
	go func() { worked <- service.Work(working) }()
	t.Cleanup(func() {
		server.Close()
		stop()
		if err := errors.Join(<-worked, service.Close()); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

// annals runs a command, which must end well.
func annals(t *testing.T, args ...string) {
	t.Helper()
	var said bytes.Buffer
	c := &terminal.Console{In: bytes.NewReader(nil), Out: &said, Err: &said, Styled: &said, Width: 100}
	if code := run(context.WithoutCancel(t.Context()), args, c); code != terminal.ExitOK {
		t.Fatalf("annals %q: exit code %d\n%s", args, code, &said)
	}
}

// tree is what lies in a directory, by name.
func tree(t *testing.T, directory string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(directory), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(directory, name))
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Whatever is remembered lies in files, and is from there remembered elsewhere so that the files are the same.
func TestFilesLoseNothing(t *testing.T) {
	eachEngine(t, func(t *testing.T, _ database.Engine, newDatabase func(testing.TB) string) {
		first, second := here(t, newDatabase(t)), here(t, newDatabase(t))
		lines, exported, again := filepath.Join(t.TempDir(), "all.ndjson"), filepath.Join(t.TempDir(),
			"a"), filepath.Join(t.TempDir(), "b")
		var all bytes.Buffer
		encoder := json.NewEncoder(&all)
		known := map[string]map[string]any{}
		for i := range 150 {
			k := anything(i).Example(i)
			known[k["id"].(string)] = k
			if err := encoder.Encode(k); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(lines, all.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		annals(t, "import", lines, "--server", first)
		annals(t, "export", "files", exported, "--server", first)
		annals(t, "import", exported, "--server", second)
		annals(t, "export", "files", again, "--server", second)
		written := tree(t, exported)
		servertest.Same(t, tree(t, again), written)
		for name, content := range written {
			var items []map[string]any
			if err := json.Unmarshal([]byte(content), &items); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, item := range items {
				id := item["id"].(string)
				for field, value := range known[id] {
					if diff := cmp.Diff(plainly(t, item[field]),
						plainly(t, value)); diff != "" && !slices.Contains([]string{"tags", "eval"}, field) {
						t.Errorf("%s, %s of %s: %s", name, field, id, diff)
					}
				}
				delete(known, id)
			}
		}
		if len(known) > 0 {
			t.Errorf("%d are in no file", len(known))
		}
		annals(t, "export", "files", again, "--replace", "--server", second, "--type", "tool")
		for name := range tree(t, again) {
			servertest.Same(t, filepath.Base(name), "tools.json", name)
		}
	})
}

func plainly(t *testing.T, value any) any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	if list, is := plain.([]any); is {
		slices.SortFunc(list, func(a, b any) int { return bytes.Compare(fmt.Append(nil, a), fmt.Append(nil, b)) })
	}
	return plain
}
