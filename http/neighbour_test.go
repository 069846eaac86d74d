package http_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	. "github.com/annals-kb/annals/http/servertest"
)

var neighbourly = flag.Duration("neighbour", time.Second, "how long a tenant tries another's ids at random, after having tried every route")

// canary stands in everything that the neighbour may not learn.
const canary = "violet-canary"

// unguessed are values of a tenant, each beside one that nobody has.
type unguessed struct{ theirs, nobodys string }

// A tenant tries every route of the description with what belongs to another, and gets the answers that it
// gets for what does not exist.
func TestATenantLearnsNothingOfAnother(t *testing.T) {
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		w.FollowPast()
		values := neighbourhood(w, people)
		w.Ask("POST", "/v1/tenants", Object{"name": "other"}, Bearer(RootKey)).Want(http.StatusCreated)
		var callers []Header
		var empty string
		for _, role := range []string{"admin", "member", "auditor", "service"} { // called as in the tenant next door
			made := w.Ask("POST", "/v1/keys", Object{"subject": people[role].Self, "role": role, "acts_for": true},
				Bearer(RootKey), "Annals-Tenant: other").Want(http.StatusCreated)
			callers = append(callers, Bearer(made.JSON()["key"].(string)))
			empty = made.Header.Get("Annals-Position")
		}
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // what is random here is no secret
		doc := w.Description().Doc
		var tries []try
		for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
			for method, operation := range doc.Paths.Value(path).Operations() {
				if path != "/metrics" { // the numbers of all requests are for operators
					tries = append(tries, try{w, random, empty, method, path, operation})
				}
			}
		}
		for _, one := range tries {
			few := values[:1]
			if strings.Contains(one.path, "{") {
				few = values
			}
			for _, value := range few {
				one.compare(value, callers[0])
			}
		}
		for end := time.Now().Add(*neighbourly); time.Now().Before(end) && !t.Failed(); {
			tries[random.IntN(len(tries))].compare(values[random.IntN(len(values))], callers[random.IntN(len(callers))])
		}
	})
}

// Each route is asked by several callers at once. Of the two connections one reads, so a request that holds it and asks
// for another would never be answered.
func TestTwoConnectionsAreEnoughForEveryRoute(t *testing.T) {
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		values := neighbourhood(w, people)
		random := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // what is random here is no secret
		doc := w.Description().Doc
		for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
			for method, operation := range doc.Paths.Value(path).Operations() {
				at, body := try{w, random, "1", method, path, operation}.request()
				var asking sync.WaitGroup
				plain, _, _ := strings.Cut(at, "?")
				for i, at := range []string{at, at, plain, plain} {
					fill := func(s string) string { return strings.ReplaceAll(s, slot, values[i%len(values)].theirs) }
					asking.Go(func() {
						var sent any
						if body != "" {
							sent = fill(body)
						}
						a := w.Ask(method, fill(at), sent, people["root"].Headers...)
						// Rebuilds and purges run beside the requests, and few exports and profiles at once: that is said at once.
						soon := a.Status == http.StatusServiceUnavailable && !strings.Contains(string(a.Body), "problem:timeout")
						if a.Status >= http.StatusInternalServerError && !soon {
							t.Errorf("%s: got %d\n%.2000s", a.What, a.Status, a.Body)
						}
					})
				}
				asking.Wait()
			}
		}
	})
}

// neighbourhood fills the tenant default, and returns what another might try.
func neighbourhood(w *World, people map[string]Caller) []unguessed {
	w.T.Helper()
	admin := people["admin"].Headers[0]
	var values []unguessed
	for i, below := range []string{"", "/stale", "/feedback", "/supersede", "forget"} {
		id := fmt.Sprintf("theirs-%d", i)
		made := w.Ask("POST", "/v1/knowledge", Object{
			"id": id, "type": "strategy", "content": canary + " content", "task": canary, "uri": "viking://resources/" + id,
			"owner": "user:" + id, "scopes": []string{"public"}, "source": Object{"trace_id": id},
		}, admin, Header("Idempotency-Key: "+id)).Want(http.StatusCreated)
		values = append(values, unguessed{id, strings.Replace(id, "theirs", "nobody", 1)})
		body := Object{"reason": canary}
		switch below {
		case "":
			event, _, _ := strings.Cut(made.Header.Get("Annals-Events"), ",")
			values = append(values, unguessed{strings.Fields(event)[0], "0198c0de-0000-7000-8000-000000000001"})
			continue
		case "forget":
			w.Ask("DELETE", "/v1/knowledge/"+id, body, admin).Want(http.StatusNoContent)
			continue
		case "/feedback":
			body = Object{"verdict": "harmful", "trace_id": id, "outcome": canary}
		case "/supersede":
			body["by"] = "theirs-0"
		}
		w.Ask("POST", "/v1/knowledge/"+id+below, body, admin).Want(http.StatusOK)
	}
	prefix := strings.Split(w.Given(RootKey, Object{"subject": "user:x", "note": canary}), "_")[1]
	return append(values, unguessed{prefix, prefix[:1] + "aaaaaaaaa"})
}

// try is a route that is asked for something of another tenant, and for nothing.
type try struct {
	w         *World
	random    *rand.Rand
	empty     string // a position at which the caller's tenant has nothing yet that a try might have left there
	method    string
	path      string
	operation *openapi3.Operation
}

// ofOnesOwn are the routes that answer with what they find of the caller's own, and may find other things the
// second time: by the letters of what was asked, or because the first time redacted or created them. What they found
// is not compared; that nothing of the other tenant is among it is held by the canary.
var ofOnesOwn = []string{"/v1/context", "/v1/search", "/v1/scrubbing/redactions", "/v1/sessions"}

