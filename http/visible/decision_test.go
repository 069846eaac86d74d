package visible_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// decision is a cell of a table in docs/security.md.
type decision struct{ caller, item, action, want string }

// decisions reads the table under a heading of docs/security.md: every cell for every caller, item and
// action that its row and its column name.
func decisions(t *testing.T, heading string) []decision {
	t.Helper()
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "### "+heading+"\n")
	if !found {
		t.Fatalf("docs/security.md has no heading %q", heading)
	}
	var all []decision
	var head []string
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "#") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--"):
			continue
		case head == nil:
			head = cells
			continue
		}
		first, items := 1, []string{""}
		if strings.TrimSpace(head[1]) == "item" {
			first, items = 2, words(cells[1])
		}
		for i := first; i < len(cells); i++ {
			for _, caller := range words(cells[0]) {
				for _, item := range items {
					for _, action := range words(head[i]) {
						all = append(all, decision{caller, item, action, strings.TrimSpace(cells[i])})
					}
				}
			}
		}
	}
	return all
}

func words(cell string) []string {
	list := strings.Split(cell, ",")
	for i, word := range list {
		list[i] = strings.TrimSpace(word)
	}
	return list
}

var callers = []string{"member", "service", "auditor", "admin", "root", "member for a user", "service for a user", "admin for a user", "root for a user"}

func TestWhatMayBeDoneWithAnItemIsAsDocumented(t *testing.T) {
	EachPeopled(t, func(_ *testing.T, w *World, people map[string]Caller) {
		decide(w, people, "What may be done with an item", itemActions)
	})
}

func TestWhatMayBeDestroyedIsAsDocumented(t *testing.T) {
	EachPeopled(t, func(_ *testing.T, w *World, people map[string]Caller) {
		decide(w, people, "What may be destroyed, and kept from that", endings)
	})
}

// decide tries every cell of a table about items.
func decide(w *World, people map[string]Caller, heading string, actions map[string]func(*World, Caller, string) string) {
	t, table := w.T, decisions(w.T, heading)
	t.Helper()
	relations := []string{"its own", "its group's", "shared", "public", "hidden", "another tenant's"}
	seen := map[decision]int{}
	for i, d := range table {
		seen[decision{d.caller, d.item, d.action, ""}]++
		table[i].want = d.want
	}
	if got, want := len(seen), len(callers)*len(relations)*len(actions); got != want || len(table) != want {
		t.Fatalf("the table decides %d cases in %d cells, want %d of each", got, len(table), want)
	}
	peopleItems(w, people, table)
	for _, d := range table {
		who, known := people[d.caller]
		act, does := actions[d.action]
		if !known || !does || !slices.Contains(relations, d.item) {
			t.Fatalf("nobody knows how to try %+v", d)
		}
		Same(t, act(w, who, itemOf(d)), d.want, d.caller, d.action, d.item)
	}
}

// itemOf is the id of the item on which a cell is tried.
func itemOf(d decision) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\'' {
			return '-'
		}
		return r
	}, d.caller+"."+d.item+"."+d.action)
}

// peopleItems remembers an item for every cell.
func peopleItems(w *World, people map[string]Caller, table []decision) {
	w.T.Helper()
	var isServerError, theirs []Object
	for _, d := range table {
		id := itemOf(d)
		made := Object{"id": id, "type": "strategy", "content": "How to try " + d.action, "tags": Object{"cell": id}}
		owner := ownerOf(people[d.caller], id)
		made["owner"], made["scopes"] = owner, []string{owner}
		switch d.item {
		case "shared":
			made["scopes"] = []string{owner, Group}
		case "public":
			made["scopes"] = []string{"public"}
		}
		if d.item == "another tenant's" {
			theirs = append(theirs, made)
		} else {
			isServerError = append(isServerError, made)
		}
	}
	isServerError = append(isServerError, Object{"id": "successor", "type": "strategy", "content": "better", "scopes": []string{"public"}})
	w.Ask("POST", "/v1/tenants", Object{"name": "other"}, Bearer(RootKey)).Want(http.StatusCreated)
	for tenant, items := range map[Header][]Object{"default": isServerError, "other": theirs} {
		for _, made := range w.Ask("POST", "/v1/knowledge", items, Bearer(RootKey), "Annals-Tenant: "+tenant).Want(http.StatusOK).Lines() {
			if made["status"] != "created" {
				w.T.Fatalf("got %v", made)
			}
		}
		for _, made := range items {
			if id := made["id"].(string); strings.HasSuffix(id, ".restore") {
				w.Ask("DELETE", "/v1/knowledge/"+id, nil, Bearer(RootKey), "Annals-Tenant: "+tenant).Want(http.StatusNoContent)
			}
		}
	}
}

