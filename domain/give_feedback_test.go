package domain_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/annals-kb/annals/domain"
)

// vote is a voice on a trace.
func vote(by Principal, verdict Verdict, trace string) GiveFeedback {
	return GiveFeedback{Target: on(by), Verdict: verdict, TraceID: trace}
}

// voteOn is a voice without a trace.
func voteOn(by Principal, verdict Verdict, day time.Time) GiveFeedback {
	return GiveFeedback{Target: on(by), Verdict: verdict, Day: day}
}

func onTrace(voter Entity, trace string) Ballot {
	return Ballot{Voter: voter, Key: "trace:" + trace, TraceID: trace}
}

func onDay(voter Entity, day string) Ballot { return Ballot{Voter: voter, Key: "day:" + day} }

func replacing(position int64, b Ballot) Ballot {
	b.Replaces = eventID(position)
	return b
}

func counts(helpful, harmful int, confidence float64) func(*Knowledge) bool {
	return func(k *Knowledge) bool {
		return k.Helpful == helpful && k.Harmful == harmful && k.Confidence == confidence
	}
}

func TestWhoeverMayReadMayVote(t *testing.T) {
	t.Parallel()
	given(t, remembered()).
		when(vote(as(bob, project), Helpful, "t")).then(FoundHelpful{onTrace(bob, "t")}).
		leaves("1.5 of 2", counts(2, 0, 0.75)).
		when(vote(as(alice), Harmful, "t")).then(FoundHarmful{onTrace(alice, "t")}).
		leaves("1.5 of 3", counts(2, 1, 0.5)).
		leaves("still revision 1", func(k *Knowledge) bool { return k.Revision == 1 && k.Version == 3 })
	given(t, remembered()).when(vote(as(eve), Helpful, "t")).refused(ErrNotFound)
	given(t, remembered()).when(vote(auditor(), Helpful, "t")).refused(ErrForbidden)
}

func TestAVoterHasOneVoicePerTrace(t *testing.T) {
	t.Parallel()
	bobs := as(bob, project)
	given(t, remembered()).
		when(vote(bobs, Helpful, "t")).then(FoundHelpful{onTrace(bob, "t")}).
		when(vote(bobs, Harmful, "t")).then(FoundHarmful{replacing(2, onTrace(bob, "t"))}).
		leaves("the first voice replaced", counts(1, 1, 0.25)).
		when(vote(bobs, Harmful, "t")).thenNothing().
		when(vote(bobs, Helpful, "t")).then(FoundHelpful{replacing(3, onTrace(bob, "t"))}).
		when(vote(bobs, Helpful, "u")).then(FoundHelpful{onTrace(bob, "u")}).
		leaves("two traces, two voices of one voter", counts(3, 0, 0.8))
}

func TestWithoutATraceAVoterHasOneVoiceADay(t *testing.T) {
	t.Parallel()
	bobs := as(bob, project)
	evening := time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)
	shanghai := time.FixedZone("UTC+8", 8*3600) // already Tuesday there
	given(t, remembered()).
		when(voteOn(bobs, Helpful, monday)).then(FoundHelpful{onDay(bob, "2026-03-02")}).
		when(voteOn(bobs, Helpful, evening)).thenNothing().
		when(voteOn(bobs, Harmful, evening.In(shanghai))).then(FoundHarmful{replacing(2, onDay(bob, "2026-03-02"))}).
		when(voteOn(bobs, Harmful, evening.Add(time.Hour))).then(FoundHarmful{onDay(bob, "2026-03-03")}).
		leaves("two days, two voices of one voter", counts(1, 2, 0.2))
}

func TestADayHasRoomForTenTracesOfAVoter(t *testing.T) {
	t.Parallel()
	voted := func(by Principal, verdict Verdict, trace string, day time.Time) GiveFeedback {
		v := vote(by, verdict, trace)
		v.Day = day
		return v
	}
	bobs := as(bob, project)
	facts := []Fact{remembered()}
	for i := range MostTraces {
		facts = append(facts, FoundHelpful{onTrace(bob, fmt.Sprint("t", i))})
	}
	given(t, facts...).
		when(voted(bobs, Helpful, "eleventh", monday)).refused(ErrConflict).
		when(voteOn(bobs, Helpful, monday)).refused(ErrConflict).
		when(voted(bobs, Helpful, "t3", monday)).thenNothing().
		when(voted(bobs, Harmful, "t3", monday)).then(FoundHarmful{replacing(5, onTrace(bob, "t3"))}).
		when(voted(as(alice), Helpful, "eleventh", monday)).then(FoundHelpful{onTrace(alice, "eleventh")}).
		when(RetractFeedback{Target: on(bobs), TraceID: "t4"}).then(FeedbackRetracted{Vote: eventID(6)}).
		when(voted(bobs, Helpful, "eleventh", monday)).then(FoundHelpful{onTrace(bob, "eleventh")}).
		when(voted(bobs, Helpful, "twelfth", monday)).refused(ErrConflict).
		when(voted(bobs, Helpful, "twelfth", monday.AddDate(0, 0, 1))).then(FoundHelpful{onTrace(bob, "twelfth")})
}

