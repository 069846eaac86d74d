package visible_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	. "github.com/annals-kb/annals/http/servertest"
)

func TestAReadWaitsUntilItIsAsNewAsAPosition(t *testing.T) {
	EachWith(t, Following, func(t *testing.T, w *World) {
		position := w.Remember("k", "retry with jitter").Header.Get("Annals-Position")
		question := Object{"query": "retry with jitter"}
		for _, path := range []string{"/v1/knowledge/k", "/v1/knowledge"} { // written with the event
			w.Ask("GET", path+"?min_position="+position, nil).Want(http.StatusOK)
		}
		a := w.Ask("POST", "/v1/search?max_wait=1&min_position="+position, question).Want(http.StatusServiceUnavailable)
		if a.JSON()["type"] != "urn:annals:problem:behind" || a.Header.Get("Retry-After") == "" {
			t.Errorf("got %v, retry after %q", a.JSON(), a.Header.Get("Retry-After"))
		}
		w.FollowMeaning()
		for i := range 5 {
			content := fmt.Sprint("lesson about backoff ", i)
			position = w.Remember(fmt.Sprint("k", i), content).Header.Get("Annals-Position")
			a := w.Ask("POST", "/v1/search?max_wait=25&min_position="+position, Object{"query": content, "limit": 1}).Want(http.StatusOK)
			if hit := a.Items()[0]; Pick(hit, "knowledge", "id") != fmt.Sprint("k", i) || Pick(hit, "parts", "semantic").(float64) < 0.5 {
				t.Errorf("got %v, want what was just written, found by its meaning", hit)
			}
		}
		w.Ask("POST", "/v1/search", question, Header("Annals-Min-Position: "+position)).Want(http.StatusOK)

		head, err := strconv.Atoi(position)
		if err != nil {
			t.Fatal(err)
		}
		coming := make(chan *Answer)
		go func() { coming <- w.Ask("GET", fmt.Sprint("/v1/knowledge/k?max_wait=25&min_position=", head+1), nil) }()
		w.Remember("later", "what somebody waits for")
		(<-coming).Want(http.StatusOK)

		beyond := make(chan *Answer)
		for _, ask := range []func() *Answer{
			func() *Answer {
				return w.Ask("POST", fmt.Sprint("/v1/search?max_wait=1&min_position=", head+2), question)
			},
			func() *Answer { return w.Ask("GET", fmt.Sprint("/v1/knowledge?max_wait=1&min_position=", head+2), nil) },
			func() *Answer {
				return w.Ask("GET", fmt.Sprint("/v1/knowledge/k?max_wait=1&min_position=", head+2), nil)
			},
		} {
			go func() { beyond <- ask() }()
		}
		for range 3 {
			a := (<-beyond).Want(http.StatusServiceUnavailable)
			if a.JSON()["type"] != "urn:annals:problem:behind" || a.Header.Get("Retry-After") == "" {
				t.Errorf("beyond the log: got %v, retry after %q", a.JSON(), a.Header.Get("Retry-After"))
			}
		}
		got := w.Ask("POST", "/v1/search?min_position=x&max_wait=99", question).Want(http.StatusUnprocessableEntity).Errors()
		Same(t, len(got), 2)
	})
}
