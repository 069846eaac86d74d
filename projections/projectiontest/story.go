package projectiontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain"
)

// Telling is a tenant to whom a story happens.
type Telling struct {
	*World
	Votes []string // the ids of events that are votes
}

// Bound are submissions as this tenant's: votes that are meant by number get their ids.
func (h *Telling) Bound(batch []domain.Submission) []domain.Submission {
	bound := slices.Clone(batch)
	for i := range bound {
		bound[i].By.Tenant = h.By.Tenant
		if retract, ok := bound[i].Command.(domain.RetractFeedback); ok && retract.EventID != "" {
			n, _ := strconv.Atoi(retract.EventID)
			retract.EventID = h.Votes[n]
			bound[i].Command = retract
		}
	}
	return bound
}

// Outcomes are what became of commands: which facts, or which refusal.
func (h *Telling) Outcomes(results []domain.Result) []string {
	outcomes := make([]string, len(results))
	for i, result := range results {
		outcomes[i] = result.Receipt.Outcome
		for _, event := range result.Receipt.Events {
			outcomes[i] += " " + event.Name
			switch event.Fact.(type) {
			case domain.FoundHelpful, domain.FoundHarmful:
				h.Votes = append(h.Votes, event.EventID)
			}
		}
		if result.Err != nil {
			outcomes[i] = "failed: " + result.Err.Error()
		}
		for _, refusal := range []error{
			domain.ErrNotFound, domain.ErrForbidden, domain.ErrTaken, domain.ErrConflict, domain.ErrDeleted,
			domain.ErrInvalid, domain.ErrPrecondition,
		} {
			if errors.Is(result.Err, refusal) {
				outcomes[i] = refusal.Error()
			}
		}
		if strings.HasPrefix(outcomes[i], "failed") {
			h.T.Errorf("command %d %s", i, outcomes[i])
		}
	}
	return outcomes
}

// EqualsRebuilt holds the tables, and items read from them, against the log.
func (h *Telling) EqualsRebuilt(t *rapid.T) {
	items := h.Items()
	Equal(t, h.Stored(), Folded(items), "tables of %s (-live +rebuilt)", h.By.Tenant)
	for id, want := range items {
		got := Must(h.Base.Browser.Find(h.T.Context(), h.By.Tenant, id))(t)
		if diff := cmp.Diff(got, want, cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(domain.Knowledge{}, "Votes", "Reports")); diff != "" {
			t.Errorf("%s (-live +rebuilt):\n%s", id, diff)
		}
	}
}

// Story makes up what people ask for, about few items, so that much of it hits one of them.
type Story struct {
	*rapid.T
	By    domain.Principal
	Votes int // how many have been counted
}

func (s *Story) Batch() []domain.Submission {
	submissions := make([]domain.Submission, rapid.IntRange(1, 9).Draw(s.T, "commands"))
	for i := range submissions {
		by := s.somebody()
		submissions[i] = domain.Submission{By: by, Command: s.command(by)}
		if s.rarely() {
			submissions[i].Origin.OccurredAt = time.Date(2024, 2, 29, 12, 30, 0, 123_456_000, time.UTC)
		}
	}
	return submissions
}

func (s *Story) somebody() domain.Principal {
	by := s.By
	by.OnBehalfOf = rapid.SampledFrom([]domain.Entity{"", "", "user:alice", "user:bob", "user:carol"}).
		Draw(s.T, "on behalf of")
	return by
}

func (s *Story) command(by domain.Principal) domain.Command {
	target := domain.Target{By: by, ID: s.id()}
	switch rapid.IntRange(0, 22).Draw(s.T, "command") {
	case 0, 1, 2, 3:
		return s.remember(by, target.ID)
	case 4, 5:
		return domain.Revise{Target: target, Changes: s.changes()}
	case 6:
		return domain.Revise{Target: target, Scopes: s.scopes()}
	case 7:
		return domain.Revise{Target: target, Owner: s.owner(), URI: s.uri(), Changes: s.changes()}
	case 8, 9:
		return domain.GiveFeedback{
			Target: target, Verdict: rapid.SampledFrom(domain.Verdicts).Draw(s.T, "verdict"),
			TraceID: s.trace(), Day: s.day(), Query: s.text(), Outcome: s.text(),
		}
	case 10:
		if s.Votes > 0 && rapid.Bool().Draw(s.T, "by event") {
			return domain.RetractFeedback{Target: target, EventID: fmt.Sprint(rapid.IntRange(0, s.Votes-1).Draw(s.T, "vote"))}
		}
		return domain.RetractFeedback{Target: target, TraceID: s.trace(), Day: s.day()}
	case 11:
		return domain.ReportStale{Target: target, Reason: s.text()}
	case 12:
		return domain.Confirm{Target: target, Reason: s.text(), Until: s.until()}
	case 13:
		return domain.Supersede{Target: target, Successor: s.id()}
	case 14:
		return domain.Delete{Target: target, Reason: s.text()}
	case 15:
		return Elsewhere(target.ID, rapid.IntRange(1, 2).Draw(s.T, "other"))
	case 16:
		return domain.Link{Target: target, To: []string{s.id()}, Reason: s.text()}
	case 17:
		return domain.Unlink{Target: target, To: s.id()}
	case 18:
		return domain.Merge{Target: target, Items: []string{s.id()}, Changes: s.changes(), CarryVotes: true, Reason: s.text()}
	case 19:
		return domain.Unmerge{
			Target: target, Merge: "m", Merged: domain.Merged{Items: []string{s.id()}, Helpful: 1}, Changes: s.changes(),
		}
	case 20:
		return domain.Quarantine{Target: target, Containment: "c", Reason: s.text()}
	case 21:
		return domain.Readmit{Target: target, Containment: "c"}
	default:
		return domain.Restore{Target: target}
	}
}

