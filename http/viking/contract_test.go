package viking_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/http/viking"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/erasure"
	"github.com/annals-kb/annals/projections/keys"
	"github.com/annals-kb/annals/projections/sessions"
)

// exchange is a request as a client sends it, and as much of the answer as it relies on.
type exchange struct {
	line     int
	method   string
	path     string
	body     string
	wantCode string
	want     string
}

// exchanges are those of testdata/contract.txt: a request on a line, its answer on the next. In an answer ... is any
// value but null, $name one that is the same wherever it stands, and members that are not named are not looked at.
func exchanges(t *testing.T) (all []exchange) {
	t.Helper()
	content, err := os.ReadFile("testdata/contract.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(content), "\n") {
		switch first, rest, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case first == "" || first[0] == '#':
		case first[0] >= '1' && first[0] <= '9':
			last := &all[len(all)-1]
			last.wantCode, last.want = first, rest
		default:
			path, body, _ := strings.Cut(rest, " ")
			all = append(all, exchange{line: i + 1, method: first, path: path, body: body})
		}
	}
	return all
}

var variable = regexp.MustCompile(`\$[a-z]+`)

func TestEveryRouteAnswersAsItsClientsExpect(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		w.learning()
		w.embedding()
		known := map[string]string{"$root": rootKey}
		fill := func(s string) string {
			return variable.ReplaceAllStringFunc(s, func(name string) string {
				if known[name] == "" {
					t.Fatalf("%s has no value yet, in %s", name, s)
				}
				return known[name]
			})
		}
		caller := as(rootKey)
		for _, e := range exchanges(t) {
			switch e.method {
			case "AS":
				caller = as(fill(e.path))
				continue
			case "UPLOAD":
				known["$upload"] = w.upload(e.path, "", []byte(strings.ReplaceAll(e.body, `\n`, "\n")), caller)
				continue
			}
			var body any
			if e.body != "" {
				body = fill(e.body)
			}
			a := w.ask(e.method, fill(e.path), body, caller)
			if fmt.Sprint(a.status) != e.wantCode {
				t.Fatalf("contract.txt:%d: %s %s: got %d, want %s\n%.2000s", e.line, e.method, e.path, a.status, e.wantCode, a.body)
			}
			if a.header.Get("X-Process-Time") == "" {
				t.Errorf("contract.txt:%d: it does not say how long it took", e.line)
			}
			if e.want == "" {
				continue
			}
			var want any
			if err := json.Unmarshal([]byte(e.want), &want); err != nil {
				t.Fatalf("contract.txt:%d: %v", e.line, err)
			}
			same(t, unlike(any(a.json()), want, known, "answer"), "", e.line, e.method, e.path)
		}
	})
}

// unlike says where an answer is not what is wanted; empty if it is.
func unlike(got, want any, known map[string]string, at string) string {
	switch want := want.(type) {
	case string:
		if want == "..." {
			if got == nil {
				return at + " is null"
			}
			return ""
		}
		if strings.HasPrefix(want, "$") {
			if known[want] == "" {
				known[want], _ = got.(string)
			}
			want = known[want]
		}
		if got != want {
			return fmt.Sprintf("%s is %v, want %q", at, got, want)
		}
	case map[string]any:
		object, is := got.(map[string]any)
		if !is {
			return fmt.Sprintf("%s is %v, want an object", at, got)
		}
		for name, value := range want {
			member, there := object[name]
			if !there {
				return at + " has no " + name
			}
			if wrong := unlike(member, value, known, at+"."+name); wrong != "" {
				return wrong
			}
		}
	case []any:
		list, is := got.([]any)
		if !is || len(list) != len(want) {
			return fmt.Sprintf("%s is %v, want %d elements", at, got, len(want))
		}
		for i := range want {
			if wrong := unlike(list[i], want[i], known, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	default:
		if got != want {
			return fmt.Sprintf("%s is %v, want %v", at, got, want)
		}
	}
	return ""
}

// Nobody adds a route without saying how its clients use it, nor says so of one that is not there.
func TestTheContractNamesEveryRoute(t *testing.T) {
	t.Parallel()
	routes := viking.New(viking.Config{
		Sessions: sessions.Sessions{}, Keys: &keys.Keys{}, Eraser: &erasure.Eraser{},
	}).Routes()
	mux := http.NewServeMux()
	for _, route := range routes {
		mux.HandleFunc(route, func(http.ResponseWriter, *http.Request) {})
	}
	tried := map[string]bool{"POST /api/v1/resources/temp_upload": true} // by UPLOAD
	for _, e := range exchanges(t) {
		if e.method == "AS" || e.method == "UPLOAD" {
			continue
		}
		request, err := http.NewRequestWithContext(t.Context(), e.method, variable.ReplaceAllString(e.path, "x"), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := mux.Handler(request)
		if pattern == "" && e.wantCode != "404" {
			t.Errorf("contract.txt:%d: there is no route %s %s", e.line, e.method, e.path)
		}
		tried[pattern] = true
	}
	for _, route := range routes {
		if !tried[route] && route != "GET /api/v1/openapi.json" { // Annals' own
			t.Errorf("contract.txt does not try %s", route)
		}
	}
	if len(routes) < 60 || !slices.Contains(routes, "POST /api/v1/search/find") {
		t.Errorf("there are %d routes", len(routes))
	}
}

// embedding lets vectors be made, as while serving.
func (w *world) embedding() {
	w.t.Helper()
	servertest.Follow(w.t, func(router *message.Router) { w.base.Configured.Follow(router, w.log) })
}

func TestEveryRouteIsDescribedByAnExample(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		described := w.ask("GET", "/api/v1/openapi.json", nil).want(http.StatusOK)
		doc, err := openapi3.NewLoader().LoadFromData(described.body)
		if err == nil {
			err = doc.Validate(t.Context())
		}
		if err != nil {
			t.Fatalf("openapi.json: %v", err)
		}
		paths, _ := described.json()["paths"].(object)
		for _, route := range viking.New(viking.Config{
			Sessions: sessions.Sessions{}, Keys: (*keys.Keys)(nil), Reader: projections.Reader{},
		}).Routes() {
			method, path, _ := strings.Cut(route, " ")
			operations, _ := paths[path].(object)
			if operations[strings.ToLower(method)] == nil && path != "/api/v1/openapi.json" {
				t.Errorf("%s has no example: add it to cmd/annals/testdata/openviking.json", route)
			}
		}
	})
}
