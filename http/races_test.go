package http_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// race lets 20 clients ask at the same time, and counts their answers by status.
func race(ask func(client int) []*answer) map[int]int {
	var mu sync.Mutex
	var racing sync.WaitGroup
	got := map[int]int{}
	for client := range 20 {
		racing.Go(func() {
			answers := ask(client)
			mu.Lock()
			defer mu.Unlock()
			for _, a := range answers {
				got[a.status]++
			}
		})
	}
	racing.Wait()
	return got
}

// only fails the test if there are answers of any other status.
func only(t *testing.T, got map[int]int, statuses ...int) {
	t.Helper()
	for status, n := range got {
		if !slices.Contains(statuses, status) {
			t.Errorf("%d answers have the status %d, want only %v", n, status, statuses)
		}
	}
}

// logged are the events of a stream, oldest first.
func (w *world) logged(stream string, headers ...header) []object {
	w.t.Helper()
	return w.ask("GET", "/v1/events?limit=500&stream="+stream, nil, headers...).want(http.StatusOK).items()
}

func TestRacingMergesOfOverlappingPairsSupersedeEachItemOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const items = 10
		id := func(i int) string { return fmt.Sprint("k", i%items) }
		for i := range items {
			w.remember(id(i), fmt.Sprint("About ", i))
		}
		got := race(func(client int) []*answer {
			into, other, revision := id(client), id(client+1), []header{}
			if client >= items {
				other, revision = id(client+3), []header{`If-Match: "1"`}
			}
			return []*answer{w.ask("POST", "/v1/knowledge/"+into+"/merge", object{"items": []string{other}}, revision...)}
		})
		only(t, got, http.StatusOK, http.StatusConflict, http.StatusPreconditionFailed)
		superseded, merged := 0, 0
		for i := range items {
			times := map[string]int{}
			for _, name := range w.names(id(i)) {
				times[name]++
			}
			if times["superseded"] > 1 {
				t.Errorf("%s was superseded %d times", id(i), times["superseded"])
			}
			superseded, merged = superseded+times["superseded"], merged+times["merged"]
			last := id(i)
			for range items + 1 {
				by, _ := w.ask("GET", "/v1/knowledge/"+last, nil).want(http.StatusOK).json()["superseded_by"].(string)
				if by == "" {
					last = ""
					break
				}
				last = by
			}
			same(t, last, "", "a cycle from", id(i), "through")
		}
		same(t, []int{superseded, merged}, []int{got[http.StatusOK], got[http.StatusOK]}, "events of merges")
	})
}

func TestRacingMembershipsMakeNoCycle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const teams = 5
		team := func(i int) string { return fmt.Sprint("team:t", i%teams) }
		w.ask("PUT", "/v1/directory/user:mia", nil).want(http.StatusOK)
		for i := range teams {
			w.ask("PUT", "/v1/directory/"+team(i), nil).want(http.StatusOK)
		}
		got := race(func(client int) (all []*answer) {
			edge := "/v1/directory/" + team(client) + "/groups/" + team(client+1+client%3)
			mia := "/v1/directory/user:mia/groups/" + team(client%2)
			for i, method := range []string{"PUT", "DELETE", "PUT"} {
				all = append(all, w.ask(method, edge, nil), w.ask([]string{"PUT", "DELETE"}[(client/2+i)%2], mia, nil))
			}
			return all
		})
		only(t, got, http.StatusOK, http.StatusConflict)
		edges := map[string][]string{}
		for _, member := range []string{"user:mia", "team:t0", "team:t1", "team:t2", "team:t3", "team:t4"} {
			direct, logged := []string{}, []string{}
			for _, e := range w.logged(member) {
				group, _ := pick(e, "data", "group").(string)
				is := slices.Contains(logged, group)
				switch {
				case e["name"] == "directory.joined" && !is:
					logged = append(logged, group)
				case e["name"] == "directory.left" && is:
					logged = slices.DeleteFunc(logged, func(one string) bool { return one == group })
				case e["name"] != "directory.added":
					t.Errorf("%s: %v %s a second time", member, e["name"], group)
				}
			}
			groups, _ := w.ask("GET", "/v1/directory/"+member, nil).want(http.StatusOK).json()["groups"].([]any)
			for _, g := range groups {
				if group := g.(object); group["through"] == nil {
					direct = append(direct, group["group"].(string))
				}
			}
			slices.Sort(direct)
			slices.Sort(logged)
			same(t, direct, logged, "groups of", member, "and those by the log")
			edges[member] = direct
		}
		for range teams + 1 { // a member that belongs to no group that is left is in no cycle
			maps.DeleteFunc(edges, func(_ string, groups []string) bool {
				return !slices.ContainsFunc(groups, func(group string) bool { return edges[group] != nil })
			})
		}
		same(t, edges, map[string][]string{}, "a cycle")
	})
}

func TestAProposalIsProposedAndClosedOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "The window is Tuesday.")
		w.remember("b", "The window is Wednesday.")
		ids := sync.Map{}
		got := race(func(int) []*answer {
			a := w.ask("POST", "/v1/reviews/proposals", object{"kind": "contradiction", "items": []string{"b", "a"}})
			ids.Store(a.want(http.StatusOK).json()["id"], nil)
			return []*answer{a}
		})
		same(t, got, map[int]int{http.StatusOK: 20})
		id := ""
		ids.Range(func(one, _ any) bool { id += one.(string); return true })
		outcomes := [20]any{}
		got = race(func(client int) []*answer {
			if client == 0 {
				w.ask("POST", "/v1/knowledge/a/merge", object{"items": []string{"b"}}).want(http.StatusOK)
				return nil
			}
			a := w.ask("POST", "/v1/reviews/proposals/"+id+"/close", object{"outcome": []string{"distinct", "dismissed"}[client%2]})
			if a.status == http.StatusOK {
				outcomes[client] = a.json()["outcome"]
			}
			return []*answer{a}
		})
		only(t, got, http.StatusOK, http.StatusConflict)
		recorded := w.logged("review:" + id)
		same(t, len(recorded), 2, "events of", id)
		for client, outcome := range outcomes {
			if outcome != nil {
				same(t, outcome, pick(recorded[1], "data", "outcome"), "the outcome for client", client)
			}
		}
	})
}