// itemActions try something on an item, and say what came of it: yes, 403 or 404.
var itemActions = map[string]func(w *World, who Caller, id string) string{
	"get":     asking("GET", "", nil),
	"history": asking("GET", "/history", nil),
	"list":    listing("/v1/knowledge?tag=cell:%s"),
	"events":  listing("/v1/events?stream=knowledge:%s"),
	"search":  func(w *World, who Caller, id string) string { return searching(w, who, id, nil) },
	"context": func(w *World, who Caller, id string) string {
		told := w.Ask("POST", "/v1/context", Object{
			"stage": "query", "query": "how to try context", "tags": Object{"cell": id}, "min_score": 0,
		}, who.Headers...).Want(http.StatusOK)
		switch {
		case len(told.Items()) == 1:
			return "yes"
		case len(told.Items()) == 0 && told.JSON()["injection"] == "":
			return "404"
		}
		return fmt.Sprintf("%d items", len(told.Items()))
	},
	"search as its owner": func(w *World, who Caller, id string) string {
		kind, name, _ := strings.Cut(ownerOf(who, id), ":")
		return searching(w, who, id, Object{kind + "_id": name})
	},
	"vote":      asking("POST", "/feedback", Object{"verdict": "helpful", "trace_id": "t"}),
	"stale":     asking("POST", "/stale", Object{"reason": "old"}),
	"confirm":   asking("POST", "/confirm", Object{}),
	"supersede": asking("POST", "/supersede", Object{"by": "successor"}),
	"revise":    asking("PATCH", "", Object{"content": "another"}),
	"rescope":   asking("PATCH", "", Object{"scopes": []string{Group}, "task": "shared"}),
	"transfer":  asking("PATCH", "", Object{"owner": Group, "task": "handed over"}),
	"forget":    asking("DELETE", "", nil),
	"restore":   asking("POST", "/restore", nil),
}

// endings are tried as itemActions are.
var endings = map[string]func(w *World, who Caller, id string) string{
	"erase":   asking("DELETE", "?erase=true", nil),
	"hold":    asking("POST", "/hold", Object{"reason_code": "trial"}),
	"release": asking("POST", "/release", Object{"reason_code": "trial-over"}),
	"lineage": asking("GET", "/lineage", nil),
	"plan": func(w *World, who Caller, id string) string {
		return alike(w, id, func(id string) *Answer { return w.Ask("GET", "/v1/erasures/plan?of="+id, nil, who.Headers...) })
	},
	"order": func(w *World, who Caller, id string) string {
		return alike(w, id, func(id string) *Answer {
			return w.Ask("POST", "/v1/erasures", Object{"of": id, "with_lineage": true}, who.Headers...)
		})
	},
}

// asking sends a request about an item.
func asking(method, below string, body any) func(*World, Caller, string) string {
	return func(w *World, who Caller, id string) string {
		return alike(w, id, func(id string) *Answer { return w.Ask(method, "/v1/knowledge/"+id+below, body, who.Headers...) })
	}
}

// alike says what came of a request. If that is 404, the same request about an id that does not exist must
// have the same answer.
func alike(w *World, id string, ask func(id string) *Answer) string {
	w.T.Helper()
	a := ask(id)
	if a.Status != http.StatusNotFound {
		return outcome(a)
	}
	const nothing = "there-is-no-such-item"
	if got, want := without(a, id), without(ask(nothing), nothing); got != want {
		w.T.Errorf("%s can be told from what does not exist:\n%s\n%s", a.What, got, want)
	}
	return "404"
}

// without is an answer without what differs between any two.
func without(a *Answer, id string) string {
	body := strings.ReplaceAll(string(a.Body), id, "ID")
	if at := strings.Index(body, "urn:annals:request:"); at >= 0 {
		body = body[:at] + body[at+len("urn:annals:request:")+36:]
	}
	head := a.Header.Clone()
	for _, name := range []string{"X-Request-Id", "Date", "Content-Length"} {
		head.Del(name)
	}
	return fmt.Sprint(a.Status, head, body)
}

func outcome(a *Answer) string {
	if a.Status < 300 {
		return "yes"
	}
	return fmt.Sprint(a.Status)
}

// listing asks for a list that has an item or leaves it out.
func listing(path string) func(*World, Caller, string) string {
	return func(w *World, who Caller, id string) string {
		a := w.Ask("GET", fmt.Sprintf(path, id), nil, who.Headers...).Want(http.StatusOK)
		switch {
		case len(a.Items()) > 0:
			return "yes"
		case a.JSON()["next_cursor"] != nil:
			return "a cursor to nothing"
		}
		return "404"
	}
}