func TestAnotherQueryOrOutcomeIsAnotherVoice(t *testing.T) {
	t.Parallel()
	told := vote(as(alice), Helpful, "t")
	told.Query, told.Outcome = "how to build", "built"
	ballot := replacing(2, onTrace(alice, "t"))
	ballot.Query, ballot.Outcome = "how to build", "built"
	given(t, remembered()).
		when(vote(as(alice), Helpful, "t")).then(FoundHelpful{onTrace(alice, "t")}).
		when(told).then(FoundHelpful{ballot}).
		when(told).thenNothing().
		leaves("still one voice", counts(2, 0, 0.75))
}

func TestTheVoiceIsTheirsOnWhoseBehalfItIsGiven(t *testing.T) {
	t.Parallel()
	given(t, remembered()).
		when(vote(onBehalfOf(as(bot), alice), Helpful, "t")).then(FoundHelpful{onTrace(alice, "t")}).
		when(vote(as(alice), Helpful, "t")).thenNothing().
		when(vote(onBehalfOf(service(), bob), Helpful, "t")).then(FoundHelpful{onTrace(bob, "t")}).
		leaves("two voters", counts(3, 0, 2.5/3))
}

func TestAVoteCanBeTakenBack(t *testing.T) {
	t.Parallel()
	bobs := as(bob, project)
	voted := []Fact{remembered(), FoundHelpful{onTrace(bob, "t")}, FoundHarmful{onDay(bob, "2026-03-02")}}
	byTrace := RetractFeedback{Target: on(bobs), TraceID: "t"}
	byDay := RetractFeedback{Target: on(bobs), Day: monday}
	byEvent := RetractFeedback{Target: on(bobs), EventID: eventID(2)}
	given(t, voted...).
		when(byTrace).then(FeedbackRetracted{Vote: eventID(2)}).leaves("one against", counts(1, 1, 0.25)).
		when(byTrace).refused(ErrNotFound).
		when(byDay).then(FeedbackRetracted{Vote: eventID(3)}).leaves("as it began", counts(1, 0, 0.5)).
		when(byEvent).refused(ErrNotFound)
	given(t, voted...).
		when(byEvent).then(FeedbackRetracted{Vote: eventID(2)}).
		when(vote(bobs, Helpful, "t")).then(FoundHelpful{onTrace(bob, "t")})
}

func TestAReplacedVoteCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	given(t, remembered(), FoundHelpful{onTrace(bob, "t")}, FoundHarmful{replacing(2, onTrace(bob, "t"))}).
		when(RetractFeedback{Target: on(as(bob, project)), EventID: eventID(2)}).refused(ErrNotFound)
}

func TestOnlyTheVoterAndAdminsTakeAVoteBack(t *testing.T) {
	t.Parallel()
	take := func(by Principal) RetractFeedback { return RetractFeedback{Target: on(by), EventID: eventID(2)} }
	voted := []Fact{remembered(), FoundHelpful{onTrace(bob, "t")}}
	given(t, voted...).when(take(as(alice))).refused(ErrForbidden)
	given(t, voted...).when(take(service())).refused(ErrForbidden)
	given(t, voted...).when(take(auditor())).refused(ErrForbidden)
	given(t, voted...).when(take(as(eve))).refused(ErrNotFound)
	given(t, voted...).when(take(administrator())).then(FeedbackRetracted{Vote: eventID(2)})
	given(t, voted...).when(take(onBehalfOf(service(), bob))).then(FeedbackRetracted{Vote: eventID(2)})
	given(t, voted...).when(RetractFeedback{Target: on(as(alice)), TraceID: "t"}).refused(ErrNotFound)
}

func TestAVoteIsFoundOnItsOwnItemOnly(t *testing.T) {
	t.Parallel()
	given(t, remembered()).and("k2", remembered(), FoundHelpful{onTrace(bob, "t")}).
		when(RetractFeedback{Target: on(administrator()), EventID: eventID(3)}).refused(ErrNotFound)
}

func TestAVoteMayExpectARevision(t *testing.T) {
	t.Parallel()
	expecting := vote(as(alice), Helpful, "t")
	expecting.Revisions = []int64{2}
	given(t, remembered()).when(expecting).refused(ErrPrecondition)
	given(t, remembered(), Moved{URI: "viking://x"}).when(expecting).then(FoundHelpful{onTrace(alice, "t")})
}

func TestFeedbackNamesEveryBadField(t *testing.T) {
	t.Parallel()
	bad := vote(as(alice), "splendid", "t\x00")
	bad.Query, bad.Outcome = "\xff", "\x00"
	given(t, remembered()).when(bad).invalid("verdict", "query", "outcome", "trace_id")
	given(t, remembered()).when(vote(as(alice), "", "t")).invalid("verdict")
	given(t, remembered()).when(RetractFeedback{Target: on(as(alice)), EventID: "17", TraceID: "\x00"}).
		invalid("event_id", "trace_id")
}
