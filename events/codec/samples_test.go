package codec

import (
	"encoding/json"
	"time"

	"github.com/annals-kb/annals/domain"
)

// sample is a fact with every field set, and the schema version whose golden file has it.
type sample struct {
	version int
	fact    domain.Fact
}

// samples has one entry for every golden file there is, those of older schema versions included: what
// they must still decode to.
func samples() []sample {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 123456000, time.UTC)
	ballot := domain.Ballot{
		Voter: "user:mia", Key: "trace:t-17", TraceID: "t-17",
		Replaces: "0195a000-0000-7000-8000-000000000001", Query: "how do we retry?", Outcome: "it <worked> & stayed",
	}
	findings := domain.VerificationResult{
		Version: 3, Against: 2, Items: 1000, Wrong: 1, Changed: map[string]int64{"confidence": 17},
		Intended: []string{"confidence"}, Overlap: 0.9921875, Searches: 64, Took: time.Minute,
	}
	return []sample{
		{1, domain.Remembered{
			Class: domain.Class{Type: domain.Strategy, ContextType: domain.Skill, Category: domain.CategoryAntipatterns, Polarity: domain.Negative, Media: domain.MediaText},

			Scopes: []domain.Scope{"team:pay", domain.Public}, Owner: "org:acme",
			Source: domain.Source{
				Name: "Release It!", Category: "book", URLs: []string{"https://example.org/a?b=1&c=2"},
				AgentID: "coder", SubmittedBy: "mia", Timestamp: "2026-03-14", TraceID: "t-1",
			},
			Baseline: &domain.Eval{
				Helpful: 7, Harmful: 2, Confidence: 0.7222222222222222,
				HelpfulHistory: []domain.Use{
					{Query: "timeouts", TraceID: "t-2", Outcome: "good", By: "user:bo", At: noon},
					{TraceID: "t-3"},
				},
				HarmfulHistory: []domain.Use{{Outcome: "卡住了", At: noon}},
			},
			DerivedFrom: []string{"0195a000-0000-7000-8000-000000000002"},
			Text: domain.Text{
				Task: "calling the payment service", Content: "Never retry without jitter.\n\t\"Ever\" \u2028 <b>&",
				Abstract: "no jitter, no retry", Overview: "Retries in step take a service down.",
				Tags: domain.Tags{"category": {"constraint"}, "labels": {"重试", "retry"}},
				Meta: json.RawMessage(`{"b":1.50,"a":"<&>"}`), URI: "viking://agent/memories/antipatterns/k.md",
			},
		}},
		{1, domain.Revised{
			Reclassed: domain.Reclassed{
				Type: new(domain.Tool), Category: new(domain.Category("")), Polarity: new(domain.Positive),
			},
			Task: new(""), Content: new("Retry with jitter."), Abstract: new("jitter"), Overview: new(""),
			Tags: new(domain.Tags(nil)), Meta: new(json.RawMessage(`{"a":1}`)),
		}},
		{1, domain.Rescoped{Scopes: []domain.Scope{"user:mia", "project:456"}}},
		{1, domain.Transferred{Owner: "team:pay"}},
		{1, domain.Moved{URI: "viking://resources/retry.md"}},
		{1, domain.Revised{Content: new("Retry with jitter."), Reason: "the RFC moved"}},
		{1, domain.Rescoped{Scopes: []domain.Scope{"user:mia"}, Reason: "wrong audience"}},
		{1, domain.Transferred{Owner: "team:pay", Reason: "she moved"}},
		{1, domain.Moved{URI: "viking://resources/retry.md", Reason: "a better place"}},
		{1, domain.FoundHelpful{Ballot: ballot}},
		{1, domain.FoundHarmful{Ballot: ballot}},
		{1, domain.FeedbackRetracted{Vote: "0195a000-0000-7000-8000-000000000003"}},
		{1, domain.ReportedStale{Reporter: "agent:coder", Reason: "the endpoint moved"}},
		{1, domain.Confirmed{Until: noon, Reason: "tried it"}},
		{1, domain.Superseded{By: "k2", Reason: "the new one is better"}},
		{1, domain.Deleted{Reason: "wrong"}},
		{1, domain.Restored{Reason: "was right after all"}},
		{1, domain.Accepted{By: "user:bo", Reason: "checked"}},
		{1, domain.ItemQuarantined{Containment: "c-1", Was: domain.Active, Reason: "poisoned"}},
		{1, domain.Readmitted{Containment: "c-1", Status: domain.Active, Reason: "a false alarm"}},
		{1, domain.VotesDiscounted{Containment: "c-1", Votes: []string{"0195a000-0000-7000-8000-000000000003"}}},
		{1, domain.VotesRecounted{Containment: "c-1", Votes: []string{"0195a000-0000-7000-8000-000000000003"}}},
		{1, domain.ContainmentApplied{
			Items: 3, Votes: 2, Revived: 1, Scopes: []domain.ContainedScope{{Scope: "team:pay", Items: 3}}, Named: []string{"k1"},
			Actor: "agent:coder", Session: "user:mia/s1", Since: noon, Source: "wiki", Reason: "poisoned",
		}},
		{1, domain.ContainmentUndone{Reason: "a false alarm"}},
		{1, domain.Held{ReasonCode: "litigation", Ticket: "LEGAL-7"}},
		{1, domain.Released{ReasonCode: "settled", Ticket: "LEGAL-7"}},
		{1, domain.Erased{
			ReasonCode: "gdpr-17", LegalBasis: "Art. 17(1)(b) GDPR", RequestedBy: "user:mia", Ticket: "LEGAL-7",
			Events: []string{"0195a000-0000-7000-8000-000000000004"},
		}},
		{1, domain.Linked{To: "k2", Reason: "the service & its client"}},
		{1, domain.Unlinked{To: "k2"}},
		{1, domain.SessionOpened{Owner: "user:mia", Agent: "coder"}},
		{1, domain.MessageAdded{
			Number: 7, Role: "assistant", Tokens: 120, At: noon,
			Message: domain.Message{Peer: "bo", Turn: "t-1", Kind: "answer", Parts: []domain.Part{
				{Type: domain.PartText, Text: "用 <b> & spaces"},
				{Type: domain.PartContext, URI: "viking://agent/memories/tools/xlsx.md", ContextType: "memory", Abstract: "reads .xlsx"},
				{
					Type: domain.PartTool, ToolID: "c-1", ToolName: "xlsx_to_csv", ToolURI: "viking://agent/memories/tools/xlsx.md",
					SkillURI: "viking://agent/skills/dashboard", ToolInput: json.RawMessage(`{"file":"a&b.xlsx"}`), ToolOutput: "done",
					ToolStatus: "completed", DurationMS: 12.5, PromptTokens: 10, CompletionTokens: 20,
				},
			}},
		}},
		{1, domain.ContextUsed{
			Contexts: 1, Skills: 1, URIs: []string{"viking://agent/memories/tools/xlsx.md"},
			Skill: &domain.SkillUse{URI: "viking://agent/skills/dashboard", Input: "sales.xlsx", Output: "a dashboard", Success: true},
		}},
		{1, domain.SessionCommitted{
			Archive: 2, First: 3, Last: 7, Kept: 1, Tokens: 300, Trigger: domain.TriggerTaskDone, Audience: []domain.Scope{domain.Public},
		}},
		{1, domain.SessionExtracted{
			Task: "0195a000-0000-7000-8000-000000000005", Archive: 2, Extractor: "built-in 1",
			Usage: domain.ModelUsage{PromptTokens: 900, CompletionTokens: 80}, Took: 1500 * time.Millisecond, Retry: 2,
			Lessons: []domain.Lesson{{
				Category: domain.CategoryPreferences, Polarity: domain.Positive,
				Sources:    []string{"0195a000-0000-7000-8000-000000000006"},
				Neighbours: []domain.Neighbour{{ID: "k1", Score: 0.75}},
				Decision:   domain.DecideMerge, Item: "mem_1", Target: "k1",
				Text: domain.LessonText{
					Key: "indentation", Task: "writing code", Content: "prefers tabs & spaces", Abstract: "tabs", Overview: "tabs, then spaces",
					Tags: domain.Tags{"category": {"preference"}}, Meta: json.RawMessage(`{"a":1}`),
					URI: "viking://user/mia/memories/preferences/mem_1.md", Reason: "says more",
				},
			}},
			Summary: domain.Summary{Abstract: "about indentation", Overview: "# Indentation"},
		}},
		{1, domain.ExtractionFailed{
			Task: "0195a000-0000-7000-8000-000000000005", Archive: 3, Attempts: 4, Retry: 1, Lost: true, Reason: "the model answers nonsense",
		}},
		{1, domain.ExtractionRequested{Task: "0195a000-0000-7000-8000-000000000005", Archive: 3, Retry: 2}},
		{1, domain.SessionDeleted{Reason: "done with it"}},
		{1, domain.SessionErased{
			ReasonCode: "gdpr-17", LegalBasis: "Art. 17(1)(b) GDPR", RequestedBy: "user:mia", Ticket: "DSR-12",
			Events: []string{"0195a000-0000-7000-8000-000000000006"},
		}},
		{1, domain.Redacted{
			Events: []string{"0195a000-0000-7000-8000-000000000005"}, Redacted: map[string]int{"email": 1, "employee": 2},
			Text: json.RawMessage(`{"reason":"[REDACTED_EMAIL] <said> so"}`),
		}},
		{1, domain.TextsErased{
			ReasonCode: "gdpr-17", LegalBasis: "Art. 17(1)(b) GDPR", RequestedBy: "user:mia", Ticket: "LEGAL-7",
			Events: []string{"0195a000-0000-7000-8000-000000000006"},
		}},
		{1, domain.KeyCreated{
			Hash: "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8", Subject: "agent:coder",
			Memberships: []domain.Entity{"team:pay"}, Role: domain.Service, ActsFor: true, PublishPublic: true,
			ExpiresAt: noon, Replaces: "abcdefghi3", Note: "a better one",
		}},
		{1, domain.KeyRotated{By: "abcdefghi2", Until: noon}},
		{1, domain.KeyRevoked{Reason: "it moved"}},
		{1, domain.KeyRoleChanged{Role: domain.Admin}},
		{1, domain.MemberAdded{Member: "user:mia", DisplayName: "米娅 Mia"}},
		{1, domain.MemberRenamed{DisplayName: "Mia M."}},
		{1, domain.MemberDeactivated{Reason: "she left"}},
		{1, domain.MemberReactivated{Reason: "she is back"}},
		{1, domain.MemberJoined{Group: "team:pay", Role: domain.Maintainer}},
		{1, domain.MemberLeft{Group: "team:pay", Reason: "another team"}},
		{1, domain.PolicySet{Scope: "team:pay", Type: domain.Plan, EveryDays: 90, Verifier: "user:mia"}},
		{1, domain.PolicyRemoved{Scope: "team:pay", Type: domain.Plan}},
		{1, domain.ReviewProposed{
			Kind: domain.Contradiction, Items: []string{"k1", "k2"}, Score: 0.75, Rule: "another number", By: "agent:annals",
			Reason: "the window moved",
		}},
		{1, domain.ReceiptsSealed{
			First: 7, Last: 12, Count: 3, Lost: []string{"8", "10-11"}, Root: []byte("<32 bytes> of a root of a tree!!"),
			Marks: []byte("abcdef+/\xff"),
		}},
		{1, domain.ReviewClosed{Outcome: domain.OutcomeDistinct, Reason: "two services"}},
		{1, domain.Merged{
			Items: []string{"k2", "k3"}, Helpful: 3, Harmful: 1, DerivedFrom: []string{"0195a000-0000-7000-8000-000000000005"},
			Revises: true, Reason: "they say the same",
		}},
		{1, domain.Unmerged{
			Merge: "0195a000-0000-7000-8000-000000000006", Items: []string{"k2", "k3"}, Helpful: 3, Harmful: 1,
			Reason: "they do not",
		}},
		{1, domain.Superseded{By: "k2", Carried: true, Reason: "they say the same"}},
		{1, domain.Merged{Items: []string{"k2"}, Helpful: 1, DerivedFrom: []string{"0195a000-0000-7000-8000-000000000005"}, Votes: []domain.Vote{{
			EventID: ballot.Replaces, Voter: ballot.Voter, Ballot: ballot.Key, Verdict: domain.Helpful, TraceID: ballot.TraceID, At: noon,
		}}}},
		{1, domain.Unmerged{Merge: "0195a000-0000-7000-8000-000000000006", Items: []string{"k2"}, Helpful: 1, Votes: []string{ballot.Replaces}}},
		{1, domain.SubscriptionCreated{
			Subscriber: "user:mia", By: "agent:coder", Authentication: "key:abcdefghi2", Follows: "scope", Scope: "team:pay",
			Item: "k1", Events: []string{"remembered", "stale"}, Webhook: true, Tag: "service=pay", Query: "部署 window",
			URL: "https://example.com/hook", Note: "for the pager",
		}},
		{1, domain.SubscriptionPaused{Cause: domain.CauseAsked, Reason: "she left"}},
		{1, domain.SubscriptionResumed{}},
		{1, domain.SubscriptionRotated{}},
		{1, domain.SubscriptionEnded{Cause: domain.CauseAsked, Reason: "no longer needed"}},
		{1, domain.TenantCreated{}},
		{1, domain.TenantErased{}},
		{1, domain.ErasureOrdered{
			Of: "user:mia", WithLineage: true, Role: domain.Admin, ReasonCode: "gdpr-17", LegalBasis: "Art. 17(1)(b) GDPR",
			RequestedBy: "user:mia", Ticket: "DSR-12",
		}},
		{1, domain.ErasureCompleted{Erased: 12, NotErased: 1, Refused: []domain.Refused{{Stream: "knowledge:k2", Reason: "k2 is under legal hold"}}}},
		{1, domain.LearningChanged{LearnedFor: domain.LearnedTeam}},
		{1, domain.ScrubbingChanged{Rules: domain.Scrubbing{
			Off: []string{"phone"}, Patterns: []domain.ScrubPattern{{Class: "employee", Expression: `\bEMP-\d{5}\b`}},
		}}},
		{1, domain.ScrubbingChanged{Rules: domain.Scrubbing{Allow: []string{"org:acme=email", "org:acme=phone"}}}},
		{1, domain.ProjectionStarted{Version: 3, Settings: map[string]string{"confidence": "halving", "tokenizer": "2"}, Items: 1000}},
		{1, domain.ProjectionLoaded{Version: 3, Streams: 1000, Events: 5000, Took: 2500 * time.Millisecond}},
		{1, domain.ProjectionCaughtUp{Version: 3, Took: 1500 * time.Microsecond}},
		{1, domain.ProjectionVerified{VerificationResult: findings}},
		{1, domain.ProjectionRefused{VerificationResult: findings}},
		{1, domain.ProjectionSwitched{Version: 3, From: 2}},
		{1, domain.ProjectionRolledBack{Version: 2, From: 3}},
		{1, domain.ProjectionCancelled{Version: 3}},
		{1, domain.ProjectionFailed{Version: 3, Reason: "the disk is full: wrong"}},
		{1, domain.ProjectionRetired{Version: 2, Reason: "it moved"}},
	}
}

// gained names the optional field by which a form differs from the first one of its schema version; empty for that.
func gained(fact domain.Fact) string {
	var reason string
	switch f := fact.(type) {
	case domain.Revised:
		reason = f.Reason
	case domain.Rescoped:
		reason = f.Reason
	case domain.Transferred:
		reason = f.Reason
	case domain.Moved:
		reason = f.Reason
	case domain.Superseded:
		if f.Carried {
			return ".carried"
		}
	case domain.Merged:
		if len(f.Votes) > 0 {
			return ".votes"
		}
	case domain.ScrubbingChanged:
		if len(f.Rules.Allow) > 0 {
			return ".allow"
		}
	case domain.Unmerged:
		if len(f.Votes) > 0 {
			return ".votes"
		}
	}
	if reason == "" {
		return ""
	}
	return ".reason"
}
