package http_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/keys"
)

// decision is a cell of a table in docs/security.md.
type decision struct{ caller, item, action, want string }

// decisions reads the table under a heading of docs/security.md: every cell for every caller, item and
// action that its row and its column name.
func decisions(t *testing.T, heading string) []decision {
	t.Helper()
	page, err := os.ReadFile("../docs/security.md")
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

// caller is somebody who tries the cells of a table.
type caller struct {
	self    string // whose items are its own
	headers []header
	silent  []header // the same with a key that does not let it write to everybody
}

var callers = []string{"member", "service", "auditor", "admin", "root", "member for a user", "service for a user", "admin for a user", "root for a user"}

const group, stranger = "team:pay", "user:bob"

// eachPeopled runs a test on both engines, in a world with every kind of caller.
func eachPeopled(t *testing.T, test func(t *testing.T, w *world, people map[string]caller)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		heard := &statements{}
		db.AddQueryHook(heard)
		w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			log := cfg.Writer.(*events.Log)
			cfg.Callers.Keys, cfg.Callers.RootKey = keys.NewKeys(db, log), rootKey
			rebuilds(t, cfg)
			cfg.Prover = servertest.Prover(t, db, log, cfg.Followers, 0) // part: proofs
			cfg.Eraser = projections.NewEraser(cfg.Reader.(projections.Reader).Knowledge, log, databasetest.Log(t))
			writer := events.NewScrubbingWriter(log, true)
			cfg.Writer, cfg.Scrubbing, cfg.Recorded = writer, writer, writer
			cfg.Background = projections.Background{Followers: cfg.Followers, Past: cfg.Reader.(projections.Reader).Past}
			cfg.Protections = func(context.Context) ([]domain.Protection, error) { return nil, nil }
		})
		w.heard = heard
		w.spec = nil                 // the same few answers, hundreds of times: others hold them against the description
		heard.from = len(heard.sent) // what is read when a server opens is of no tenant
		test(t, w, w.people())
		heard.check(t)
	})
}

// people are every kind of caller, in the tenant default.
func (w *world) people() map[string]caller {
	w.t.Helper()
	const acting = header("Annals-On-Behalf-Of: user:una")
	root := bearer(w.given(rootKey, object{"subject": "user:rita", "role": "root", "memberships": []string{group}, "acts_for": true}))
	all := map[string]caller{
		"root":            {self: "user:default", headers: []header{bearer(rootKey)}, silent: []header{bearer(rootKey)}},
		"root for a user": {self: "user:una", headers: []header{root, acting}, silent: []header{root, acting}},
	}
	for role, self := range map[string]string{"member": "user:mia", "service": "agent:worker", "auditor": "user:otto", "admin": "user:olga"} {
		key := func(public bool) header {
			return bearer(w.given(rootKey, object{
				"subject": self, "role": role, "memberships": []string{group}, "publish_public": public, "acts_for": true,
			}))
		}
		with, without := key(true), key(false)
		all[role] = caller{self, []header{with}, []header{without}}
		all[role+" for a user"] = caller{"user:una", []header{with, acting}, []header{without, acting}}
	}
	return all
}

func TestWhatMayBeDoneWithAnItemIsAsDocumented(t *testing.T) {
	eachPeopled(t, func(_ *testing.T, w *world, people map[string]caller) {
		w.decide(people, "What may be done with an item", itemActions)
	})
}

func TestWhatMayBeDestroyedIsAsDocumented(t *testing.T) {
	eachPeopled(t, func(_ *testing.T, w *world, people map[string]caller) {
		w.decide(people, "What may be destroyed, and kept from that", endings)
	})
}

