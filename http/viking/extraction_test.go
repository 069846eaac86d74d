package viking_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/extraction"
	"github.com/annals-kb/annals/projections/sessions"
)

func (w *world) learningBy(extractor extraction.Extractor) {
	w.t.Helper()
	servertest.Follow(w.t, extraction.NewWorker(extraction.Options{
		Log: w.log, Followers: w.followers, Writer: w.log, Reader: w.base.Browser, Searcher: w.base.Searcher,
		Archivist: sessions.Sessions{Log: w.log, Followers: w.followers}, Extractor: extractor,
		Logger: databasetest.Log(w.t),
	}).Follow)
}

type refusing struct{}

func (refusing) Name() string { return "refusing" }
func (refusing) Extract(context.Context, extraction.Conversation) (extraction.Result, error) {
	return extraction.Result{}, errors.New("the endpoint refuses the key")
}

func TestExtractSaysThatNothingCouldBeExtracted(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learningBy(refusing{})
		w.ask("POST", sessionsPath+"/s1/messages", `{"role":"user","content":"My timezone is Europe/Berlin."}`).object()
		for range 2 {
			like(t, w.ask("POST", sessionsPath+"/s1/extract", nil).refused(http.StatusServiceUnavailable, "UNAVAILABLE"),
				containing("refuses the key"))
		}
	})
}
