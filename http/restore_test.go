package http_test

import (
	"fmt"
	"net/http"
	"testing"
)

// In what is read live, in what is computed anew, and in what is read of the past.
func TestWhatWasSupersededAndForgottenComesBackAsItWas(t *testing.T) {
	eachRebuilder(t, func(t *testing.T, w *world) {
		w.followPast()
		w.remember("old", "retry at once")                                                    // 1
		w.remember("new", "retry with jitter")                                                // 2
		w.ask("POST", "/v1/knowledge/old/supersede", object{"by": "new"}).want(http.StatusOK) // 3
		w.ask("DELETE", "/v1/knowledge/old", nil).want(http.StatusNoContent)                  // 4
		restored := w.ask("POST", "/v1/knowledge/old/restore", object{}).want(http.StatusOK)  // 5
		superseded := func(when string, k object) {
			t.Helper()
			if k["status"] != "superseded" || k["superseded_by"] != "new" {
				t.Errorf("%s: %v", when, k)
			}
		}
		superseded("restored", restored.json())
		superseded("then", w.ask("GET", "/v1/knowledge/old?as_of=5", nil).want(http.StatusOK).json())
		if list := w.ask("GET", "/v1/knowledge?status=superseded&as_of=5", nil).want(http.StatusOK).items(); len(list) != 1 || list[0]["superseded_by"] != "new" {
			t.Errorf("superseded then: %v", list)
		}
		w.ask("POST", rebuildPath, nil).want(http.StatusAccepted)
		if last := w.rebuilt(); last["state"] != "active" {
			t.Fatalf("rebuilt: %v", last)
		}
		superseded("rebuilt", w.ask("GET", "/v1/knowledge/old", nil).want(http.StatusOK).json())

		w.ask("POST", "/v1/knowledge/old/restore", object{}).want(http.StatusOK)
		if k := w.ask("GET", "/v1/knowledge/old", nil).want(http.StatusOK).json(); k["status"] != "active" || fmt.Sprint(k["superseded_by"]) != "<nil>" {
			t.Errorf("restored once more: %v", k)
		}
	})
}
