package visible_test

import (
	"flag"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/http/servertest"
)

var rounds = flag.Int("rounds", 0, "how often a route is timed for what is hidden and for what does not exist, after its statements were compared")

// Somebody asks every route about an item that he must not know of, and about one that there is not: the server
// sends the database the same statements, so that neither takes longer than the other.
func TestWhatIsHiddenCostsWhatDoesNotExistCosts(t *testing.T) {
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		w.Ask("POST", "/v1/tenants", Object{"name": "other"}, Bearer(RootKey)).Want(http.StatusCreated)
		for _, tenant := range []string{"default", "other"} {
			for _, id := range []string{tenant + "-item", tenant + "-gone"} {
				w.Ask("POST", "/v1/knowledge", Object{
					"id": id, "type": "strategy", "content": "hidden", "owner": Stranger, "scopes": []string{Stranger},
				}, Bearer(RootKey), Header("Annals-Tenant: "+tenant)).Want(http.StatusCreated)
			}
			w.Ask("POST", "/v1/knowledge/"+tenant+"-item/feedback", Object{"verdict": "helpful", "query": "q"}, Bearer(RootKey), Header("Annals-Tenant: "+tenant)).Want(http.StatusOK)
			w.Ask("DELETE", "/v1/knowledge/"+tenant+"-gone", nil, Bearer(RootKey), Header("Annals-Tenant: "+tenant)).Want(http.StatusNoContent)
		}
		for _, name := range []string{"member", "service", "service for a user"} {
			who := people[name]
			for what, ask := range perItem {
				sends := func(id string) (sent []string, status int) {
					before := len(w.Heard.Sent())
					status = ask(w, who, id).Status
					return shapes(w.Heard.Sent()[before:]), status
				}
				for _, id := range []string{"other-item", "other-gone", "default-item", "default-gone"} {
					if name == "service" && strings.HasPrefix(id, "default") {
						continue // a service may read it
					}
					diff := "never tried"
					for range 5 { // now and then something is read again that has grown old meanwhile
						want, _ := sends("nobodys-item")
						got, status := sends(id)
						if status != http.StatusNotFound && !slices.Contains([]string{"list", "events", "histogram"}, what) {
							t.Errorf("%s, %s of %s: got %d", name, what, id, status)
						}
						if diff = cmp.Diff(want, got); diff == "" {
							break
						}
					}
					if diff != "" {
						t.Errorf("%s, %s of %s: other statements than for what does not exist (-want +got):\n%s", name, what, id, diff)
					}
				}
			}
		}
		if *rounds > 0 {
			measure(w, people["member"])
		}
	})
}

// measure logs how long routes take for what is hidden, another tenant's and what does not exist, in turns.
func measure(w *World, who Caller) {
	w.T.Helper()
	for _, what := range slices.Sorted(maps.Keys(perItem)) {
		took := map[string][]time.Duration{}
		for range *rounds {
			for _, id := range []string{"nobodys-item", "default-item", "other-item"} {
				began := time.Now()
				perItem[what](w, who, id)
				took[id] = append(took[id], time.Since(began))
			}
		}
		median := func(id string) time.Duration {
			slices.Sort(took[id])
			return took[id][len(took[id])/2].Round(time.Microsecond)
		}
		w.T.Logf("TIMED %-10s nobody's %8v hidden %8v another tenant's %8v", what, median("nobodys-item"), median("default-item"), median("other-item"))
	}
}

// perItem are the routes that an item may be asked for.
var perItem = map[string]func(w *World, who Caller, id string) *Answer{
	"get":       sending("GET", "/v1/knowledge/ID", nil),
	"get as of": sending("GET", "/v1/knowledge/ID?as_of=1", nil),
	"history":   sending("GET", "/v1/knowledge/ID/history", nil),
	"lineage":   sending("GET", "/v1/knowledge/ID/lineage", nil),
	"list":      sending("GET", "/v1/knowledge?uri=viking://user/bob/memories/strategy/ID.md", nil),
	"events":    sending("GET", "/v1/events?stream=knowledge:ID", nil),
	"histogram": sending("GET", "/v1/events/histogram?from=2020-01-01&to=2100-01-01&stream=knowledge:ID", nil),
	"vote":      sending("POST", "/v1/knowledge/ID/feedback", Object{"verdict": "helpful", "query": "q"}),
	"unvote":    sending("DELETE", "/v1/knowledge/ID/feedback", nil),
	"stale":     sending("POST", "/v1/knowledge/ID/stale", Object{}),
	"confirm":   sending("POST", "/v1/knowledge/ID/confirm", Object{}),
	"supersede": sending("POST", "/v1/knowledge/ID/supersede", Object{"by": "another"}),
	"restore":   sending("POST", "/v1/knowledge/ID/restore", Object{}),
	"revise":    sending("PATCH", "/v1/knowledge/ID", Object{"content": "x"}),
	"forget":    sending("DELETE", "/v1/knowledge/ID", nil),
	"erase":     sending("DELETE", "/v1/knowledge/ID?erase=true", nil),
	"plan":      sending("GET", "/v1/erasures/plan?of=ID", nil),
	"order":     sending("POST", "/v1/erasures", Object{"of": "ID"}),
}

func sending(method, path string, body Object) func(*World, Caller, string) *Answer {
	return func(w *World, who Caller, id string) *Answer {
		with := Object{}
		for name, value := range body {
			if with[name] = value; value == "ID" {
				with[name] = id
			}
		}
		if body == nil {
			return w.Ask(method, strings.ReplaceAll(path, "ID", id), nil, who.Headers...)
		}
		return w.Ask(method, strings.ReplaceAll(path, "ID", id), with, who.Headers...)
	}
}

// literal is a value in a statement.
var literal = regexp.MustCompile(`'(?:[^']|'')*'|\b\d+\b`)

// shapes are statements without their values.
func shapes(sent []string) []string {
	shapes := slices.Clone(sent)
	for i, statement := range shapes {
		shapes[i] = strings.Join(strings.Fields(literal.ReplaceAllString(statement, "?")), " ")
	}
	return shapes
}
