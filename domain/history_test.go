package domain_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/annals-kb/annals/domain"
)

func TestAHistoryTellsWhatEachEventChanged(t *testing.T) {
	t.Parallel()
	until := monday.AddDate(1, 0, 0)
	story := given(t, remembered(),
		FoundHelpful{onTrace(bob, "t")},
		ReportedStale{Reporter: bob, Reason: "old"},
		Confirmed{Until: until},
		Revised{Task: new(""), Tags: new(Tags(nil)), Meta: new(json.RawMessage(`{"a":1}`))},
		Rescoped{Scopes: []Scope{"user:alice"}},
		FeedbackRetracted{Vote: eventID(2)},
		Superseded{By: "k2"},
		Held{ReasonCode: "litigation"},
	)
	items, err := History(itemID, story.events[itemID], DefaultConfidence())
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Name       string
		Changes    []Change
		Confidence float64
		Revision   int64
	}
	var got []seen
	for _, item := range items {
		got = append(got, seen{item.Event.Name, item.Changes, item.Confidence, item.Revision})
	}
	said := remembered()
	want := []seen{
		{"knowledge.remembered", []Change{
			{"type", nil, "user_profile"},
			{"context_type", nil, "memory"},
			{"category", nil, "preferences"},
			{"polarity", nil, "positive"},
			{"media", nil, "text"},
			{"scopes", nil, said.Scopes},
			{"visibility", nil, "shared"},
			{"owner", nil, "user:alice"},
			{"task", nil, said.Text.Task},
			{"content", nil, said.Text.Content},
			{"tags", nil, said.Text.Tags},
			{"uri", nil, said.Text.URI},
			{"eval.helpful", 0, 1},
			{"eval.confidence", 0.0, 0.5},
			{"status", nil, "active"},
		}, 0.5, 1},
		{"knowledge.found_helpful", []Change{{"eval.helpful", 1, 2}, {"eval.confidence", 0.5, 0.75}}, 0.75, 1},
		{"knowledge.reported_stale", []Change{
			{"eval.confidence", 0.75, 0.375}, {"stale.reporters", 0, 1}, {"stale.reason", nil, "old"},
		}, 0.375, 1},
		{"knowledge.confirmed", []Change{
			{"eval.confidence", 0.375, 0.75},
			{"stale.reporters", 1, 0},
			{"stale.reason", "old", nil},
			{"confirmed_at", nil, monday.Add(4 * time.Second)},
			{"confirm_until", nil, until},
		}, 0.75, 1},
		{"knowledge.revised", []Change{
			{"task", said.Text.Task, nil}, {"tags", said.Text.Tags, nil}, {"meta", nil, json.RawMessage(`{"a":1}`)},
		}, 0.75, 2},
		{"knowledge.rescoped", []Change{
			{"scopes", said.Scopes, []Scope{"user:alice"}}, {"visibility", "shared", "private"},
		}, 0.75, 3},
		{"knowledge.feedback_retracted", []Change{{"eval.helpful", 2, 1}, {"eval.confidence", 0.75, 0.5}}, 0.5, 3},
		{"knowledge.superseded", []Change{{"status", "active", "superseded"}, {"superseded_by", nil, "k2"}}, 0.5, 4},
		{"knowledge.held", []Change{{"held", false, true}}, 0.5, 5},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestAHistoryOfErasedTextShowsThatItIsGone(t *testing.T) {
	t.Parallel()
	blank := remembered()
	blank.Text = Text{} // as an erased event is read back
	story := given(t, blank, Erased{ReasonCode: "gdpr"})
	items, err := History(itemID, story.events[itemID], DefaultConfidence())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(items[1].Changes, []Change{{"status", "active", "erased"}}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestABrokenHistoryIsAnError(t *testing.T) {
	t.Parallel()
	story := given(t, remembered(), Deleted{}, Restored{})
	events := story.events[itemID]
	if _, err := History(itemID, append(events[:1:1], events[2]), DefaultConfidence()); err == nil {
		t.Error("a missing event went unnoticed")
	}
}
