package record_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestAStreamFollowsTheLogAndResumes(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		all := w.Listen("/v1/events")
		Same(t, all.Positions(7), []float64{1, 2, 3, 4, 5, 6, 7}, "what was there")
		votes := w.Listen("/v1/events?name=knowledge.found_*&after=4")
		words := w.Listen("/v1/events?q=tea&after=4")
		w.Remember("new", "Tea")
		seen, e := all.Next("")
		Like(t, e, Object{"position": 8.0, "event_id": seen.ID, "stream": "knowledge:new"})
		all.Leave()
		w.Ask("POST", "/v1/knowledge/new/feedback", Object{"verdict": "helpful"}).Want(http.StatusOK)
		Same(t, votes.Positions(1), []float64{9}, "a vote")
		Same(t, words.Positions(1), []float64{8}, "a word")
		again := w.Listen("/v1/events?after=1", Header("Last-Event-ID: "+seen.ID))
		Same(t, again.Positions(1), []float64{9}, "resumed")
	})
}

func TestAStreamKeepsToWhatItsReaderMaySee(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "mine, for now")
		public := func(id string) {
			b := Item(id, "for all")
			b["scopes"] = []string{"public"}
			w.Ask("POST", "/v1/knowledge", b).Want(http.StatusCreated)
		}
		public("b")
		s := w.Listen("/v1/events", "Annals-On-Behalf-Of: user:bo")
		if got := s.Positions(1); got[0] != 2 { // position 1 is behind it now
			t.Errorf("before it is shared: %v", got)
		}
		w.Ask("PATCH", "/v1/knowledge/a", Object{"scopes": []string{"user:bo"}}).Want(http.StatusOK)
		Same(t, s.Positions(1), []float64{3}, "once shared")
		w.Ask("PATCH", "/v1/knowledge/a", Object{"scopes": []string{"user:default"}}).Want(http.StatusOK)
		w.Ask("PATCH", "/v1/knowledge/a", Object{"content": "a secret"}).Want(http.StatusOK)
		public("c")
		Same(t, s.Positions(1), []float64{6}, "shared no more")
	})
}

func TestAPageOfAStreamHasAReceiptOfItsItems(t *testing.T) {
	EachWith(t, Recording, func(t *testing.T, w *World) {
		recorder := w.Configured.Recorder.(*Recorder)
		w.Remember("a", "a fact")
		stream := w.Listen("/v1/events")
		stream.Next("") // read for itself
		w.Remember("b", "another fact")
		stream.Next("") // of the tail
		var told []string
		for _, given := range recorder.Given() {
			for _, one := range given.Items {
				told = append(told, fmt.Sprint(given.Kind, " ", given.Route, " ", one.Item.ID, "@", one.Item.Version))
			}
		}
		Same(t, told, []string{"look GET /v1/events a@1", "look GET /v1/events b@1"})
	})
}

func TestAStreamHasTheRightsOfItsReaderAndFewOfThem(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin, mia := w.Company()
		const membership = "/v1/directory/user:mia/groups/team:pay"
		plan := func(id, scope string) {
			w.Ask("POST", "/v1/knowledge", Object{
				"id": id, "type": "plan", "content": "Deploy on Tuesdays.", "scopes": []string{scope},
			}, admin).Want(http.StatusCreated)
		}
		live, behind := w.Listen("/v1/events?name=knowledge.*", mia), w.Listen("/v1/events?name=knowledge.*&q=deploy", mia)
		w.Ask("PUT", membership, nil, admin).Want(http.StatusOK)
		plan("a", "team:pay")
		for _, s := range []*Stream{live, behind} {
			_, e := s.Next("")
			Same(t, e["stream"], any("knowledge:a"))
		}
		w.Ask("DELETE", membership, Object{"reason": "left"}, admin).Want(http.StatusOK)
		plan("b", "team:pay")
		plan("c", "public")
		for _, s := range []*Stream{live, behind} {
			_, e := s.Next("")
			Same(t, e["stream"], any("knowledge:c"))
		}
		for range 18 {
			w.Listen("/v1/events", mia)
		}
		w.Ask("GET", "/v1/events", nil, mia, "Accept: text/event-stream").Want(http.StatusTooManyRequests)
		w.Listen("/v1/events", admin)
		live.Leave()
	})
}

func TestAStreamSaysThatItIsAliveAndWhyItEnds(t *testing.T) {
	EachWith(t, func(_ *World, c *Config) { c.Heartbeat = 10 * time.Millisecond }, func(t *testing.T, w *World) {
		s := w.Listen("/v1/events")
		for range 3 {
			s.Next("comment")
		}
		if err := w.Stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
		if _, why := s.Next("closed"); why["type"] != "urn:annals:problem:closing" {
			t.Errorf("%v", why)
		}
	})
}

func TestAStreamHearsOfWhatAnotherServerAppends(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		poll := events.Options{Poll: 20 * time.Millisecond}
		w, other := NewWorld(t, db, poll, nil), NewWorld(t, db, poll, nil)
		s := w.Listen("/v1/events")
		s.Next("comment")
		other.Remember("a", "x")
		Same(t, s.Positions(1), []float64{1})
	})
}

func TestWhoeverTakesNothingIsCutOff(t *testing.T) {
	EachImpatient(t, nil, func(_ *testing.T, w *World) {
		w.Ignore("/v1/events", "Accept: text/event-stream")
		w.Measures(`annals_http_streams_ended_total{reason="slow"} 1`)
		w.Remember("a", "and others go on")
	})
}

func TestAStreamThatCannotBeIsRefused(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		told(w)
		stream := Header("Accept: text/event-stream")
		for _, id := range []string{"7", "nonsense", "0195a000-0000-7000-8000-000000000001"} {
			a := w.Ask("GET", "/v1/events", nil, stream, Header("Last-Event-ID: "+id)).Want(http.StatusBadRequest)
			Like(t, a.JSON(), Object{"fix": Containing("restored")}, id)
		}
		a := w.Ask("GET", "/v1/events?order=desc&limit=3&to=2026-01-01", nil, stream).Want(http.StatusUnprocessableEntity)
		Same(t, len(a.Errors()), 3)
		w.Ask("HEAD", "/v1/events", nil, stream).Want(http.StatusOK)
	})
}

func TestAStreamSendsNothingOnceItsKeyHasEnded(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		says := func(id string) {
			w.Ask("POST", "/v1/knowledge", Object{"id": id, "type": "strategy", "content": id, "scopes": []string{"public"}}, Bearer(admin)).Want(http.StatusCreated)
		}
		follow := func(key Object) (prefix string, s *Stream) {
			made := w.Given(admin, key)
			s = w.Listen("/v1/events", Bearer(made))
			s.Next("comment")
			return PrefixOf(made), s
		}
		prefix, revoked := follow(Object{"subject": "user:mia"})
		_, expired := follow(Object{"subject": "user:max", "expires_at": time.Now().Add(time.Hour)})
		says("before")
		for _, s := range []*Stream{revoked, expired} {
			s.Next("")
		}
		w.Ahead(2 * time.Hour) // before the streams look at their rights again, since a key was revoked
		w.Ask("DELETE", "/v1/keys/"+prefix, nil, Bearer(admin)).Want(http.StatusOK)
		says("after")
		for name, s := range map[string]*Stream{"revoked": revoked, "expired": expired} {
			for m := range s.Heard {
				if m.Kind == "" {
					t.Errorf("the %s key was sent %s", name, m.Data)
				}
			}
		}
	})
}