// ownerOf is who owns the item of a cell, in the tenant of the caller.
func ownerOf(who Caller, id string) string {
	switch strings.Split(id, ".")[1] {
	case "its-own", "another-tenant-s":
		return who.Self
	case "its-group-s":
		return Group
	}
	return Stranger
}

func searching(w *World, who Caller, id string, as Object) string {
	question := Object{"query": "how to try search", "tags": Object{"cell": id}, "explain": true, "min_score": 0}
	if as != nil {
		question["context"] = as
	}
	found := w.Ask("POST", "/v1/search", question, who.Headers...)
	if found.Status == http.StatusForbidden {
		return "403"
	}
	found.Want(http.StatusOK)
	passed := Pick(found.JSON(), "explain", "passed").(float64)
	switch {
	case len(found.Items()) == 1 && passed == 1:
		return "yes"
	case len(found.Items()) == 0 && passed == 0:
		return "404"
	}
	return fmt.Sprintf("%d hits of %g", len(found.Items()), passed)
}

func TestWhatMayBeDoneInATenantIsAsDocumented(t *testing.T) {
	areDecided(t, "What may be done in a tenant", tenantActions)
}

// areDecided tries each action as each caller, and wants what a table of the documentation says.
func areDecided(t *testing.T, title string, actions map[string]func(*World, Caller) *Answer) {
	t.Helper()
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		table := decisions(t, title)
		if got, want := len(table), len(callers)*len(actions); got != want {
			t.Fatalf("the table has %d cells, want %d", got, want)
		}
		for _, d := range table {
			who, known := people[d.caller]
			act, does := actions[d.action]
			if !known || !does {
				t.Fatalf("nobody knows how to try %+v", d)
			}
			Same(t, outcome(act(w, who)), d.want, d.caller, d.action)
		}
	})
}

var tenantActions = map[string]func(*World, Caller) *Answer{
	"itself":     func(w *World, who Caller) *Answer { return rememberFor(w, who.Headers, "", who.Self) },
	"group":      func(w *World, who Caller) *Answer { return rememberFor(w, who.Headers, Group, Group) },
	"public":     func(w *World, who Caller) *Answer { return rememberFor(w, who.Headers, "", "public") },
	"another":    func(w *World, who Caller) *Answer { return rememberFor(w, who.Headers, "", Stranger) },
	"as another": func(w *World, who Caller) *Answer { return rememberFor(w, who.Headers, Stranger, who.Self) },
	"public without the word": func(w *World, who Caller) *Answer {
		return rememberFor(w, who.Silent, "", "public")
	},
	"keys": func(w *World, who Caller) *Answer {
		made := w.Ask("POST", "/v1/keys", Object{"subject": "user:new"}, who.Headers...)
		Same(w.T, outcome(w.Ask("GET", "/v1/keys", nil, who.Headers...)), outcome(made), who.Self)
		return made
	},
	"tenants": func(w *World, who Caller) *Answer {
		listed := w.Ask("GET", "/v1/tenants", nil, who.Headers...)
		if made := w.Ask("POST", "/v1/tenants", Object{"name": "made-by-" + strings.ReplaceAll(who.Self, ":", "-")}, who.Headers...); outcome(listed) != outcome(made) {
			w.T.Errorf("%s may list tenants: %s, create them: %s", who.Self, outcome(listed), outcome(made))
		}
		return listed
	},
	"settings": func(w *World, who Caller) *Answer {
		tested := w.Ask("POST", "/v1/settings/test", nil, who.Headers...)
		Same(w.T, outcome(w.Ask("GET", "/v1/settings", nil, who.Headers...)), outcome(tested), who.Self)
		return tested
	},
	"rebuild": func(w *World, who Caller) *Answer {
		return w.Ask("GET", "/v1/projections/knowledge/rebuild/plan", nil, who.Headers...)
	},
	"purge":     func(w *World, who Caller) *Answer { return w.Ask("POST", "/v1/erasures/purge", nil, who.Headers...) },
	"erasures":  func(w *World, who Caller) *Answer { return w.Ask("GET", "/v1/erasures", nil, who.Headers...) },
	"scrubbing": func(w *World, who Caller) *Answer { return w.Ask("GET", "/v1/scrubbing", nil, who.Headers...) },
	"export":    func(w *World, who Caller) *Answer { return w.Ask("GET", "/v1/log/export", nil, who.Headers...) },
	"walls":     func(w *World, who Caller) *Answer { return w.Ask("GET", "/v1/log/protections", nil, who.Headers...) },
}

// rememberFor remembers an item as an owner, the caller's own if that is empty, for somebody.
func rememberFor(w *World, by []Header, owner, scope string) *Answer {
	made := Object{"type": "strategy", "content": "To be known to " + scope, "scopes": []string{scope}}
	if owner != "" {
		made["owner"] = owner
	}
	return w.Ask("POST", "/v1/knowledge", made, by...)
}

