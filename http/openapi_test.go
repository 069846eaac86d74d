package http_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/mcp" // part: mcp
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/servertest"
)

var update = flag.Bool("update", false, "write golden files")

// described is the API with its examples.
func described(t *testing.T) *huma.OpenAPI {
	t.Helper()
	described, _, err := whole().Described()
	if err != nil {
		t.Fatal(err)
	}
	return described
}

// whole is a server with every operation.
func whole() *annalshttp.Server {
	cfg := servertest.Config{}
	cfg.Version = "0.0.0"
	cfg.Rooms = append(cfg.Rooms, mcp.Room{}) // part: mcp
	return cfg.New()
}

func TestTheDescriptionIsTheOneThatWasReviewed(t *testing.T) {
	t.Parallel()
	const golden = "testdata/openapi.yaml"
	api := described(t)
	for _, item := range api.Paths { // the examples change with every run that records them
		for _, op := range serve.OperationsOf(item) {
			op.Extensions = nil
			for _, response := range op.Responses {
				dropExamples(response.Content)
			}
			if op.RequestBody != nil {
				dropExamples(op.RequestBody.Content)
			}
		}
	}
	got, err := api.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(want), "\n")); diff != "" {
		t.Errorf("go test ./http -update writes it anew:\n%s", diff)
	}
}

func dropExamples(content map[string]*huma.MediaType) {
	for _, media := range content {
		media.Example = nil
	}
}

func TestEveryRouteIsDescribedAndEveryDescriptionIsARoute(t *testing.T) {
	t.Parallel()
	var described []string
	server := whole()
	routes := server.Patterns()
	for i, route := range routes {
		routes[i] = regexp.MustCompile(`:(\w+)`).ReplaceAllString(route, "{$1}")
	}
	all, _, err := server.Described()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range all.Paths {
		if path == "/mcp" { // cmd/annals mounts it
			continue
		}
		for _, op := range serve.OperationsOf(item) {
			described = append(described, op.Method+" "+path)
		}
	}
	slices.Sort(routes)
	slices.Sort(described)
	if diff := cmp.Diff(routes, described); diff != "" {
		t.Error(diff)
	}
}

// Pages for people, metrics, dumps of the process and this description itself need no example.
func TestEveryOperationHasAnExampleOfARequestAndAnAnswer(t *testing.T) {
	t.Parallel()
	for path, item := range described(t).Paths {
		for _, op := range serve.OperationsOf(item) {
			pages := []string{"docs", "llms", "metrics", "openapi-json", "openapi-yaml"}
			if slices.Contains(pages, op.OperationID) || strings.HasPrefix(op.OperationID, "debug-") {
				continue
			}
			answered := false
			for status, response := range op.Responses {
				for _, content := range response.Content {
					answered = answered || content.Example != nil
				}
				answered = answered || status == "204"
			}
			body := op.RequestBody == nil || !op.RequestBody.Required
			if !body {
				for _, content := range op.RequestBody.Content {
					body = body || content.Example != nil
				}
			}
			if request, _ := op.Extensions["x-example-request"].(string); request == "" || !body || !answered {
				t.Errorf("%s %s lacks one: request %q, body %t, answer %t", op.Method, path, request, body, answered)
			}
		}
	}
}

func TestTheDescribedWordsAreTheDomains(t *testing.T) {
	t.Parallel()
	words := map[string]string{
		"type": fmt.Sprint(domain.Types), "context_type": fmt.Sprint(domain.ContextTypes),
		"category": fmt.Sprint(domain.Categories), "polarity": fmt.Sprint(domain.Polarities),
		"media": fmt.Sprint(domain.MediaTypes), "verdict": fmt.Sprint(domain.Verdicts),
		"visibility": fmt.Sprint([]domain.Visibility{domain.Private, domain.Shared, domain.OrgWide, domain.PublicWide}),
		"order":      fmt.Sprint([]domain.Order{domain.ByPriority, domain.ByScore}),
		"stage":      fmt.Sprint(domain.Stages), "kind": fmt.Sprint(domain.Aspects),
	}
	for _, body := range []any{api.Knowledge{}, serve.Patch{}, api.Filter{}, api.Search{}, api.Vote{}, serve.Filtering{}, api.ContextRequest{}, api.ContextAnswer{}, api.ContextItem{}} {
		described := reflect.TypeOf(body)
		for f := range described.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json")+f.Tag.Get("query"), ",")
			enum := f.Tag.Get("enum")
			if want, ok := words[name]; ok && enum != "" {
				if got := "[" + strings.ReplaceAll(enum, ",", " ") + "]"; got != want {
					t.Errorf("%s.%s: described as %s, is %s", described, name, got, want)
				}
			}
		}
	}
}

func TestThePageForPeopleNeedsNothingButItself(t *testing.T) {
	t.Parallel()
	_, page, err := whole().Described()
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []string{"<script", "@import", "url(", "<link", "src=", "%!"} {
		if bytes.Contains(page, []byte(forbidden)) {
			t.Errorf("the page has %q", forbidden)
		}
	}
	for _, wanted := range []string{"/v1/knowledge/{id}/supersede", "prefers-color-scheme: dark", `id="type-Problem"`, "Authorization: Bearer $ANNALS_KEY", "X-API-Key", "Needs no key", "user_profile", "string or integer", "Annals-Receipt", "Idempotent-Replayed", "Retry-After", "/mcp", "/api/v1", "width=device-width"} {
		if !bytes.Contains(page, []byte(wanted)) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllSubmatch(page, -1) {
		if !bytes.Contains(page, []byte(`id="`+string(link[1])+`"`)) {
			t.Errorf("a link leads nowhere: %s", link[1])
		}
	}
}
