package projections_test

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

// telling is a tenant to whom a story happens.
type telling struct {
	*world
	votes []string // the ids of events that are votes
}

// bound are submissions as this tenant's: votes that are meant by number get their ids.
func (h *telling) bound(batch []domain.Submission) []domain.Submission {
	bound := slices.Clone(batch)
	for i := range bound {
		bound[i].By.Tenant = h.by.Tenant
		if retract, ok := bound[i].Command.(domain.RetractFeedback); ok && retract.EventID != "" {
			n, _ := strconv.Atoi(retract.EventID)
			retract.EventID = h.votes[n]
			bound[i].Command = retract
		}
	}
	return bound
}

// outcomes are what became of commands: which facts, or which refusal.
func (h *telling) outcomes(results []domain.Result) []string {
	outcomes := make([]string, len(results))
	for i, result := range results {
		outcomes[i] = result.Receipt.Outcome
		for _, event := range result.Receipt.Events {
			outcomes[i] += " " + event.Name
			switch event.Fact.(type) {
			case domain.FoundHelpful, domain.FoundHarmful:
				h.votes = append(h.votes, event.EventID)
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
			h.t.Errorf("command %d %s", i, outcomes[i])
		}
	}
	return outcomes
}

// equalsRebuilt holds the tables, and items read from them, against the log.
func (h *telling) equalsRebuilt(t *rapid.T) {
	items := h.items()
	equal(t, h.stored(), folded(items), "tables of %s (-live +rebuilt)", h.by.Tenant)
	for id, want := range items {
		got := must(h.base.Browser.Find(h.t.Context(), h.by.Tenant, id))(t)
		if diff := cmp.Diff(got, want, cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(domain.Knowledge{}, "Votes", "Reports")); diff != "" {
			t.Errorf("%s (-live +rebuilt):\n%s", id, diff)
		}
	}
}

// story makes up what people ask for, about few items, so that much of it hits one of them.
type story struct {
	*rapid.T
	by    domain.Principal
	votes int // how many have been counted
}

func (s *story) batch() []domain.Submission {
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

func (s *story) somebody() domain.Principal {
	by := s.by
	by.OnBehalfOf = rapid.SampledFrom([]domain.Entity{"", "", "user:alice", "user:bob", "user:carol"}).
		Draw(s.T, "on behalf of")
	return by
}

func (s *story) command(by domain.Principal) domain.Command {
	target := domain.Target{By: by, ID: s.id()}
	switch rapid.IntRange(0, 20).Draw(s.T, "command") {
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
		if s.votes > 0 && rapid.Bool().Draw(s.T, "by event") {
			return domain.RetractFeedback{Target: target, EventID: fmt.Sprint(rapid.IntRange(0, s.votes-1).Draw(s.T, "vote"))}
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
		return elsewhere(target.ID, rapid.IntRange(1, 2).Draw(s.T, "other"))
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
	default:
		return domain.Restore{Target: target}
	}
}

// remember is in person: on somebody's behalf one remembers nothing for another user.
func (s *story) remember(by domain.Principal, id string) domain.Command {
	by.OnBehalfOf = ""
	command := domain.Remember{
		By: by, ID: id, OrSame: true, OrRevise: rapid.Bool().Draw(s.T, "or revise"),
		Knowledge: domain.Remembered{
			Class: domain.Class{Type: rapid.SampledFrom(domain.Types).Draw(s.T, "type"), Category: rapid.SampledFrom(domain.Categories).Draw(s.T, "category")}, Owner: s.owner(), Scopes: s.scopes(),

			Baseline: s.baseline(),
			Source: domain.Source{
				Name: s.text(), URLs: []string{"https://example.org/?a=1&b=<2>"}, TraceID: s.trace(), Timestamp: "2024-02-29",
			},
			Text: domain.Text{
				Content: s.content(), Task: s.text(), Abstract: s.text(), Tags: s.tags(), Meta: s.meta(), URI: s.uri(),
			},
		},
	}
	if s.rarely() {
		command.Knowledge.DerivedFrom = []string{"0198c0de-0000-7000-8000-000000000001"}
	}
	complete, err := command.Complete()
	if err != nil {
		s.Fatalf("complete: %v", err)
	}
	return complete
}

func (s *story) changes() domain.Revised {
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

func (s *story) id() string { return rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(s.T, "id") }

func (s *story) rarely() bool { return rapid.IntRange(0, 3).Draw(s.T, "rarely") == 3 }

func (s *story) content() string {
	return rapid.SampledFrom([]string{
		"retry the payment call", "retry, retry, retry!", "用户偏好 TypeScript,注重类型安全", "!!!", "it's \"quoted\" \\ ? ?0 $1 %s --",
		"getUserByID(ctx)\n\tpanics; DROP TABLE knowledge", "emoji 🦀 and é", "a <b> & c",
	}).Draw(s.T, "content")
}

func (s *story) text() string {
	return rapid.SampledFrom([]string{"", "", "when paying", "支付时?", "it's"}).Draw(s.T, "text")
}

func (s *story) scopes() []domain.Scope {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(scopes), 1, 4, rapid.ID[domain.Scope]).Draw(s.T, "scopes")
}

func (s *story) owner() domain.Entity {
	return rapid.SampledFrom([]domain.Entity{"org:acme", "team:pay", "user:alice"}).Draw(s.T, "owner")
}

// uri is often one that another item has, had or will have; or empty to have none named.
func (s *story) uri() string {
	return rapid.SampledFrom([]string{"", "", "viking://x/1", "viking://x/2", "viking://x/'?"}).Draw(s.T, "uri")
}

func (s *story) trace() string {
	return rapid.SampledFrom([]string{"", "t1", "t'2?"}).Draw(s.T, "trace")
}

func (s *story) day() time.Time {
	return time.Date(2026, 3, rapid.IntRange(1, 2).Draw(s.T, "day"), 23, 59, 0, 0, time.UTC)
}

func (s *story) until() time.Time {
	return rapid.SampledFrom([]time.Time{{}, time.Date(2099, 1, 1, 0, 0, 0, 1000, time.UTC)}).Draw(s.T, "until")
}

func (s *story) tags() domain.Tags {
	return rapid.SampledFrom([]domain.Tags{
		nil, {}, {"category": {"preference"}}, {"domain": {"coding_style", "支付"}, "a.b \"c\" ?": {"it's"}}, {"empty": {}},
	}).Draw(s.T, "tags")
}

func (s *story) meta() json.RawMessage {
	return rapid.SampledFrom([]json.RawMessage{
		nil, json.RawMessage(`{}`), json.RawMessage(`{"b":1.50,"a":["?","'"],"b":"<&>\\"}`),
	}).Draw(s.T, "meta")
}

func (s *story) baseline() *domain.Eval {
	return rapid.SampledFrom([]*domain.Eval{
		nil, {Helpful: 5, Harmful: 1, Confidence: 0.75, HelpfulHistory: []domain.Use{
			{Query: "how?", TraceID: "t0", By: "user:alice", At: time.Date(2025, 1, 2, 3, 4, 5, 6000, time.UTC)},
			{Outcome: "it's"},
		}},
	}).Draw(s.T, "baseline")
}