// slot stands where the value comes.
const slot = "~slot~"

// request makes up a request to the route: a path and a body, with a slot where the value comes.
func (y try) request() (path, body string) {
	y.w.T.Helper()
	query := url.Values{}
	for _, p := range y.operation.Parameters {
		if p.Value.In == "query" && (p.Value.Required || y.random.IntN(4) == 0) {
			query.Set(p.Value.Name, fmt.Sprint(y.fill(p.Value.Schema.Value, 0)))
		}
	}
	if query.Has("as_of") {
		query.Set("as_of", y.empty)
	}
	if y.operation.RequestBody != nil {
		if content := y.operation.RequestBody.Value.Content.Get("application/json"); content != nil {
			written, err := json.Marshal(y.fill(content.Schema.Value, 0))
			if err != nil {
				y.w.T.Fatal(err)
			}
			body = string(written)
		}
	}
	path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(y.path, slot) + "?" + strings.ReplaceAll(query.Encode(), url.QueryEscape(slot), slot)
	return path, body
}

func (y try) compare(value unguessed, by Header) {
	y.w.T.Helper()
	path, body := y.request()
	headers := []Header{by}
	for _, h := range []Header{"Idempotency-Key: " + slot, "Annals-Causation-Id: " + slot, "Annals-On-Behalf-Of: user:" + slot, `If-Match: "1"`} {
		if y.random.IntN(6) == 0 {
			headers = append(headers, h)
		}
	}
	answers := [2]string{}
	for i, v := range []string{value.theirs, value.nobodys} {
		var sent any
		if body != "" {
			sent = strings.ReplaceAll(body, slot, v)
		}
		put := slices.Clone(headers)
		for j, h := range put {
			put[j] = Header(strings.ReplaceAll(string(h), slot, v))
		}
		a := y.w.Ask(y.method, strings.ReplaceAll(path, slot, v), sent, put...)
		waited := strings.Contains(string(a.Body), "urn:annals:problem:behind") // by a min_position: nothing follows the log here
		if strings.Contains(string(a.Body), canary) || a.Status >= http.StatusInternalServerError && !waited {
			y.w.T.Errorf("%s %s: %d\n%.2000s", a.What, body, a.Status, a.Body)
		}
		if slices.Contains(ofOnesOwn, y.path) && a.Status == http.StatusOK {
			a.Body = nil
		}
		answers[i] = value.plain(a)
	}
	if strings.Contains(path, "on_similar=") { // the second finds what the first remembered, if they wrote the same
		return
	}
	if answers[0] != answers[1] {
		y.w.T.Errorf("%s %s %s with %s and with %s: got\n%.3000s\nand\n%.3000s", y.method, path, body, value.theirs, value.nobodys, answers[0], answers[1])
	}
}

// different is what differs between any two answers: times, ids, digests, places in the caller's own log, and
// what follows from the letters of what was asked. Counts are held equal.
var different = regexp.MustCompile(`urn:annals:request:[\w-]+|[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}|annals_\w+|[A-Za-z0-9+/_-]{40,}=*` +
	`|"(prefix|key|stream|replaces|replaced_by|next_cursor)":"[^"]*"|"terms":\[[^\]]*\]|\d{4}-\d\d-\d\dT[\d:.]+Z` +
	`|at position \d+|"(position|tokens|head|through|to|lag_events|lag_seconds|took_ms|best_below|score|semantic|lexical)":[\d.e-]+|Annals-(Position|Receipt):\[[^\]]*\]`)

// passing is what an answer has at one moment and not at another: who works on a projection, and since when it was read.
var passing = regexp.MustCompile(`"(holder|read_at)":"[^"]*",`)

// plain is an answer without these, whichever of the two it was about.
func (u unguessed) plain(a *Answer) string {
	head := a.Header.Clone()
	for _, name := range []string{"X-Request-Id", "Date", "Content-Length"} {
		head.Del(name)
	}
	all := strings.NewReplacer(u.theirs, "VALUE", u.nobodys, "VALUE").Replace(fmt.Sprint(a.Status, " ", head, " ", string(a.Body)))
	return different.ReplaceAllString(passing.ReplaceAllString(all, ""), "#")
}

// fill makes a value that a schema allows, more or less.
func (y try) fill(schema *openapi3.Schema, depth int) any {
	if len(schema.Enum) > 0 {
		return schema.Enum[y.random.IntN(len(schema.Enum))]
	}
	for _, some := range [][]*openapi3.SchemaRef{schema.OneOf, schema.AnyOf} {
		if len(some) > 0 {
			return y.fill(some[y.random.IntN(len(some))].Value, depth)
		}
	}
	switch {
	case depth > 3:
		return slot
	case schema.Type.Includes("object"):
		made := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			switch {
			case !slices.Contains(schema.Required, name) && y.random.IntN(3) > 0:
			case name == "id": // one that both have would be new for the first of them alone
				made[name] = slot
			case name == "expression": // the last one stays, and would redact one of the two
				made[name] = "nothing"
			default:
				made[name] = y.fill(schema.Properties[name].Value, depth+1)
			}
		}
		return made
	case schema.Type.Includes("array"):
		return []any{y.fill(schema.Items.Value, depth+1)}
	case schema.Type.Includes("boolean"):
		return y.random.IntN(2) == 0
	case schema.Type.Includes("integer"), schema.Type.Includes("number"):
		return 1 + y.random.IntN(3)
	case schema.Format == "date-time":
		return "2031-01-01T00:00:00Z"
	}
	return []string{slot, slot, "user:" + slot, "viking://resources/" + slot, "user:olga", "public", "member", "strategy", "5"}[y.random.IntN(9)]
}
