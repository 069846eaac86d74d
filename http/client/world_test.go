package client_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/logtest"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/http/viking"          // part: viking
	"github.com/annals-kb/annals/projections/sessions" // part: viking
)

// world is a server on a database of its own, and a client of it.
type world struct {
	t         *testing.T
	url       string
	log       *events.Log
	followers *follow.Followers
	api       *client.Client
}

// each runs a test on both engines.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		test(t, newWorld(t, db, func(h http.Handler) http.Handler { return h }))
	})
}

// newWorld serves a database, behind whatever stands between.
func newWorld(t *testing.T, db *database.DB, behind func(http.Handler) http.Handler) *world {
	t.Helper()
	base := servertest.Open(t, db, events.Options{})
	log := base.Log
	cfg := base.Config(t)
	cfg.Mounts = []annalshttp.Mount{
		viking.Mount(viking.Config{Writer: log, Sessions: sessions.Sessions{Log: log, Followers: base.Followers}, Version: "test"}), // part: viking
	}
	api := cfg.New()
	listening := httptest.NewServer(behind(api.Handler()))
	t.Cleanup(listening.Close)
	w := &world{t: t, url: listening.URL, log: log, followers: base.Followers}
	w.api = w.client(client.Config{Timeout: -1})
	return w
}

func (w *world) client(cfg client.Config) *client.Client {
	w.t.Helper()
	cfg.Server = w.url
	c, err := client.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// said is what happened in a session of the user default: what was said as "role: content", and its commits.
func (w *world) said(session string) []string {
	w.t.Helper()
	all, err := w.log.Reader.Stream(w.t.Context(), "default", domain.SessionStream("user:default", session))
	if err != nil {
		w.t.Fatal(err)
	}
	var said []string
	for _, event := range all {
		switch fact := event.Fact.(type) {
		case domain.MessageAdded:
			said = append(said, fact.Role+": "+fact.Message.Parts[0].Text)
		case domain.SessionCommitted:
			said = append(said, "commit")
		}
	}
	return said
}

// skills are the ids of all skills, by what they are called.
func (w *world) skills() map[string]string {
	w.t.Helper()
	ids := map[string]string{}
	for k, err := range w.api.List(w.t.Context(), url.Values{"context_type": {"skill"}}) {
		if err != nil {
			w.t.Fatal(err)
		}
		ids[k.Task] = k.ID
	}
	return ids
}

// sessions is how many somebody has.
func (w *world) sessions(user domain.Entity) int {
	w.t.Helper()
	streams := map[string]bool{}
	for _, event := range logtest.All(w.t, w.log, "default") {
		if strings.HasPrefix(event.Stream, domain.SessionsOf(user)) {
			streams[event.Stream] = true
		}
	}
	return len(streams)
}
