package events_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/logtest"
)

func TestTheLogSaysWhatItDoesInNumbers(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	registry := prometheus.NewRegistry()
	l := newLog(t, db, events.Options{Registerer: registry})
	logtest.Remember(t, l, "acme", 0, 7)
	by := domain.OpenPrincipal()
	for range 2 {
		_, err := l.Submit(t.Context(), domain.Submission{By: by, Command: domain.Delete{Target: domain.Target{By: by, ID: "none"}}})
		if err == nil {
			t.Error("got no refusal")
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			switch {
			case m.GetHistogram() != nil:
				got[family.GetName()+" count"] = float64(m.GetHistogram().GetSampleCount())
				got[family.GetName()+" sum"] = m.GetHistogram().GetSampleSum()
			case m.GetCounter() != nil:
				got[family.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			default:
				got[family.GetName()] = m.GetGauge().GetValue()
			}
		}
	}
	for name, want := range map[string]float64{
		"annals_append_batch_size count":        3,
		"annals_append_batch_size sum":          9,
		"annals_append_seconds count":           3,
		"annals_append_queue":                   0,
		"annals_append_refused_total not found": 2,
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
	if seconds := got["annals_append_seconds sum"]; seconds <= 0 {
		t.Errorf("three transactions took %v seconds", seconds)
	}
}
