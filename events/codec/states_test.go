package codec

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
)

// stateSamples are a state of every kind of streams, with every field set.
func stateSamples() map[string]domain.State {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 123456000, time.UTC)
	entry := domain.MemberEntry{
		Member: "user:mia", AddedAt: noon, DeactivatedAt: noon.Add(time.Hour), KeysSince: noon.Add(time.Hour),
		Groups: []domain.Membership{{Group: "team:pay", Role: domain.Maintainer, Since: noon.Add(time.Minute)}},
	}
	return map[string]domain.State{
		"user": entry, "agent": entry, "project": entry, "team": entry, "org": entry,
		"key": domain.Key{
			Hash: "5e", Subject: "agent:coder", Memberships: []domain.Entity{"team:pay"}, Role: domain.Service, ActsFor: true,
			PublishPublic: true, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour), RevokedAt: noon.Add(time.Minute),
			ReplacedBy: "abcdefghi2", Replaces: "abcdefghi3",
			InvitedBy: "user:olga", InvitedWith: "key:abcdefghi4",
		},
		"tenant": domain.Tenant{CreatedAt: noon, ErasedAt: noon.Add(time.Hour)},
		"session": domain.Session{
			Owner: "user:mia", Agent: "coder", OpenedAt: noon, UpdatedAt: noon.Add(time.Hour), Deleted: true, Erased: true,
			Number: 12, Live: 3, Tokens: 90, Turns: 6, Contexts: 2, Skills: 1, Archives: 3, Before: 1, Processed: 2, Failed: 1,
			LastCommit: noon.Add(time.Minute), LastTask: "0195a000-0000-7000-8000-000000000005", Prompt: 900, Completion: 80,
			Learned: domain.Learned{domain.CategoryTools: 2}, Decided: domain.Decided{domain.DecideVote: 1},
			Failures: map[int]domain.Failure{2: {Task: "0195a000-0000-7000-8000-000000000005", At: noon, Retries: 1, RetryRequested: true}},
		},
		"erasure": domain.Erasure{
			Of: "user:mia", WithLineage: true, Role: domain.Admin, ReasonCode: "gdpr-17", LegalBasis: "Art. 17(1)(b) GDPR",
			RequestedBy: "user:mia", Ticket: "DSR-12", OrderedAt: noon, EndedAt: noon.Add(time.Minute), Erased: 12, NotErased: 1,
			Refused: []domain.Refused{{Stream: "knowledge:k2", Reason: "k2 is under legal hold"}},
		},
		"scrubbing": domain.Scrubbing{
			Off: []string{"phone"}, Patterns: []domain.ScrubPattern{{Class: "employee", Expression: `\bEMP-\d{5}\b`}},
		},
		"learning": domain.LearningChanged{LearnedFor: domain.LearnedTeam},
		"verification": domain.Verification{Policies: []domain.VerificationPolicy{{
			PolicyKey: domain.PolicyKey{Scope: "team:pay", Type: domain.Plan}, EveryDays: 90, Verifier: "user:mia", SetAt: noon,
		}}},
		"review": domain.Proposal{
			Kind: domain.Duplicate, Items: []string{"k1", "k2"}, Score: 0.75, Rule: "same", By: "agent:annals", At: noon,
			Outcome: domain.OutcomeMerged, ClosedAt: noon.Add(time.Minute),
		},
		"subscription": domain.Subscription{
			Subscriber: "user:mia", By: "agent:coder", Authentication: "key:abcdefghi2", Follows: "scope", Scope: "team:pay",
			Item: "k1", Events: []string{"remembered"}, Webhook: true, CreatedAt: noon, After: 7, PausedAt: noon,
			EndedAt: noon.Add(time.Hour), RotatedAt: noon.Add(time.Minute), Cause: domain.CauseAsked,
		},
		"receipts": domain.Sealing{Last: 12, At: noon},

		"containment": domain.Containment{
			By: "user:olga", At: noon, Position: 7, Items: 3, Votes: 2, Revived: 1, UndoneBy: "user:olga",
			UndoneAt: noon.Add(time.Hour),
		},
		"projection": domain.Projection{Version: 3, Stage: domain.StageSwitched, Active: 3, Kept: []int{1, 2}},
	}
}

func TestStatesAreKeptAsTheirGoldenFilesSay(t *testing.T) {
	t.Parallel()
	for _, kind := range domain.StreamKinds {
		if kind.State == nil {
			continue
		}
		name := kind.Name
		sample, found := stateSamples()[name]
		if !found {
			t.Errorf("%s has no sample", name)
			continue
		}
		got, err := Marshal(sample)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "states", fmt.Sprintf("%s.v%d.json", name, kind.Form))
		if _, err := os.Stat(file); *update && os.IsNotExist(err) {
			if err := os.WriteFile(file, append(got, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v: write it with -update", err)
		}
		if diff := cmp.Diff(string(got)+"\n", string(want)); diff != "" {
			t.Errorf("the form of a state that is kept never changes, take a new one (-got +golden):\n%s", diff)
		}
		again, err := State(kind, want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(again, sample); diff != "" {
			t.Errorf("%s (-read +written):\n%s", name, diff)
		}
	}
}

func TestEachKindOfStreamCanBeAskedFor(t *testing.T) {
	for _, kind := range domain.StreamKinds {
		if err := domain.CheckStream(kind.Of("x")); err != nil {
			t.Errorf("%s: %s", kind.Name, err)
		}
	}
}
