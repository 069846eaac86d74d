package codec

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
)

// reportedLater is what a release might write that lets several people report together: a list where
// version 1 had one name.
type reportedLater struct {
	Reporters []domain.Entity `data:"reporters"`
	Reason    string          `text:"reason,omitempty"`
}

// afterwards are the kinds of such a release.
func afterwards() kinds {
	later := maps.Clone(known())
	k := converted(
		func(f domain.ReportedStale) reportedLater {
			return reportedLater{[]domain.Entity{f.Reporter}, f.Reason}
		},
		func(w reportedLater) domain.ReportedStale {
			return domain.ReportedStale{Reporter: w.Reporters[0], Reason: w.Reason}
		},
	)
	k.version = 2
	k.upcasters = []upcaster{func(data, text json.RawMessage) (json.RawMessage, json.RawMessage, error) {
		var old struct {
			Reporter domain.Entity `json:"reporter"`
		}
		if err := json.Unmarshal(data, &old); err != nil {
			return nil, nil, err
		}
		upcast, err := json.Marshal(map[string]any{"reporters": []domain.Entity{old.Reporter}})
		return upcast, text, err
	}}
	later[k.name] = k
	return later
}

// A release that writes a fact in a new version reads the golden file of the old one, and folds either to
// the same state: what was recorded is never written again.
func TestAFactOfAnOlderVersionFoldsToTheSameState(t *testing.T) {
	t.Parallel()
	later := afterwards()
	for _, s := range samples() {
		var g golden
		if err := json.Unmarshal(readGolden(t, s), &g); err != nil {
			t.Fatal(err)
		}
		if string(g.Text) == "null" {
			g.Text = nil
		}
		old, err := later.decode(Payload{Name: s.fact.Name(), SchemaVersion: s.version, Data: compacted(t, g.Data), Text: compacted(t, g.Text)})
		if err != nil {
			t.Fatal(err)
		}
		written, err := later.encode(s.fact)
		if err != nil {
			t.Fatal(err)
		}
		today, err := later.decode(written)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(foldedWith(t, old), foldedWith(t, today)); diff != "" {
			t.Errorf("%s (-as it was recorded +as it is written today):\n%s", s.fact.Name(), diff)
		}
		if _, is := s.fact.(domain.ReportedStale); is {
			if written.SchemaVersion != 2 || string(written.Data) != `{"reporters":["agent:coder"]}` {
				t.Errorf("written as version %d: %s", written.SchemaVersion, written.Data)
			}
			if k := foldedWith(t, old); k.Stale.Reporters != 1 || k.Reports["agent:coder"].Reason == "" {
				t.Errorf("folded to %+v, want the report and its text", k)
			}
		}
	}
}

// foldedWith is an item that something happened to; the item it was before if that is not about knowledge.
func foldedWith(t *testing.T, fact domain.Fact) *domain.Knowledge {
	t.Helper()
	k := &domain.Knowledge{ID: "k"}
	at := domain.EventMetadata{EventID: "0195a000-0000-7000-8000-000000000009", Position: 1, Version: 1, RecordedAt: time.Unix(1, 0).UTC()}
	first, begins := fact.(domain.Remembered)
	if !begins {
		first = domain.Remembered{Class: domain.Class{Type: domain.Strategy}, Scopes: []domain.Scope{domain.Public}, Owner: "user:mia"}
	}
	if err := k.Evolve(first, at, domain.DefaultConfidence()); err != nil {
		t.Fatal(err)
	}
	if begins {
		return k
	}
	at.Version, at.Position, at.EventID = 2, 2, "0195a000-0000-7000-8000-000000000008"
	// What replaces or retracts a vote that this item does not have, or is about another thing, is refused
	// alike in both versions.
	_ = k.Evolve(fact, at, domain.DefaultConfidence())
	return k
}
