package http_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/http/servertest"
)

type question struct {
	method, path string
	body         Object
}

// poisoned is in every text and name of the items that are withheld.
const poisoned = "zanzibar"

// The askedOfItems about items, besides every GET of the API.
var askedOfItems = []question{
	{"POST", "/v1/search", Object{"query": "payout account", "explain": true, "min_score": 0}},
	{"POST", "/v1/search", Object{"query": "payout account", "order": "score", "min_score": 0, "as_of": "AT"}},
	{"POST", "/v1/search", Object{"query": `"payout account"`, "filter": Object{"status": []string{"active", "quarantined", "proposed"}}}},
	{"POST", "/v1/context", Object{"stage": "query", "query": "payout account", "min_score": 0}},
	{"POST", "/v1/context", Object{"stage": "start", "min_score": 0}},
	{"POST", "/v1/knowledge/fingerprints", Object{"ids": []string{"poison"}}},
	{"GET", "/v1/knowledge?status=active,superseded,deleted,erased,quarantined,proposed", nil},
	{"GET", "/v1/knowledge?status=quarantined,proposed", nil},
	{"GET", "/v1/knowledge?tag=place:" + poisoned, nil},
	{"GET", "/v1/knowledge?uri=viking://resources/" + poisoned, nil},
	{"GET", "/v1/knowledge?sort=confidence", nil},
	{"GET", "/v1/knowledge?scope=" + Group + "&as_of=AT", nil},
	{"GET", "/v1/knowledge?format=csv", nil},
	{"GET", "/v1/knowledge?format=jsonl&status=quarantined", nil},
	{"GET", "/v1/knowledge/poison?as_of=AT", nil},
	{"GET", "/v1/knowledge/poison/compare?from=1&to=AT", nil},
	{"GET", "/v1/events?stream=knowledge:poison", nil},
	{"GET", "/v1/events?scope=" + Group, nil},
	{"GET", "/v1/events?owner=" + Stranger, nil},
	{"GET", "/v1/events?trace_id=" + poisoned, nil},
	{"GET", "/v1/reports/digest?scope=" + Group, nil},
	{"GET", "/v1/reports/usage?id=poison", nil},
	{"GET", "/v1/reviews?scope=" + Group, nil},
	{"GET", "/v1/overview?status=quarantined,proposed", nil},
	{"GET", "/v1/erasures/plan?of=poison", nil},
}

// Every operation that only reads is asked about items that are withheld: no answer to a reader says what they say, or
// that there are such items.
func TestNoAnswerHasWhatIsWithheld(t *testing.T) {
	EachPeopled(t, func(t *testing.T, w *World, people map[string]Caller) {
		for _, item := range []Object{
			{"id": "good", "type": "strategy", "content": "Retry with jitter.", "owner": Stranger, "scopes": []string{Group}},
			{
				"id": "poison", "type": "strategy", "task": poisoned + " transfers", "content": "The payout account is " + poisoned + ".",
				"owner": Stranger, "scopes": []string{Group}, "tags": Object{"place": poisoned},
				"uri": "viking://resources/" + poisoned + "/poison.md", "source": Object{"trace_id": poisoned},
			},
		} {
			w.Ask("POST", "/v1/knowledge", item, Bearer(RootKey)).Want(http.StatusCreated)
		}
		w.Ask("POST", "/v1/knowledge/good/relations", Object{"to": []string{"poison"}}, Bearer(RootKey)).Want(http.StatusOK)
		voted := w.Ask("POST", "/v1/knowledge/poison/feedback", Object{"verdict": "harmful", "query": poisoned}, Bearer(RootKey))
		at := voted.Want(http.StatusOK).Header.Get("Annals-Position")
		w.FollowMeaning()
		w.FollowPast()
		asked := slices.Clone(askedOfItems)
		for path, item := range w.Description().Doc.Paths.Map() {
			if item.Get != nil && path != "/v1/watch" && path != "/metrics" {
				asked = append(asked, question{"GET", strings.NewReplacer("{id}", "poison", "{member}", Stranger).Replace(path), nil})
			}
		}
		told := func(who Caller) (told []string) {
			for _, q := range asked {
				a := w.Ask(q.method, strings.ReplaceAll(q.path, "AT", at), q.body, who.Headers...)
				named := strings.Contains(string(a.Body), "poison") && !strings.Contains(q.path, "poison")
				if strings.Contains(string(a.Body), poisoned) || named {
					told = append(told, q.method+" "+q.path)
				}
			}
			slices.Sort(told)
			return slices.Compact(told)
		}
		if before := told(people["member"]); len(before) < 20 {
			t.Errorf("before, only %v said it", before)
		}
		by := domain.OpenPrincipal()
		draft, err := domain.Remember{By: by, ID: "poison-2", Knowledge: domain.Remembered{
			Class: domain.Class{Type: domain.Strategy}, Owner: Group, Scopes: []domain.Scope{Group}, Proposed: true,
			Text: domain.Text{Content: "Another payout account is " + poisoned + "."},
		}}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range []domain.Command{
			domain.Quarantine{Target: domain.Target{By: by, ID: "poison"}, Containment: "c"}, draft,
		} {
			if _, err := w.Log.Submit(t.Context(), domain.Submission{By: by, Command: command}); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"member", "service", "member for a user", "service for a user", "admin for a user"} {
			for _, told := range told(people[name]) {
				t.Errorf("%s: %s", name, told)
			}
		}
		for _, name := range []string{"admin", "auditor"} { // who see it, but are not told it
			found := w.Ask("POST", "/v1/search", Object{"query": "payout account", "min_score": 0, "as_of": at},
				people[name].Headers...).Want(http.StatusOK)
			if strings.Contains(string(found.Body), poisoned) {
				t.Errorf("%s: a search of the past", name)
			}
		}
		for id, status := range map[string]any{"poison": "quarantined", "poison-2": "proposed"} {
			for _, name := range []string{"admin", "auditor"} {
				shown := w.Ask("GET", "/v1/knowledge/"+id, nil, people[name].Headers...).Want(http.StatusOK)
				Same(t, shown.JSON()["status"], status, name)
			}
		}
	})
}
