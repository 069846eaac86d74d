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
	"github.com/annals-kb/annals/projections/browse"
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

// exchanges are those of a file: a request on a line, its answer on the next. In an answer ... stands for any text,
// alone for any value but null, and $name for one that is the same wherever it stands. Members that are not named are
// not looked at.
func exchanges(t *testing.T, name string) (all []exchange) {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(content), "\n") {
		switch first, rest, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case first == "" || first[0] == '#' || first == "OPEN":
		case first[0] >= '1' && first[0] <= '9':
			last := &all[len(all)-1]
			last.wantCode, last.want = first, rest
		case first == "USER":
			all = append(all, exchange{method: first, path: rest})
		default:
			path, body, _ := strings.Cut(rest, " ")
			all = append(all, exchange{line: i + 1, method: first, path: path, body: body})
		}
	}
	return all
}

var variable = regexp.MustCompile(`\$[a-z]+`)

func TestEveryRouteAnswersAsItsClientsExpect(t *testing.T) {
	for name, configure := range map[string]func(*servertest.Config){
		"contract.txt": keyed, "people.txt": keyed, "files.txt": open, "search.txt": open, "sessions.txt": open,
		"skills.txt": open,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, configure, func(_ *testing.T, w *world) { w.play(name) })
		})
	}
}

// play asks what a file asks, and compares the answers.
func (w *world) play(name string) {
	w.t.Helper()
	w.learning()
	w.embedding()
	known := map[string]string{"$root": rootKey}
	fill := func(s string) string {
		return variable.ReplaceAllStringFunc(s, func(name string) string {
			if known[name] == "" {
				w.t.Fatalf("%s has no value yet, in %s", name, s)
			}
			return known[name]
		})
	}
	var callers []header
	for _, e := range exchanges(w.t, name) {
		switch e.method {
		case "AS":
			callers = []header{as(fill(e.path))}
			continue
		case "USER":
			callers = []header{header("X-OpenViking-User: " + e.path)}
			if e.path == "" {
				callers = nil
			}
			continue
		case "UPLOAD":
			known["$upload"] = w.upload(e.path, "", []byte(strings.ReplaceAll(e.body, `\n`, "\n")), callers...)
			continue
		}
		var body any
		if e.body != "" {
			body = fill(e.body)
		}
		a := w.ask(e.method, fill(e.path), body, callers...)
		if fmt.Sprint(a.status) != e.wantCode {
			w.t.Fatalf("%s:%d: %s %s: got %d, want %s\n%.2000s", name, e.line, e.method, e.path, a.status, e.wantCode, a.body)
		}
		if e.want == "" {
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(e.want), &want); err != nil {
			w.t.Fatalf("%s:%d: %v", name, e.line, err)
		}
		got := a.json()
		like(w.t, got, wanted(got, want, known), name, e.line, e.method, e.path)
	}
}

// wanted is what [like] wants of an answer. It notes the values of new names.
func wanted(got, want any, known map[string]string) any {
	switch want := want.(type) {
	case string:
		if strings.HasPrefix(want, "$") {
			if known[want] == "" {
				known[want], _ = got.(string)
			}
			return known[want]
		}
		inner, begins := strings.CutSuffix(want, "...")
		inner, ends := strings.CutPrefix(inner, "...")
		switch {
		case want == "...":
			return some{}
		case begins && ends:
			return containing(inner)
		case begins:
			return beginning(inner)
		case ends:
			return ending(inner)
		}
	case object:
		members, _ := got.(object)
		for name := range want {
			want[name] = wanted(members[name], want[name], known)
		}
	case []any:
		list, _ := got.([]any)
		for i := range min(len(want), len(list)) {
			want[i] = wanted(list[i], want[i], known)
		}
	}
	return want
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
	for _, e := range exchanges(t, "contract.txt") {
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
	servertest.Follow(w.t, func(router *message.Router) { w.base.Models.Configured.Follow(router, w.followers) })
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
			Sessions: sessions.Sessions{}, Keys: (*keys.Keys)(nil), Browser: (*browse.Browser)(nil), Reader: projections.Reader{},
		}).Routes() {
			method, path, _ := strings.Cut(route, " ")
			operations, _ := paths[path].(object)
			if operations[strings.ToLower(method)] == nil && path != "/api/v1/openapi.json" {
				t.Errorf("%s has no example: add it to cmd/annals/testdata/openviking.json", route)
			}
		}
	})
}
