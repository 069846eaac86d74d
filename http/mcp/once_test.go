package mcp_test

import (
	"fmt"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

func TestWhatManyAgentsSayAtOnceIsOneItem(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db)
		const agents = 8
		hosts := make([]*sdk.ClientSession, agents)
		for i := range hosts {
			w.key = w.given(object{"subject": fmt.Sprint("agent:a", i), "memberships": []string{"team:pay"}})
			hosts[i] = w.byHTTP(false)
		}
		outcomes, items := map[any]int{}, map[any]int{}
		var saying sync.WaitGroup
		var counting sync.Mutex
		for _, host := range hosts {
			saying.Go(func() {
				data := w.callOn(host, "remember", object{"content": "周一发布", "category": "patterns", "scopes": "team:pay"}).ok()
				counting.Lock()
				defer counting.Unlock()
				outcomes[data["outcome"]]++
				items[data["id"]]++
			})
		}
		saying.Wait()
		same(t, outcomes, map[any]int{"created": 1, "restated": agents - 1})
		same(t, len(items), 1)
	})
}
