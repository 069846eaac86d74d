package http_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
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
	. "github.com/annals-kb/annals/http/servertest"
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
	cfg := Config{}
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
	routes = slices.DeleteFunc(routes, func(r string) bool { // redirects
		return strings.HasPrefix(r, "GET /v1/openapi.")
	})
	slices.Sort(routes)
	slices.Sort(described)
	if diff := cmp.Diff(routes, described); diff != "" {
		t.Error(diff)
	}
}

// Pages for people, files for auditors, metrics, dumps of the process and this description itself need no example.
func TestEveryOperationHasAnExampleOfARequestAndAnAnswer(t *testing.T) {
	t.Parallel()
	for path, item := range described(t).Paths {
		for _, op := range serve.OperationsOf(item) {
			pages := []string{"docs", "export-evidence", "llms", "metrics", "openapi-json", "openapi-yaml"}
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

// What the description says of each route about keys is what the server does.
func TestTheDescriptionSaysWhichRoutesNeedAKey(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		w.Admin()
		doc := w.Description().Doc
		Same(t, doc.Components.SecuritySchemes["bearer"].Value.Scheme, "bearer", "keys are described as")
		Same(t, doc.Components.SecuritySchemes["key"].Value.Name, "X-API-Key", "keys are described as")
		for path, item := range doc.Paths.Map() {
			for method, operation := range item.Operations() {
				security := doc.Security
				if operation.Security != nil {
					security = *operation.Security
				}
				answer := w.Ask(method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)
				Same(t, answer.Status == http.StatusUnauthorized, len(security) == 2, method, path, answer.Status, security)
			}
		}
	})
}

// What the server tells language models about itself works as written.
func TestWhatLanguageModelsAreToldWorks(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		text := string(w.Ask("GET", "/llms.txt", nil).Want(200).Body)
		var made struct{ ID string }
		item := w.Ask("POST", "/v1/knowledge", map[string]any{"type": "strategy", "content": "Retry 429s with jitter"}).Want(201)
		if err := json.Unmarshal(item.Body, &made); err != nil {
			t.Fatal(err)
		}
		examples := regexp.MustCompile("`(GET|POST|PATCH) (/[^`]+)`(?: with `([^`]+)`)?").FindAllStringSubmatch(text, -1)
		if len(examples) < 7 {
			t.Errorf("%d requests are told", len(examples))
		}
		for _, example := range examples {
			var body any
			if example[3] != "" {
				body = json.RawMessage(example[3])
			} else if example[1] == "PATCH" {
				body = map[string]any{"content": "Retry 429s with jitter, twice"}
			}
			if answer := w.Ask(example[1], strings.ReplaceAll(example[2], "{id}", made.ID), body); answer.Status >= 300 {
				t.Errorf("%s: %d %s", example[0], answer.Status, answer.Body)
			}
		}
		for _, link := range regexp.MustCompile(`\]\((/[^)]+)\)`).FindAllStringSubmatch(text, -1) {
			if answer := w.Ask("GET", link[1], nil); answer.Status == 404 && link[1] != "/mcp" && link[1] != "/console/" {
				t.Errorf("%s leads nowhere", link[1])
			}
		}
	})
}

func TestTheFrontDoorLeadsPeopleToTheDocs(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		Like(t, w.Ask("GET", "/", nil).Want(http.StatusOK).JSON(), Object{"docs": "/docs"})
		led := w.Ask("GET", "/", nil, "Accept: text/html,*/*").Want(http.StatusSeeOther)
		page := w.Ask("GET", led.Header.Get("Location"), nil).Want(http.StatusOK)
		Like(t, string(page.Body), Beginning("<!doctype html>"))
		Like(t, string(page.Body), Containing("curl -X POST "+w.URL+"/v1/knowledge"), "its examples are for another server")
		Like(t, string(page.Body), Lacking("annals.invalid"), "its examples are for another server")
		Like(t, string(w.Ask("GET", "/docs", nil, "X-Forwarded-Proto: https").Body),
			Containing(strings.Replace(w.URL, "http:", "https:", 1)+"/v1/search"), "its examples go past the proxy")
		for _, form := range []string{"json", "yaml"} {
			moved := w.Ask("GET", "/v1/openapi."+form, nil).Want(http.StatusPermanentRedirect).Header.Get("Location")
			found := w.Ask("GET", moved, nil, "X-Forwarded-Proto: https").Want(http.StatusOK)
			Like(t, string(found.Body), Containing(strings.Replace(w.URL, "http:", "https:", 1)), "it is of another server")
		}
		id := w.Ask("GET", "/healthz", nil, "X-Request-Id: mine").Header.Get("X-Request-Id")
		made := w.Ask("GET", "/healthz", nil, "X-Request-Id: not fit").Header.Get("X-Request-Id")
		Same(t, id, "mine", "request ids are")
		Same(t, len(made), 36, "request ids are")
	})
}
