package receipts_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	. "github.com/annals-kb/annals/http/servertest"
)

// busyDay is a day on which people write, judge, merge, move and erase items, while agents ask about them.
type busyDay struct {
	*world

	random  *rand.Rand
	callers []Header
	items   []string
	erased  map[string]bool
	said    map[string][]string // what the items of an answer said, by its receipt
	then    map[string]string   // the answers as they are shown first
}

func (d *busyDay) some() string { return d.items[d.random.IntN(len(d.items))] }

// happens lets something happen that may be refused.
func (d *busyDay) happens() {
	by, path := d.callers[d.random.IntN(len(d.callers))], "/v1/knowledge/"+d.some()
	words := fmt.Sprintf("payments and deployments of kind %d", d.random.IntN(50))
	patch := func(change Object) { d.Ask("PATCH", path, change, by, "Content-Type: application/merge-patch+json") }
	switch n := d.random.IntN(100); {
	case n < 30:
		id := fmt.Sprint("i", len(d.items))
		d.items = append(d.items, id)
		scope := []string{"team:pay", "team:ops", "public"}[n%3]
		d.Ask("POST", "/v1/knowledge", Object{
			"id": id, "type": "strategy", "task": "task " + id, "content": words, "scopes": []string{scope}, "owner": "team:pay",
		}, Bearer(RootKey)).Want(http.StatusCreated)
	case n < 50:
		patch(Object{"content": words})
	case n < 70:
		d.Ask("POST", path+"/feedback", Object{"helpful": n%2 == 0, "trace_id": words}, by)
	case n < 78:
		patch(Object{"scopes": []string{[]string{"team:pay", "team:ops"}[n%2]}})
	case n < 85:
		d.Ask("POST", path+"/merge", Object{"items": []string{d.some()}, "content": words}, Bearer(RootKey))
	case n < 90:
		d.Ask("DELETE", path, nil, by)
	case n < 95:
		d.Ask("POST", path+"/restore", Object{}, by)
	default:
		id := strings.TrimPrefix(path, "/v1/knowledge/")
		answer := d.Ask("DELETE", path+"?erase=true&reason_code=gdpr-17", nil, Bearer(RootKey))
		d.erased[id] = d.erased[id] || answer.Status == http.StatusNoContent
	}
}

// asks lets somebody ask, and keeps what the answer says.
func (d *busyDay) asks() {
	d.T.Helper()
	by := d.callers[d.random.IntN(len(d.callers))]
	question := fmt.Sprintf("payments or deployments of kind %d?", d.random.IntN(50))
	var answer *Answer
	var items []any
	switch d.random.IntN(4) {
	case 0:
		answer = d.Ask("POST", "/v1/context", Object{"stage": "query", "query": question}, by).Want(http.StatusOK)
		items = answer.JSON()["items"].([]any)
	case 1:
		if answer = d.Ask("GET", "/v1/knowledge/"+d.some(), nil, by); answer.Status != http.StatusOK {
			return
		}
		items = []any{map[string]any{"knowledge": answer.JSON()}}
	default:
		answer = d.Ask("POST", "/v1/search", Object{"query": question, "limit": 1 + d.random.IntN(10)}, by).Want(http.StatusOK)
		items = answer.JSON()["items"].([]any)
	}
	id := answer.JSON()["receipt"].(string)
	said := []string{}
	for _, item := range items {
		said = append(said, item.(map[string]any)["knowledge"].(map[string]any)["content"].(string))
	}
	d.said[id] = said
}

// lasts holds every answer of the day against what is shown now, and what is shown against what was shown before.
func (d *busyDay) lasts(when string) {
	d.T.Helper()
	changed := 0
	for id, said := range d.said {
		shown := d.show(id, Bearer(RootKey))
		if !shown.Same || len(shown.Given) != len(said) {
			d.T.Errorf("%s: %s is not what was given: %v", when, id, shown.Faults)
			continue
		}
		gone := false
		for i, given := range shown.Given {
			if gone = gone || d.erased[shown.Items[i].ID]; given.Knowledge != nil && given.Knowledge.Content != said[i] {
				d.T.Errorf("%s: item %d of %s said %q, and says %q", when, i+1, id, said[i], given.Knowledge.Content)
			} else if given.Knowledge == nil && !d.erased[shown.Items[i].ID] {
				d.T.Errorf("%s: item %d of %s is %s", when, i+1, id, given.State)
			}
		}
		if _, before := d.then[id]; !before {
			d.then[id] = string(shown.Answer)
		}
		if !gone && string(shown.Answer) != d.then[id] {
			d.T.Errorf("%s: %s is another answer:\n%s\n%s", when, id, shown.Answer, d.then[id])
		} else if gone {
			changed++
		}
	}
	d.T.Logf("%s: %d answers are the same, %d of them with an erased item", when, len(d.said), changed)
	verified := d.Ask("GET", "/v1/receipts/verification", nil, Bearer(RootKey)).Want(http.StatusOK).JSON()
	Same(d.T, verified["verified"], any(true), when, verified)
}

// On the other engine and from a backup: testdata/engines/receipts.txtar.
func TestTheAnswersOfADayAreShownAsTheyWereGiven(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answers := 10_000
		if testing.Short() {
			answers = 300
		}
		d := busyDay{
			world: w, random: rand.New(rand.NewPCG(1, uint64(answers))), erased: map[string]bool{}, said: map[string][]string{},
			then: map[string]string{}, items: []string{"none"},
		}
		for _, caller := range []string{"user:ann", "agent:coder", "agent:reviewer"} {
			d.callers = append(d.callers, w.as(caller, "member", "team:pay", []string{"team:ops", "team:web"}[len(d.callers)%2]))
		}
		for len(d.said) < answers {
			if d.random.IntN(3) == 0 {
				d.happens()
			} else {
				d.asks()
			}
		}
		d.lasts("at the end")
		const rebuild = "/v1/projections/knowledge/rebuild"
		w.Ask("POST", rebuild, nil, Bearer(RootKey)).Want(http.StatusAccepted)
		databasetest.Until(t, "the rebuild ends", func() bool {
			return w.Ask("GET", rebuild, nil, Bearer(RootKey)).Want(http.StatusOK).JSON()["progress"] == nil
		})
		d.lasts("after a rebuild")
	})
}
