package console_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/console"
	"github.com/annals-kb/annals/http/servertest"
)

func TestOnlyAnItemThatIsOpenedFromAnAnswerIsUsed(t *testing.T) {
	t.Parallel()
	engine, _ := databasetest.OneOf(t)
	databasetest.OnServed(t, engine, func(t *testing.T, db *database.DB) {
		recorder := &servertest.Recorder{}
		w := newWorld(t, db, "", func(api *servertest.Config, _ *console.Config) { api.Recorder = recorder })
		w.tell()
		uses := func() (ids []string) {
			for _, given := range recorder.Given() {
				for _, one := range given.Items {
					if given.Kind == domain.GivenUse {
						ids = append(ids, one.Item.ID)
					}
				}
			}
			return ids
		}
		before := len(recorder.Given())
		_, page := w.ask("/console/search?q=staging")
		for _, path := range []string{"/console/search?q=rebuilt", "/console/k/staging", "/console/knowledge", "/console/review"} {
			w.ask(path)
		}
		servertest.Same(t, len(uses()), 0, "uses by looking")
		if len(recorder.Given()) < before+5 {
			t.Errorf("%d receipts for five pages", len(recorder.Given())-before)
		}
		_, link, _ := strings.Cut(page, `href="/console/k/staging?receipt=`)
		receipt, _, _ := strings.Cut(link, `"`)
		if !strings.HasPrefix(receipt, "r1-") {
			t.Fatalf("the link to a hit names no receipt: %q", receipt)
		}
		w.ask("/console/k/staging?receipt=" + receipt)
		servertest.Same(t, uses(), []string{"staging"}, "uses by opening")
	})
}
