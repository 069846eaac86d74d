package console_test

import (
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/extraction"
	"github.com/annals-kb/annals/projections/sessions"
)

// learn lets the server learn from sessions.
func learn(t *testing.T, base servertest.Base, entrance *events.ScrubbingWriter) {
	t.Helper()
	servertest.Follow(t, extraction.NewWorker(extraction.Options{
		Log: base.Log, Followers: base.Followers, Writer: entrance, Reader: base.Knowledge.Browser,
		Searcher: base.Knowledge.Searcher, Archivist: sessions.Sessions{Log: base.Log, Followers: base.Followers},
		Extractor: extraction.BuiltIn{}, Logger: databasetest.Log(t),
	}).Follow)
}