// remember is in person: on somebody's behalf one remembers nothing for another user.
func (s *Story) remember(by domain.Principal, id string) domain.Command {
	by.OnBehalfOf = ""
	command := domain.Remember{
		By: by, ID: id, OrSame: true, OrRevise: rapid.Bool().Draw(s.T, "or revise"),
		Knowledge: domain.Remembered{
			Class: domain.Class{
				Type:     rapid.SampledFrom(domain.Types).Draw(s.T, "type"),
				Category: rapid.SampledFrom(domain.Categories).Draw(s.T, "category"),
			},
			Owner: s.owner(), Scopes: s.scopes(),
			Baseline: s.baseline(),
			Source: domain.Source{
				Name: s.text(), URLs: []string{"https://example.org/?a=1&b=<2>"}, TraceID: s.trace(), Timestamp: "2024-02-29",
			},
			Text: domain.Text{
				Content: s.content(), Task: s.text(), Abstract: s.text(), Tags: s.tags(), Meta: s.meta(), URI: s.uri(),
			},
		},
	}
	command.Knowledge.Proposed = s.rarely()
	if s.rarely() {
		command.Knowledge.DerivedFrom = []string{"0198c0de-0000-7000-8000-000000000001"}
	}
	complete, err := command.Complete()
	if err != nil {
		s.Fatalf("complete: %v", err)
	}
	return complete
}

func (s *Story) changes() domain.Revised {
	var changes domain.Revised
	if rapid.Bool().Draw(s.T, "revise content") {
		content := s.content()
		changes.Content = &content
	}
	if rapid.Bool().Draw(s.T, "revise task") {
		task := s.text()
		changes.Task = &task
	}
	if s.rarely() {
		tags := s.tags()
		changes.Tags = &tags
	}
	if s.rarely() {
		meta := s.meta()
		changes.Meta = &meta
	}
	return changes
}

func (s *Story) id() string { return rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(s.T, "id") }

func (s *Story) rarely() bool { return rapid.IntRange(0, 3).Draw(s.T, "rarely") == 3 }

func (s *Story) content() string {
	return rapid.SampledFrom([]string{
		"retry the payment call", "retry, retry, retry!", "用户偏好 TypeScript,注重类型安全", "!!!",
		"it's \"quoted\" \\ ? ?0 $1 %s --",
		"getUserByID(ctx)\n\tpanics; DROP TABLE knowledge", "emoji 🦀 and é", "a <b> & c",
	}).Draw(s.T, "content")
}

func (s *Story) text() string {
	return rapid.SampledFrom([]string{"", "", "when paying", "支付时?", "it's"}).Draw(s.T, "text")
}

func (s *Story) scopes() []domain.Scope {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(Scopes), 1, 4, rapid.ID[domain.Scope]).Draw(s.T, "scopes")
}

func (s *Story) owner() domain.Entity {
	return rapid.SampledFrom([]domain.Entity{"org:acme", "team:pay", "user:alice"}).Draw(s.T, "owner")
}

// uri is often one that another item has, had or will have; or empty to have none named.
func (s *Story) uri() string {
	return rapid.SampledFrom([]string{"", "", "viking://x/1", "viking://x/2", "viking://x/'?"}).Draw(s.T, "uri")
}

func (s *Story) trace() string {
	return rapid.SampledFrom([]string{"", "t1", "t'2?"}).Draw(s.T, "trace")
}

func (s *Story) day() time.Time {
	return time.Date(2026, 3, rapid.IntRange(1, 2).Draw(s.T, "day"), 23, 59, 0, 0, time.UTC)
}

func (s *Story) until() time.Time {
	return rapid.SampledFrom([]time.Time{{}, time.Date(2099, 1, 1, 0, 0, 0, 1000, time.UTC)}).Draw(s.T, "until")
}

func (s *Story) tags() domain.Tags {
	return rapid.SampledFrom([]domain.Tags{
		nil, {}, {"category": {"preference"}}, {"domain": {"coding_style", "支付"}, "a.b \"c\" ?": {"it's"}}, {"empty": {}},
	}).Draw(s.T, "tags")
}

func (s *Story) meta() json.RawMessage {
	return rapid.SampledFrom([]json.RawMessage{
		nil, json.RawMessage(`{}`), json.RawMessage(`{"b":1.50,"a":["?","'"],"b":"<&>\\"}`),
	}).Draw(s.T, "meta")
}

func (s *Story) baseline() *domain.Eval {
	return rapid.SampledFrom([]*domain.Eval{
		nil, {Helpful: 5, Harmful: 1, Confidence: 0.75, HelpfulHistory: []domain.Use{
			{Query: "how?", TraceID: "t0", By: "user:alice", At: time.Date(2025, 1, 2, 3, 4, 5, 6000, time.UTC)},
			{Outcome: "it's"},
		}},
	}).Draw(s.T, "baseline")
}
