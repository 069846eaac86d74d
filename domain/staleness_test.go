package domain_test

import (
	"testing"
	"time"

	. "github.com/annals-kb/annals/domain"
)

func stale(by Principal, reason string) ReportStale {
	return ReportStale{Target: on(by), Reason: reason}
}

func TestAReporterCountsOnce(t *testing.T) {
	t.Parallel()
	given(t, remembered()).
		when(stale(as(bob, project), "moved to v2")).then(ReportedStale{Reporter: bob, Reason: "moved to v2"}).
		leaves("halved", counts(1, 0, 0.25)).
		when(stale(as(bob, project), "moved to v2")).thenNothing().
		when(stale(as(bob, project), "")).thenNothing().
		when(stale(as(bob, project), "v3, by now")).then(ReportedStale{Reporter: bob, Reason: "v3, by now"}).
		leaves("still one reporter, since the first report", func(k *Knowledge) bool {
			return k.Stale == Staleness{Reporters: 1, Since: monday.Add(2 * time.Second), Reason: "v3, by now"} && k.Confidence == 0.25
		}).
		when(stale(as(alice), "")).then(ReportedStale{Reporter: alice}).
		leaves("halved twice, for the newest reason given", func(k *Knowledge) bool {
			return k.Stale.Reporters == 2 && k.Stale.Reason == "v3, by now" && k.Confidence == 0.125 && k.Revision == 1
		})
}

func TestOnSomebodysBehalfTheReportIsTheirs(t *testing.T) {
	t.Parallel()
	given(t, remembered(), ReportedStale{Reporter: alice}).
		when(stale(onBehalfOf(as(bot), alice), "")).thenNothing()
}

func TestWhoeverMayReadMayReport(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(stale(as(eve), "")).refused(ErrNotFound)
	given(t, remembered()).when(stale(auditor(), "")).refused(ErrForbidden)
}

func TestConfirmingEndsTheDoubts(t *testing.T) {
	t.Parallel()
	until := monday.AddDate(1, 0, 0)
	given(t, remembered(), ReportedStale{Reporter: bob, Reason: "old"}, ReportedStale{Reporter: eve}).
		when(Confirm{Target: on(as(alice)), Until: until, Reason: "checked"}).then(Confirmed{Until: until, Reason: "checked"}).
		leaves("fresh", func(k *Knowledge) bool {
			return k.Stale == Staleness{} && k.Confidence == 0.5 && k.ConfirmUntil.Equal(until) &&
				k.ConfirmedAt.Equal(monday.Add(4*time.Second)) && k.Revision == 1
		}).
		when(stale(as(bob, project), "old")).then(ReportedStale{Reporter: bob, Reason: "old"}).
		leaves("doubted anew", counts(1, 0, 0.25))
}

func TestAnItemMayBeConfirmedAgainAndAgain(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Confirmed{Until: monday.AddDate(1, 0, 0)}).
		when(Confirm{Target: on(as(alice))}).then(Confirmed{}).
		leaves("without an end", func(k *Knowledge) bool { return k.ConfirmUntil.IsZero() })
}

func TestOnlyTheOwnerAndAdminsConfirm(t *testing.T) {
	t.Parallel()
	given(t, remembered()).when(Confirm{Target: on(as(bob, project))}).refused(ErrForbidden)
	given(t, remembered()).when(Confirm{Target: on(auditor())}).refused(ErrForbidden)
	given(t, remembered()).when(Confirm{Target: on(as(eve))}).refused(ErrNotFound)
	given(t, remembered()).when(Confirm{Target: on(administrator())}).then(Confirmed{})
}

func TestAConfirmationEndsInTheFuture(t *testing.T) {
	t.Parallel()
	// ifSet leaves the clock at monday + 1 s, and when decides a second later.
	now := monday.Add(2 * time.Second)
	given(t, remembered()).when(Confirm{Target: on(as(alice)), Until: now}).invalid("until")
	given(t, remembered()).when(Confirm{Target: on(as(alice)), Until: now.Add(time.Microsecond)}).
		then(Confirmed{Until: now.Add(time.Microsecond)})
}

func TestReportsCountAgainWhenAConfirmationHasExpired(t *testing.T) {
	t.Parallel()
	until := monday.AddDate(1, 0, 0)
	confirmed := Confirmed{Until: until}
	given(t, remembered(), ReportedStale{Reporter: bob, Reason: "old"}, ReportedStale{Reporter: eve}, confirmed).
		leaves("fresh until then", func(k *Knowledge) bool {
			k = k.At(until.Add(-time.Microsecond))
			return !k.Expired && k.Stale == Staleness{} && k.Confidence == 0.5
		}).
		leaves("as before it from then on", func(k *Knowledge) bool {
			k = k.At(until)
			return k.Expired && k.Stale == Staleness{Reporters: 2, Since: monday.Add(2 * time.Second), Reason: "old"} && k.Confidence == 0.125
		}).
		when(stale(as(bob, project), "older")).then(ReportedStale{Reporter: bob, Reason: "older"}).
		leaves("one reporter now, and still two in all", func(k *Knowledge) bool {
			then := k.At(until)
			return k.Stale.Reporters == 1 && k.Confidence == 0.25 &&
				then.Stale == Staleness{Reporters: 2, Since: monday.Add(2 * time.Second), Reason: "older"} && then.Confidence == 0.125
		}).
		when(Confirm{Target: on(as(alice)), Until: until.AddDate(1, 0, 0)}).then(Confirmed{Until: until.AddDate(1, 0, 0)}).
		leaves("fresh for longer", func(k *Knowledge) bool {
			return k.At(until).Confidence == 0.5 && k.At(until.AddDate(1, 0, 0)).Stale.Reporters == 2
		}).
		when(Confirm{Target: on(as(alice))}).then(Confirmed{}).
		leaves("fresh for good", func(k *Knowledge) bool {
			k = k.At(until.AddDate(9, 0, 0))
			return !k.Expired && k.Stale == Staleness{} && k.Confidence == 0.5
		})
}

func TestAReportThatCountsAgainIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	// ifSet leaves the clock a second after each fact, and when decides a second later.
	given(t, remembered(), ReportedStale{Reporter: eve}, Confirmed{Until: monday.Add(4 * time.Second)}).
		when(stale(as(eve, project), "")).thenNothing()
}
