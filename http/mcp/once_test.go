package mcp_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestWhatManyAgentsSayAtOnceIsOneItem(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db)
		w.sayAtOnce(w.meet(w))
	})
}

func TestWhatManyAgentsSayAtOnceOnTwoServersIsOneItem(t *testing.T) {
	t.Parallel()
	url := databasetest.Postgres(t)
	db := databasetest.Open(t, url)
	if err := database.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, db)
	w.sayAtOnce(w.meet(w, newWorld(t, databasetest.Open(t, url))))
}

// meet connects twenty agents of a team, each with a key of its own, to servers in turn.
func (w *world) meet(servers ...*world) (hosts []*sdk.ClientSession) {
	w.t.Helper()
	w.post("/v1/tenants", "", object{"name": "acme"})
	w.tenant = "acme"
	for i := range 20 {
		w.key = w.given(object{"subject": fmt.Sprint("agent:a", i), "memberships": []string{"team:pay"}, "publish_public": true})
		at := *servers[i%len(servers)]
		at.key = w.key
		hosts = append(hosts, at.byHTTP(false))
	}
	w.api = w.as(w.key)
	return hosts
}

// sayAtOnce lets agents say the same at the same time: each for everybody, each for its team, half of them for either,
// and one of them twenty times about its user.
func (w *world) sayAtOnce(hosts []*sdk.ClientSession) {
	w.t.Helper()
	public := object{"content": "Retry 429s with jitter", "category": "patterns", "task": "call an API", "scopes": "public"}
	w.becomes(w.saidAtOnce(hosts, public), 20, map[string]int{"created": 1, "restated": 19})
	team := object{"content": "周一发布", "category": "patterns", "scopes": []string{"team:pay"}}
	w.becomes(w.saidAtOnce(hosts, team), 20, map[string]int{"created": 1, "restated": 19})

	team["content"] = "Deploy on Mondays"
	everybody := maps.Clone(team)
	everybody["scopes"] = "public"
	both := w.saidAtOnce(hosts, team, everybody)
	var forTeam, forAll []object
	for i := 0; i < len(both); i += 2 {
		forTeam, forAll = append(forTeam, both[i]), append(forAll, both[i+1])
	}
	w.becomes(forTeam, 10, map[string]int{"created": 1, "restated": 9})
	w.becomes(forAll, 10, map[string]int{"created": 1, "restated": 9})

	alone := make([]*sdk.ClientSession, len(hosts))
	for i := range alone {
		alone[i] = hosts[0]
	}
	own := object{"content": "Prefers teal accents", "category": "preferences"}
	w.becomes(w.saidAtOnce(alone, own), 2, map[string]int{"created": 1, "restated": 1, "unchanged": 18})
}

// saidAtOnce is what the tool remember answers to each who says one of the lessons, in turn, when all do at the same time.
func (w *world) saidAtOnce(hosts []*sdk.ClientSession, lessons ...object) []object {
	w.t.Helper()
	said := make([]object, len(hosts))
	var saying sync.WaitGroup
	for i, host := range hosts {
		saying.Go(func() {
			answer, err := host.CallTool(w.t.Context(), &sdk.CallToolParams{Name: "remember", Arguments: lessons[i%len(lessons)]})
			if err != nil || answer.IsError {
				w.t.Errorf("%d: %v, %+v", i, err, answer)
				return
			}
			said[i], _ = answer.StructuredContent.(object)["data"].(object)
		})
	}
	saying.Wait()
	return said
}

// becomes expects that what was said is one item with so many voices, and was answered with these outcomes.
func (w *world) becomes(said []object, helpful float64, want map[string]int) {
	w.t.Helper()
	outcomes, items := map[string]int{}, map[any]int{}
	most := 0.0
	for _, data := range said {
		outcomes[fmt.Sprint(data["outcome"])]++
		items[data["id"]]++
		voices, _ := data["helpful"].(float64)
		most = max(most, voices)
	}
	if diff := cmp.Diff(outcomes, want); diff != "" || len(items) != 1 || most != helpful {
		w.t.Errorf("%d items with %v voices at most, want one with %v:\n%s", len(items), most, helpful, diff)
	}
}
