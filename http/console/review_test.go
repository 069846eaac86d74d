package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// stale remembers items that are reported stale, one after the other.
func (w *world) stale(count int) {
	w.t.Helper()
	for i := range count {
		id := fmt.Sprint("item", i)
		w.remember(client.Knowledge{ID: id, Type: "tool", Task: "Task " + id, Content: "The content of " + id + "."})
		if _, err := w.api.ReportStale(w.t.Context(), id, "it moved"); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) status(id string) string {
	w.t.Helper()
	k, err := w.api.Knowledge(w.t.Context(), id)
	if err != nil {
		return err.Error()
	}
	return k.Status
}

func TestAnOwnerEmptiesAQueueOfTenByKeyboard(t *testing.T) {
	each(t, "", func(t *testing.T, w *world) {
		w.stale(10)
		w.remember(client.Knowledge{ID: "better", Type: "tool", Task: "Better", Content: "A better one."})
		p := w.open("/console/")
		containsAll(t, p.Text("main"), "Waiting for you", "1 of 10")
		p.Press("g", "r")
		see := func(progress, id string) {
			t.Helper()
			p.WaitFor(fmt.Sprintf(`article h2 a[href$="/k/%s"]`, id))
			if got := strings.TrimSpace(p.Text("#progress")); got != progress {
				t.Errorf("at %s the progress is %q, want %q", id, got, progress)
			}
		}
		see("1 of 10", "item0")
		containsAll(t, p.Text("article"), "The content of item0.", "reported stale", "it moved")
		p.Press("c")
		see("2 of 10", "item1")
		p.Press("d") // and undone
		see("3 of 10", "item2")
		p.Press("u")
		see("2 of 10", "item1")
		p.Press("d")
		see("3 of 10", "item2")
		p.Press("n")
		see("4 of 10", "item3")
		p.Press("s")
		p.WaitFor("input[name=find]:focus")
		p.Press("b", "e", "t", "t", "e", "r", " ", "o", "n", "e")
		p.WaitFor("#choices label:first-of-type input[value=better]")
		for p.Count("#choices input:focus") == 0 {
			p.Press("Tab")
		}
		p.Press(" ", "Enter")
		see("5 of 10", "item4")
		p.Press("e")
		p.WaitFor("#task:focus")
		p.Press("N", "e", "w", " ")
		for p.Count("main form button:focus") == 0 {
			p.Press("Tab")
		}
		p.Press("Enter")
		p.WaitFor("button[value=save]:focus")
		p.Press("Enter")
		p.WaitFor(".done")
		see("5 of 10", "item4")
		containsAll(t, p.Text("main"), "Confirm the item, and it leaves the queue.", "The last change", "New Task item4")
		p.Press("c")
		see("6 of 10", "item5")
		p.Press("C")
		p.WaitFor("#days:focus")
		for p.Count("main form button:focus") == 0 {
			p.Press("Tab")
		}
		p.Press("Enter")
		for i := 6; i < 10; i++ {
			see(fmt.Sprintf("%d of 10", i+1), fmt.Sprint("item", i))
			p.Press("c")
		}
		p.WaitFor(".empty")
		containsAll(t, p.Text(".empty"), "Nothing to do", "You skipped 1.")
		p.Go("/console/review")
		see("1 of 1", "item2")
		p.Press("c")
		p.WaitFor(".empty")
		containsAll(t, p.Text(".empty"), "Nothing to do", "You have done 1.")
		if got := w.status("item3"); got != "superseded" {
			t.Errorf("item3 is %s", got)
		}
		if got := w.status("item1"); !strings.Contains(got, "item1") || got == "active" {
			t.Errorf("item1 is %s", got)
		}
	})
}

func TestAReviewWorksWithoutJavaScriptAndRefusesWhatChangedMeanwhile(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.stale(2)
		_, page := w.ask("/console/review?queue=stale")
		containsAll(t, page, "1 of 2", "it moved", `value="confirm"`, "Confirm for 90 days")
		post := func(values ...string) (int, string) {
			return w.send(http.DefaultClient, "/console/review?queue=stale", values...)
		}
		status, page := post("act", "forget", "id", "item0", "revision", "7")
		if status != http.StatusPreconditionFailed {
			t.Errorf("the answer is %d", status)
		}
		containsAll(t, page, "1 of 2", `role="alert"`)
		if status, _ = post("act", "erase", "id", "item0"); status != http.StatusNotFound {
			t.Errorf("an unknown act is answered %d", status)
		}
		if _, page = post("act", "forget", "id", "item0", "revision", "1", "reason", "wrong"); w.status("item0") == "active" {
			t.Errorf("it was not forgotten: %s", page)
		}
	})
}

func TestAReviewIsOfNow(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.stale(1)
		_, page := w.ask("/console/review?as_of=1")
		containsAll(t, page, "A review is of now.")
		if strings.Contains(page, "item0") {
			t.Error("it shows an item")
		}
	})
}

func TestAnAuditorReadsAReviewAndCannotAct(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.stale(2)
		_, _, body := servertest.Send(t, http.DefaultClient, servertest.Request(t, http.MethodPost, w.url+"/v1/keys",
			map[string]any{"subject": "user:otto", "role": "auditor"}, "Authorization: Bearer "+rootKey))
		var made struct{ Key string }
		if err := json.Unmarshal(body, &made); err != nil {
			t.Fatal(err)
		}
		_, page := w.visit(w.login(made.Key), "/console/review")
		containsAll(t, page, "1 of 2", "Skip")
		for _, offered := range []string{`value="confirm"`, `value="forget"`, "/act/"} {
			if strings.Contains(page, offered) {
				t.Errorf("it offers %s", offered)
			}
		}
	})
}