func TestWhatMayBeRedactedAndPurgedIsAsDocumented(t *testing.T) {
	areDecided(t, "What may be redacted and purged", redactActions)
}

var redactActions = map[string]func(*World, Caller) *Answer{
	"findings": func(w *World, who Caller) *Answer { return w.Ask("GET", "/v1/scrubbing/findings", nil, who.Headers...) },
	"redact": func(w *World, who Caller) *Answer {
		return w.Ask("POST", "/v1/scrubbing/redactions", nil, who.Headers...)
	},
	"rules": func(w *World, who Caller) *Answer { return w.Ask("GET", "/v1/scrubbing", nil, who.Headers...) },
	"change rules": func(w *World, who Caller) *Answer {
		return w.Ask("PUT", "/v1/scrubbing", Object{"off": []string{"phone"}}, who.Headers...)
	},
	"all of its own": func(w *World, who Caller) *Answer {
		return w.Ask("POST", "/v1/erasures", Object{"of": who.Self}, who.Headers...)
	},
	"all of another's": func(w *World, who Caller) *Answer {
		return w.Ask("POST", "/v1/erasures", Object{"of": Stranger}, who.Headers...)
	},
	"the tenant": func(w *World, who Caller) *Answer {
		return w.Ask("POST", "/v1/erasures", Object{"of": "tenant:default"}, who.Headers...)
	},
	"status": func(w *World, who Caller) *Answer { return w.Ask("GET", "/v1/erasures", nil, who.Headers...) },
	"purge":  func(w *World, who Caller) *Answer { return w.Ask("POST", "/v1/erasures/purge", nil, who.Headers...) },
}

func TestWhatMayBeDoneWithTheLogAndWithProjectionsIsAsDocumented(t *testing.T) {
	areDecided(t, "What may be done with the log and with projections", operateActions)
}

var operateActions = map[string]func(*World, Caller) *Answer{
	"log key":        reading("/v1/log/key"),
	"checkpoint":     reading("/v1/log/checkpoint"),
	"see quarantine": reading("/v1/projections/past/quarantine"),
	"see rebuild":    reading("/v1/projections/knowledge/rebuild"),
	"plan":           reading("/v1/projections/knowledge/rebuild/plan"),
	"replay":         doing("POST", "/v1/projections/past/quarantine/replay"),
	"skip":           doing("POST", "/v1/projections/past/quarantine/skip?all=true"),
	"replay all":     doing("POST", "/v1/projections/past/replay"),
	"cancel":         doing("DELETE", "/v1/projections/knowledge/rebuild"),
	"roll back":      doing("POST", "/v1/projections/knowledge/rollback"),
	"retire":         doing("POST", "/v1/projections/knowledge/retire"),
	"reports": func(w *World, who Caller) *Answer {
		for _, name := range []string{"changes?scope=public", "harm", "stale", "declining"} {
			w.Ask("GET", "/v1/reports/"+name, nil, who.Headers...).Want(http.StatusOK)
		}
		w.Ask("GET", "/v1/reviews", nil, who.Headers...).Want(http.StatusOK)
		return w.Ask("GET", "/v1/reports/actor?actor=user:bob", nil, who.Headers...)
	},
	"rotate": func(w *World, who Caller) *Answer {
		return w.Ask("POST", "/v1/keys/"+prefix(w)+"/rotate", nil, who.Headers...)
	},
	"revoke": func(w *World, who Caller) *Answer {
		return w.Ask("DELETE", "/v1/keys/"+prefix(w), nil, who.Headers...)
	},
	"another's order": func(w *World, who Caller) *Answer {
		order := w.Ask("POST", "/v1/erasures", Object{"of": Stranger}, Bearer(RootKey)).Want(http.StatusAccepted)
		return w.Ask("GET", order.Header.Get("Location"), nil, who.Headers...)
	},
}

// prefix is that of a key that somebody has.
func prefix(w *World) string {
	w.T.Helper()
	return PrefixOf(w.Given(RootKey, Object{"subject": Stranger}))
}

func reading(path string) func(*World, Caller) *Answer { return doing("GET", path) }

// doing sends a request about the server, of which nothing is hidden: who is told that there is nothing to do was
// allowed to.
func doing(method, path string) func(*World, Caller) *Answer {
	return func(w *World, who Caller) *Answer {
		a := w.Ask(method, path, nil, who.Headers...)
		if a.Status == http.StatusConflict || a.Status == http.StatusNotFound {
			a.Status = http.StatusNoContent
		}
		return a
	}
}
