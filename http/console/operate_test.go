package console_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/http/servertest"
)

const projectionPath = "/console/projections/knowledge"

func TestAnOperatorComparesRebuildsAndGoesBack(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		w.tell()
		p := w.open(projectionPath)
		p.Click("#act-rebuild")
		p.WaitFor("select[name=confidence]")
		containsAll(t, p.Text("main"), "version 2, beside version 1", "half-discounted/1", "Will differ")
		p.Go(projectionPath + "/act/rebuild?confidence=wilson/1")
		containsAll(t, p.Text("main"), "expired_confidence")
		p.Click("button[name=what_if]")
		p.WaitFor("h3") // the page follows the rebuild
		containsAll(t, p.Text("main"), "The last what-if", "differ from version", "staging", "confidence=", "verified", "annals log --tenant _system")
		p.Axe()
		p.Size(360, 900)
		var wide int
		if p.Eval("document.documentElement.scrollWidth", &wide); wide > 360 {
			t.Errorf("on a phone the page is %d pixels wide", wide)
		}
		p.Size(1280, 900)

		p.Click("#act-rebuild")
		p.Click("form.stack button:not([name])")
		p.WaitFor("#act-rollback")
		containsAll(t, p.Text("main"), "The last rebuild", "version 3", "active", "standby")
		for _, step := range []struct{ act, says, next string }{
			{"rollback", "Both versions are written", "rollback"},
			{"retire", "no way back", "rebuild"},
		} {
			p.Click("#act-" + step.act)
			p.WaitFor("form.stack button")
			containsAll(t, p.Text("main"), step.says)
			p.Click("form.stack button")
			p.WaitFor("#act-" + step.next)
			p.WaitFor(".done")
		}
		if p.Count("#act-rollback, #act-retire") != 0 {
			t.Error("a retired version is offered")
		}
	})
}

func TestAnOperationThatIsRefusedSaysWhy(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		for act, want := range map[string]int{
			"rollback": http.StatusNotFound, "cancel": http.StatusNotFound, "nonsense": http.StatusNotFound,
			"skip": http.StatusConflict,
		} {
			if status, page := w.send(browse(t), projectionPath+"/act/"+act); status != want {
				t.Errorf("%s: %d, want %d\n%s", act, status, want, page)
			}
		}
		status, page := w.send(browse(t), projectionPath+"/act/rebuild", "confidence", "nonsense")
		if status != http.StatusUnprocessableEntity {
			t.Errorf("an unknown policy: %d", status)
		}
		containsAll(t, page, "wilson/1")
		if status, _ := w.send(browse(t), projectionPath+"/act/rebuild?as_of=1"); status < http.StatusBadRequest {
			t.Errorf("in the past: %d", status)
		}
		if status, _ := w.ask("/console/projections/nonsense"); status != http.StatusNotFound {
			t.Errorf("an unknown projection: %d", status)
		}
	})
}

func TestAQuarantinedStreamIsSeenRetriedAndSkipped(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		servertest.Follow(t, func(router *message.Router) {
			follow.AddPreparer(router, w.followers, "picky", func(_ context.Context, page follow.Page) (follow.Change, error) {
				for _, event := range page.Events {
					if event.Stream == "knowledge:language" {
						return nil, errors.New("cannot take this in")
					}
				}
				return follow.NoChange{}, nil
			})
		})
		const path, stream = "/console/projections/picky/", "knowledge:language"
		page := w.shows(browse(t), path+"quarantine", stream)
		containsAll(t, page, "cannot take this in", "/console/k/language", "act/retry?stream=knowledge%3alanguage")
		_, form := w.ask(path + "act/skip?stream=" + stream)
		containsAll(t, form, "never takes in", "cannot take this in", `value="`+stream+`"`)
		status, page := w.send(browse(t), path+"act/retry", "stream", stream)
		if status != http.StatusOK {
			t.Errorf("retry: %d", status)
		}
		containsAll(t, page, "It was tried again.", "cannot take this in")
		status, page = w.send(browse(t), path+"act/skip", "stream", stream)
		if status != http.StatusOK || strings.Contains(page, stream) {
			t.Errorf("skip: %d\n%s", status, page)
		}
		containsAll(t, page, "It is skipped.", "Nothing is in quarantine.")
	})
}

func TestHealthNamesWhatFails(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		_, page := w.ask("/console/health")
		containsAll(t, page, "triggers", "in force", "disk", "annals.example")
		w.full.Store(true)
		for path, most := range map[string]int{"": 10, "health": 8, "projections/knowledge": 5} {
			status, page := w.ask("/console/" + path)
			if asked := strings.Count(page, "<code>curl "); status != http.StatusOK || asked < 2 || asked+1 > most { // and who the caller is
				t.Errorf("%s: %d, %d requests", path, status, asked)
			}
			if path != "projections/knowledge" {
				containsAll(t, page, "the disk is full", "not ready")
			}
		}
	})
}

func TestMembersSeeTheStateAndOperateNothing(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.tell()
		mia, _ := w.given("user:mia")
		browser := browse(t)
		w.send(browser, "/console/login", "key", mia)
		see := func(path string) (int, string) {
			status, _, page := servertest.Send(t, browser, servertest.Request[string](t, http.MethodGet, w.url+path, nil))
			return status, string(page)
		}
		for path, want := range map[string]string{
			projectionPath: "version 1", "/console/projections": "meaning",
			"/console/health": "Only auditors and admins see the protections.",
		} {
			status, page := see(path)
			if status != http.StatusOK || strings.Contains(page, "/act/") || strings.Contains(page, "/quarantine") {
				t.Errorf("%s: %d", path, status)
			}
			containsAll(t, page, want)
		}
		for _, act := range []string{"rebuild", "cancel", "rollback", "retire", "reread", "retry", "skip"} {
			if status, _ := see(projectionPath + "/act/" + act); status != http.StatusForbidden {
				t.Errorf("the form of %s: %d", act, status)
			}
			if status, _ := w.send(browser, projectionPath+"/act/"+act, "stream", "knowledge:staging"); status != http.StatusForbidden {
				t.Errorf("%s: %d", act, status)
			}
		}
		if status, _ := see("/console/projections/meaning/quarantine"); status != http.StatusForbidden {
			t.Errorf("the quarantine: %d", status)
		}
	})
}