// decide tries every cell of a table about items.
func (w *world) decide(people map[string]caller, heading string, actions map[string]func(*world, caller, string) string) {
	t, table := w.t, decisions(w.t, heading)
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
	w.peopleItems(people, table)
	for _, d := range table {
		who, known := people[d.caller]
		act, does := actions[d.action]
		if !known || !does || !slices.Contains(relations, d.item) {
			t.Fatalf("nobody knows how to try %+v", d)
		}
		same(t, act(w, who, itemOf(d)), d.want, d.caller, d.action, d.item)
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
func (w *world) peopleItems(people map[string]caller, table []decision) {
	w.t.Helper()
	var isServerError, theirs []object
	for _, d := range table {
		id := itemOf(d)
		made := object{"id": id, "type": "strategy", "content": "How to try " + d.action, "tags": object{"cell": id}}
		owner := ownerOf(people[d.caller], id)
		made["owner"], made["scopes"] = owner, []string{owner}
		switch d.item {
		case "shared":
			made["scopes"] = []string{owner, group}
		case "public":
			made["scopes"] = []string{"public"}
		}
		if d.item == "another tenant's" {
			theirs = append(theirs, made)
		} else {
			isServerError = append(isServerError, made)
		}
	}
	isServerError = append(isServerError, object{"id": "successor", "type": "strategy", "content": "better", "scopes": []string{"public"}})
	w.ask("POST", "/v1/tenants", object{"name": "other"}, bearer(rootKey)).want(http.StatusCreated)
	for tenant, items := range map[header][]object{"default": isServerError, "other": theirs} {
		for _, made := range w.ask("POST", "/v1/knowledge", items, bearer(rootKey), "Annals-Tenant: "+tenant).want(http.StatusOK).lines() {
			if made["status"] != "created" {
				w.t.Fatalf("got %v", made)
			}
		}
		for _, made := range items {
			if id := made["id"].(string); strings.HasSuffix(id, ".restore") {
				w.ask("DELETE", "/v1/knowledge/"+id, nil, bearer(rootKey), "Annals-Tenant: "+tenant).want(http.StatusNoContent)
			}
		}
	}
}

// itemActions try something on an item, and say what came of it: yes, 403 or 404.
var itemActions = map[string]func(w *world, who caller, id string) string{
	"get":     asking("GET", "", nil),
	"history": asking("GET", "/history", nil),
	"list":    listing("/v1/knowledge?tag=cell:%s"),
	"events":  listing("/v1/events?stream=knowledge:%s"),
	"search":  func(w *world, who caller, id string) string { return searching(w, who, id, nil) },
	"context": func(w *world, who caller, id string) string {
		told := w.ask("POST", "/v1/context", object{
			"stage": "query", "query": "how to try context", "tags": object{"cell": id}, "min_score": 0,
		}, who.headers...).want(http.StatusOK)
		switch {
		case len(told.items()) == 1:
			return "yes"
		case len(told.items()) == 0 && told.json()["injection"] == "":
			return "404"
		}
		return fmt.Sprintf("%d items", len(told.items()))
	},
	"search as its owner": func(w *world, who caller, id string) string {
		kind, name, _ := strings.Cut(ownerOf(who, id), ":")
		return searching(w, who, id, object{kind + "_id": name})
	},
	"usage": func(w *world, who caller, id string) string {
		return w.alike(id, func(id string) *answer { return w.ask("GET", "/v1/reports/usage?id="+id, nil, who.headers...) })
	},
	"vote":      asking("POST", "/feedback", object{"verdict": "helpful", "trace_id": "t"}),
	"stale":     asking("POST", "/stale", object{"reason": "old"}),
	"confirm":   asking("POST", "/confirm", object{}),
	"supersede": asking("POST", "/supersede", object{"by": "successor"}),
	"revise":    asking("PATCH", "", object{"content": "another"}),
	"rescope":   asking("PATCH", "", object{"scopes": []string{group}, "task": "shared"}),
	"transfer":  asking("PATCH", "", object{"owner": group, "task": "handed over"}),
	"forget":    asking("DELETE", "", nil),
	"restore":   asking("POST", "/restore", nil),
}

// endings are tried as itemActions are.
var endings = map[string]func(w *world, who caller, id string) string{
	"erase":   asking("DELETE", "?erase=true", nil),
	"hold":    asking("POST", "/hold", object{"reason_code": "trial"}),
	"release": asking("POST", "/release", object{"reason_code": "trial-over"}),
	"lineage": asking("GET", "/lineage", nil),
	"plan": func(w *world, who caller, id string) string {
		return w.alike(id, func(id string) *answer { return w.ask("GET", "/v1/erasures/plan?of="+id, nil, who.headers...) })
	},
	"order": func(w *world, who caller, id string) string {
		return w.alike(id, func(id string) *answer {
			return w.ask("POST", "/v1/erasures", object{"of": id, "with_lineage": true}, who.headers...)
		})
	},
}

// asking sends a request about an item.
func asking(method, below string, body any) func(*world, caller, string) string {
	return func(w *world, who caller, id string) string {
		return w.alike(id, func(id string) *answer { return w.ask(method, "/v1/knowledge/"+id+below, body, who.headers...) })
	}
}

// alike says what came of a request. If that is 404, the same request about an id that does not exist must
// have the same answer.
func (w *world) alike(id string, ask func(id string) *answer) string {
	w.t.Helper()
	a := ask(id)
	if a.status != http.StatusNotFound {
		return outcome(a)
	}
	const nothing = "there-is-no-such-item"
	if got, want := a.without(id), ask(nothing).without(nothing); got != want {
		w.t.Errorf("%s can be told from what does not exist:\n%s\n%s", a.what, got, want)
	}
	return "404"
}

// without is an answer without what differs between any two.
func (a *answer) without(id string) string {
	body := strings.ReplaceAll(string(a.body), id, "ID")
	if at := strings.Index(body, "urn:annals:request:"); at >= 0 {
		body = body[:at] + body[at+len("urn:annals:request:")+36:]
	}
	header := a.header.Clone()
	for _, name := range []string{"X-Request-Id", "Date", "Content-Length"} {
		header.Del(name)
	}
	return fmt.Sprint(a.status, header, body)
}

func outcome(a *answer) string {
	if a.status < 300 {
		return "yes"
	}
	return fmt.Sprint(a.status)
}

// listing asks for a list that has an item or leaves it out.
func listing(path string) func(*world, caller, string) string {
	return func(w *world, who caller, id string) string {
		a := w.ask("GET", fmt.Sprintf(path, id), nil, who.headers...).want(http.StatusOK)
		switch {
		case len(a.items()) > 0:
			return "yes"
		case a.json()["next_cursor"] != nil:
			return "a cursor to nothing"
		}
		return "404"
	}
}

// ownerOf is who owns the item of a cell, in the tenant of the caller.
func ownerOf(who caller, id string) string {
	switch strings.Split(id, ".")[1] {
	case "its-own", "another-tenant-s":
		return who.self
	case "its-group-s":
		return group
	}
	return stranger
}

func searching(w *world, who caller, id string, as object) string {
	question := object{"query": "how to try search", "tags": object{"cell": id}, "explain": true, "min_score": 0}
	if as != nil {
		question["context"] = as
	}
	found := w.ask("POST", "/v1/search", question, who.headers...)
	if found.status == http.StatusForbidden {
		return "403"
	}
	found.want(http.StatusOK)
	passed := pick(found.json(), "explain", "passed").(float64)
	switch {
	case len(found.items()) == 1 && passed == 1:
		return "yes"
	case len(found.items()) == 0 && passed == 0:
		return "404"
	}
	return fmt.Sprintf("%d hits of %g", len(found.items()), passed)
}

func TestWhatMayBeDoneInATenantIsAsDocumented(t *testing.T) {
	areDecided(t, "What may be done in a tenant", tenantActions)
}

// areDecided tries each action as each caller, and wants what a table of the documentation says.
func areDecided(t *testing.T, title string, actions map[string]func(*world, caller) *answer) {
	t.Helper()
	eachPeopled(t, func(t *testing.T, w *world, people map[string]caller) {
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
			same(t, outcome(act(w, who)), d.want, d.caller, d.action)
		}
	})
}

var tenantActions = map[string]func(*world, caller) *answer{
	"itself":     func(w *world, who caller) *answer { return w.rememberFor(who.headers, "", who.self) },
	"group":      func(w *world, who caller) *answer { return w.rememberFor(who.headers, group, group) },
	"public":     func(w *world, who caller) *answer { return w.rememberFor(who.headers, "", "public") },
	"another":    func(w *world, who caller) *answer { return w.rememberFor(who.headers, "", stranger) },
	"as another": func(w *world, who caller) *answer { return w.rememberFor(who.headers, stranger, who.self) },
	"public without the word": func(w *world, who caller) *answer {
		return w.rememberFor(who.silent, "", "public")
	},
	"keys": func(w *world, who caller) *answer {
		made := w.ask("POST", "/v1/keys", object{"subject": "user:new"}, who.headers...)
		same(w.t, outcome(w.ask("GET", "/v1/keys", nil, who.headers...)), outcome(made), who.self)
		return made
	},
	"tenants": func(w *world, who caller) *answer {
		listed := w.ask("GET", "/v1/tenants", nil, who.headers...)
		if made := w.ask("POST", "/v1/tenants", object{"name": "made-by-" + strings.ReplaceAll(who.self, ":", "-")}, who.headers...); outcome(listed) != outcome(made) {
			w.t.Errorf("%s may list tenants: %s, create them: %s", who.self, outcome(listed), outcome(made))
		}
		return listed
	},
	"settings": func(w *world, who caller) *answer {
		tested := w.ask("POST", "/v1/settings/test", nil, who.headers...)
		same(w.t, outcome(w.ask("GET", "/v1/settings", nil, who.headers...)), outcome(tested), who.self)
		return tested
	},
	"rebuild": func(w *world, who caller) *answer {
		return w.ask("GET", "/v1/projections/knowledge/rebuild/plan", nil, who.headers...)
	},
	"purge":     func(w *world, who caller) *answer { return w.ask("POST", "/v1/erasures/purge", nil, who.headers...) },
	"erasures":  func(w *world, who caller) *answer { return w.ask("GET", "/v1/erasures", nil, who.headers...) },
	"scrubbing": func(w *world, who caller) *answer { return w.ask("GET", "/v1/scrubbing", nil, who.headers...) },
	"export":    func(w *world, who caller) *answer { return w.ask("GET", "/v1/log/export", nil, who.headers...) },
	"walls":     func(w *world, who caller) *answer { return w.ask("GET", "/v1/log/protections", nil, who.headers...) },
}

// rememberFor remembers an item as an owner, the caller's own if that is empty, for somebody.
func (w *world) rememberFor(by []header, owner, scope string) *answer {
	made := object{"type": "strategy", "content": "To be known to " + scope, "scopes": []string{scope}}
	if owner != "" {
		made["owner"] = owner
	}
	return w.ask("POST", "/v1/knowledge", made, by...)
}
