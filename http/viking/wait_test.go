package viking_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/viking"
)

// awaited tells when somebody has begun to wait for what is learned.
type awaited struct {
	viking.Sessions
	begun chan struct{}
}

func (a awaited) AwaitExtraction(ctx context.Context, tenant string, position int64) error {
	a.begun <- struct{}{}
	return a.Sessions.AwaitExtraction(ctx, tenant, position)
}

// What was committed before somebody waits is knowledge after.
func TestWhoHasWaitedFindsWhatWasLearned(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		begun := make(chan struct{}, 2)
		w := newWorld(t, db, open, func(c *viking.Config) { c.Sessions = awaited{c.Sessions, begun} })
		w.ask("POST", sessionsPath+"/s/messages", object{"role": "user", "content": "I prefer tabs to spaces in Go code."}).object()
		w.ask("POST", sessionsPath+"/s/commit", object{}).object()
		w.ask("POST", "/api/v1/system/wait", object{"timeout": 0.2}).refused(http.StatusGatewayTimeout, "DEADLINE_EXCEEDED") // nobody learns yet
		<-begun
		answered := make(chan *answer, 1)
		go func() {
			defer close(answered)
			answered <- w.ask("POST", "/api/v1/system/wait", object{"timeout": 1e10}) // seconds, as who waits for ever says
		}()
		<-begun // before anybody learns
		w.embedding()
		w.learning()
		answer, told := <-answered
		if !told {
			t.FailNow() // it was not asked
		}
		waited := answer.object()
		if learned, told := waited["Semantic"].(object)["processed"].(float64); !told || learned < 1 {
			t.Errorf("waited for %v", waited)
		}
		found := w.find(object{"query": "tabs or spaces", "target_uri": "viking://user/memories"})
		like(t, found, object{"memories": count(1)})
	})
}
