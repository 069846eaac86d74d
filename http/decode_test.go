package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

func TestEveryBadFieldIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, _, err := remembering(domain.OpenPrincipal(), []byte(`{
		"type": "hunch", "contnet": "x", "task": 7, "scopes": ["user:1", "galaxy:9", 3, "user:1"],
		"owner": "nobody", "tags": {"a": 1, "b": ["x", false]}, "meta": [], "status": "deleted",
		"eval": {"helpful": "many", "confidence": 2, "harmfull": 0},
		"source": {"urls": "http://x", "timestamp": "yesterday"}, "occurred_at": "noon"}`), false, nil)
	want := []string{
		"contnet: is not a field here",
		"task: must be a string",
		"scopes[2]: must be a string",
		"tags.a: must be a string or an array of strings",
		"tags.b[1]: must be a string",
		"meta: must be an object",
		"eval.helpful: must be a whole number",
		"eval.harmfull: is not a field here",
		"source.urls: must be an array",
		"occurred_at: must be a time such as 2026-03-01T12:00:00Z",
		"status: must be active or left out: an item in another state is not remembered again",
		"type: must be one of user_profile, strategy, tool, usecase, definition, plan",
		"content: must not be empty",
		"scopes[1]: must be one of user:ID, agent:ID, project:ID, team:ID, org:ID, or public",
		"scopes[3]: is named twice",
		"owner: must be one of user:ID, agent:ID, project:ID, team:ID, org:ID",
		"source.timestamp: must be a time (RFC 3339) or a date (YYYY-MM-DD)",
		"eval.confidence: must be 0 to 1",
	}
	if diff := cmp.Diff(complaints(err), want); diff != "" {
		t.Error(diff)
	}
}

// everything is an item with a value in every field.
func everything() *domain.Knowledge {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	return &domain.Knowledge{
		ID: "profile_001", Number: 3, Class: domain.Class{Type: domain.UserProfile, ContextType: domain.Memory, Category: domain.CategoryProfile, Polarity: domain.Positive, Media: domain.MediaText},

		Scopes: []domain.Scope{"user:123", "project:456"}, Owner: "user:123", DisputedBy: []string{"profile_002"},
		Source: domain.Source{
			Name: "n", Category: "exp", URLs: []string{"https://example.org/<a>"}, AgentID: "a",
			SubmittedBy: "s", Timestamp: "2026-03-03", TraceID: "t",
		},
		Text: domain.Text{
			Task: "用户编码风格偏好", Content: "a < b \u2028 \"c\" \\ \t", Abstract: "A", Overview: "O",
			Tags: domain.Tags{"category": {"preference"}, "labels": {"x", "y"}},
			Meta: json.RawMessage(`{"n":12345678901234567890,"s":"<&>"}`), URI: "viking://user/123/x.md",
		},
		DerivedFrom: []string{"e"}, Helpful: 5, Harmful: 1, Confidence: 0.375,
		Stale:       domain.Staleness{Reporters: 1, Since: at, Reason: "r"},
		ConfirmedAt: at, ConfirmUntil: at, Expired: true,
		Verified: &domain.Verified{By: "user:1", At: at}, Standing: domain.Standing{Status: domain.Active, SupersededBy: "other", Held: true}, Relations: []domain.Relation{{To: "other", Reason: "r", At: at}},
		Revision: 2, Version: 7, Position: 99, CreatedAt: at, UpdatedAt: at, OccurredAt: at,
	}
}

func TestWhatWasReadCanBeRememberedAgain(t *testing.T) {
	t.Parallel()
	k := everything()
	out := serve.KnowledgeOf(k)
	out.Eval.HelpfulHistory = serve.UsesOf([]domain.Use{{Query: "q", TraceID: "t", Outcome: "o", By: "user:1", At: k.CreatedAt}})
	var written bytes.Buffer
	serve.WriteJSON(&written, out)
	command, provenance, err := remembering(domain.OpenPrincipal(), written.Bytes(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := domain.Remembered{
		Class:  k.Class,
		Scopes: k.Scopes, Owner: k.Owner, Source: k.Source, Text: k.Text,
		Baseline: &domain.Eval{
			Helpful: 5, Harmful: 1, Confidence: 0.375,
			HelpfulHistory: []domain.Use{{Query: "q", TraceID: "t", Outcome: "o", By: "user:1", At: k.CreatedAt}},
		},
	}
	want.Source.Trust = domain.FromOutside // as it is shown: it names a URL
	if diff := cmp.Diff(command.Knowledge, want); diff != "" {
		t.Error(diff)
	}
	if command.ID != k.ID || !provenance.occurred.Equal(k.OccurredAt) {
		t.Errorf("id %s, occurred %s", command.ID, provenance.occurred)
	}
}

func TestEveryFieldOfAnItemIsShown(t *testing.T) {
	t.Parallel()
	shown := reflect.ValueOf(*serve.KnowledgeOf(everything()))
	for i := range shown.NumField() {
		field := shown.Type().Field(i)
		ofAnswer := []string{"Redacted", "Similar", "SimilarUnknown", "Receipt", "Quarantined"} // not of the item
		if slices.Contains(ofAnswer, field.Name) {
			continue
		}
		if shown.Field(i).IsZero() && field.Tag.Get("writeOnly") == "" {
			t.Errorf("%s is left out", field.Name)
		}
	}
}

// complaints are what an error says about each field, or what it says.
func complaints(err error) []string {
	invalid, ok := errors.AsType[*domain.Invalid](err)
	if !ok {
		return []string{err.Error()}
	}
	var all []string
	for _, bad := range invalid.Problems {
		all = append(all, bad.Field+": "+bad.Message)
	}
	return all
}
