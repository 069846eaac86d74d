package review_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/review"
)

// world is a log that a proposer follows page by page.
type world struct {
	*World
	reports  browse.Reports
	proposer review.Proposer
	proposed int64 // until here, the proposer followed
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		w := &world{World: NewWorld(t, db, projections.Settings{})}
		w.reports = w.Reports()
		w.proposer = review.Proposer{
			Log: w.Log, Followers: w.Followers, Reader: w.Base.Browser, Searcher: w.Base.Searcher, Proposals: w.reports,
			Writer: w.Log, Logger: databasetest.Log(t),
		}
		test(w)
	})
}

func (w *world) remember(id, content string, scopes ...domain.Scope) {
	w.T.Helper()
	command := Must(domain.Remember{By: w.By, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Plan}, Owner: "team:pay", Scopes: scopes, Text: domain.Text{Content: content},
	}}.Complete())(w.T)
	w.Submit(command)
}

// follow lets the proposer read what is new. With again it reads everything once more, as after a crash.
func (w *world) follow(again bool) {
	w.T.Helper()
	if again {
		w.proposed = 0
	}
	page, err := w.Log.Reader.Read(w.T.Context(), w.By.Tenant, w.proposed, 500)
	if err == nil {
		_, err = w.proposer.Prepare(w.T.Context(), follow.Page{Tenant: w.By.Tenant, Events: page})
	}
	if err != nil {
		w.T.Fatal(err)
	}
	w.proposed += int64(len(page))
}

// holds compares the open proposals about some items, as "kind item item".
func (w *world) holds(want ...string) {
	w.T.Helper()
	open := Must(w.reports.ProposalsAbout(w.T.Context(), w.By.Tenant, []string{"a", "b", "c", "hub"}))(w.T)
	got := []string{}
	for _, p := range open {
		if p.Outcome == "" {
			got = append(got, fmt.Sprint(p.Kind, " ", p.Items))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(got, append([]string{}, want...)); diff != "" {
		w.T.Errorf("open proposals (-got +want):\n%s", diff)
	}
}

const (
	tuesday   = "The deploy window of checkout is Tuesday from 09:00 to 11:00."
	wednesday = "The deploy window of checkout is Wednesday from 09:00 to 11:00."
)

func (w *world) revise(id, content string) {
	w.T.Helper()
	w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: id}, Changes: domain.Revised{Content: &content}})
}

func TestWhatContradictsIsProposedOnceUntilItIsRevised(t *testing.T) {
	each(t, func(w *world) {
		w.remember("a", tuesday, "team:pay")
		w.remember("b", wednesday, "team:pay")
		w.remember("c", wednesday, "team:build") // for others
		w.follow(false)
		w.holds("contradiction [a b]")
		w.follow(true)
		w.holds("contradiction [a b]")

		open, err := w.reports.OpenProposals(w.T.Context(), w.By.Tenant, []string{"a", "b"})
		if err != nil || len(open) != 1 {
			w.T.Fatal(open, err)
		}
		w.Submit(domain.CloseProposal{By: w.By, ID: open[0], Outcome: domain.OutcomeDistinct, Reason: "two services"})
		w.follow(true)
		w.holds()
		w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "b"}, Scopes: []domain.Scope{"team:pay", "org:acme"}})
		w.follow(false)
		w.holds() // no text was revised
		w.revise("b", tuesday)
		w.follow(false)
		w.holds("duplicate [a b]")
		w.revise("b", "Lunch is at noon in the garden.")
		w.follow(false)
		w.holds()
		w.revise("b", wednesday)
		w.follow(false)
		w.holds("contradiction [a b]")
		w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: "a"}})
		w.follow(false)
		w.holds()
		w.Submit(domain.Restore{Target: domain.Target{By: w.By, ID: "a"}})
		w.follow(false)
		w.holds("contradiction [a b]")

		erase := Must(domain.Erase{
			Target: domain.Target{By: w.By, ID: "a"}, ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
		}.Complete())(w.T)
		w.Submit(erase)
		w.proposer.Off = true
		page := Must(w.Log.Reader.Read(w.T.Context(), w.By.Tenant, w.proposed, 500))(w.T)
		healthy := w.proposer.Writer
		w.proposer.Writer = &broken{Writer: healthy, err: domain.Refuse(domain.ErrForbidden, "no")}
		_, err = w.proposer.Prepare(w.T.Context(), follow.Page{Tenant: w.By.Tenant, Events: page})
		if !errors.Is(err, domain.ErrForbidden) {
			w.T.Errorf("a reason that is not erased: %v", err)
		}
		w.proposer.Writer = healthy
		w.follow(false)
		events, err := w.Log.Reader.Stream(w.T.Context(), w.By.Tenant, domain.ProposalStreams.Of(open[0]))
		if err != nil || len(events) != 3 || !events[1].TextErased {
			w.T.Errorf("the reason of the proposal is not erased: %+v, %v", events, err)
		}
	})
}

func TestTwoAnswersToOneTaskAreProposed(t *testing.T) {
	each(t, func(w *world) {
		for id, owner := range map[string]domain.Entity{"a": "user:mia", "b": "user:bo", "c": "user:mia"} {
			w.remember(id, "lunch "+id, "team:pay")
			w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: id}, Owner: owner})
		}
		for _, pair := range [][3]string{
			{"large refunds", "two approvals", "without asking anybody"},
			{"Node version", "Node 20", "Node 22"},
			{"deploys this week", "frozen", "部署冻结已取消"},
			{"数据库", "PostgreSQL 15", "MySQL"},
		} {
			for id, content := range map[string]string{"a": pair[1], "b": pair[2], "c": "see the handbook"} {
				task := pair[0]
				w.Submit(domain.Revise{
					Target: domain.Target{By: w.By, ID: id}, Changes: domain.Revised{Task: &task, Content: &content},
				})
			}
			w.follow(false)
			w.holds("contradiction [a b]", "contradiction [b c]")
		}
	})
}

func TestItemsThatAnotherProcessReadAreCompared(t *testing.T) {
	each(t, func(w *world) {
		w.remember("a", "Never deploy on Fridays.", "team:pay")
		w.remember("c", tuesday, "team:pay")
		w.revise("c", "Lunch is at noon in the garden.")
		w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: "c"}})
		w.proposed = 4
		w.remember("b", "周五不要部署。", "team:pay") // which shares no term with it
		w.follow(false)
		w.holds("duplicate [a b]")
		w.proposed += 3 // the proposal, and what yet another process reads
		w.Submit(domain.Restore{Target: domain.Target{By: w.By, ID: "c"}})
		w.revise("c", tuesday)
		w.remember("hub", wednesday, "team:pay")
		w.follow(false)
		w.holds("contradiction [c hub]", "duplicate [a b]")
	})
}

func TestAPageTakesAsManyStatementsForManyItems(t *testing.T) {
	each(t, func(w *world) {
		listener := &databasetest.Statements{}
		w.DB.AddQueryHook(listener)
		taken := func(items int) int {
			for i := range items {
				w.remember(fmt.Sprint("room-", items, "-", i), fmt.Sprintf("Room %d of house %d has a lamp.", i, items), "team:pay")
			}
			before := len(listener.Sent())
			w.follow(false)
			return len(listener.Sent()) - before
		}
		if one, many := taken(1), taken(40); many > one+2 {
			w.T.Errorf("an item takes %d statements, and 40 take %d", one, many)
		}
		if about := Must(w.reports.ProposalsAbout(w.T.Context(), w.By.Tenant, []string{"room-40-0", "room-40-1"}))(w.T); len(about) > 0 {
			w.T.Errorf("rooms are %s of one another", about[0].Kind)
		}
	})
}

func TestTheProposerTellsHowFarItIs(t *testing.T) {
	each(t, func(w *world) {
		w.remember("a", tuesday, "team:pay")
		if got := Must(w.proposer.Status(w.T.Context(), w.By.Tenant))(w.T); got.Name != "review" || got.LagEvents != 1 {
			w.T.Errorf("got %+v", got)
		}
	})
}

func TestAnItemHasFewOpenProposals(t *testing.T) {
	each(t, func(w *world) {
		w.remember("hub", tuesday, "team:pay")
		for i := range 8 {
			content := fmt.Sprintf("The deploy window of checkout is Tuesday from 09:00 to 11:0%d.", i+1)
			w.remember(fmt.Sprint("k", i), content, "team:pay")
			w.follow(false)
		}
		about, err := w.reports.ProposalsAbout(w.T.Context(), w.By.Tenant, []string{"hub"})
		if err != nil || len(about) == 0 || len(about) > 5 {
			w.T.Errorf("got %d proposals, %v", len(about), err)
		}
	})
}

func TestProposalsOfPeopleLeaveRoomForThoseOfTheServer(t *testing.T) {
	each(t, func(w *world) {
		w.remember("hub", tuesday, "team:pay")
		hub, err := w.proposer.Reader.Find(w.T.Context(), w.By.Tenant, "hub")
		for i := 0; err == nil && i < 5; i++ {
			id := fmt.Sprint("k", i)
			w.remember(id, "Note "+id, "team:pay")
			var other *domain.Knowledge
			if other, err = w.proposer.Reader.Find(w.T.Context(), w.By.Tenant, id); err == nil {
				w.Submit(domain.ProposeReview{
					By: w.By, ID: domain.ProposalID(domain.Duplicate, []*domain.Knowledge{hub, other}), Kind: domain.Duplicate,
					Items: []string{"hub", id},
				})
			}
		}
		if err != nil {
			w.T.Fatal(err)
		}
		w.remember("b", wednesday, "team:pay")
		w.follow(false)
		w.holds("contradiction [b hub]", "duplicate [hub k0]", "duplicate [hub k1]", "duplicate [hub k2]",
			"duplicate [hub k3]", "duplicate [hub k4]")
	})
}

func TestAProposalHoldsThoughTheSearchFindsOtherItems(t *testing.T) {
	each(t, func(w *world) {
		w.remember("hub", tuesday, "team:pay")
		for _, day := range []string{"Wednesday", "Thursday", "Friday"} {
			w.remember(day, "The deploy window of checkout is "+day+" from 09:00 to 11:00.", "team:pay")
		}
		w.proposed = 1
		w.follow(false)
		for i := range 5 {
			w.remember(fmt.Sprint("same", i), tuesday, "team:pay")
		}
		tags := domain.Tags{"team": {"pay"}}
		w.Submit(domain.Revise{Target: domain.Target{By: w.By, ID: "hub"}, Changes: domain.Revised{Tags: &tags}})
		w.proposer.Off = true // for the duplicates
		w.follow(false)
		w.proposer.Off = false
		w.proposed--
		w.follow(false)
		w.holds("contradiction [Friday hub]", "contradiction [Thursday hub]", "contradiction [Wednesday hub]",
			"duplicate [hub same3]", "duplicate [hub same4]")
	})
}

// broken is a writer that fails once.
type broken struct {
	review.Writer
	err error
}

func (b *broken) Submit(ctx context.Context, s domain.Submission) (domain.Receipt, error) {
	if err := b.err; err != nil {
		b.err = nil
		return domain.Receipt{}, err
	}
	return b.Writer.Submit(ctx, s)
}

func TestAPageThatFailsIsReadAgain(t *testing.T) {
	each(t, func(w *world) {
		w.remember("a", tuesday, "team:pay")
		w.remember("b", wednesday, "team:pay")
		page, err := w.Log.Reader.Read(w.T.Context(), w.By.Tenant, 0, 500)
		if err != nil {
			w.T.Fatal(err)
		}
		w.proposer.Writer = &broken{Writer: w.Log, err: domain.Refuse(domain.ErrUnavailable, "down")}
		_, err = w.proposer.Prepare(w.T.Context(), follow.Page{Tenant: w.By.Tenant, Events: page})
		if !errors.Is(err, domain.ErrUnavailable) {
			w.T.Errorf("got %v", err)
		}
		w.holds()
		w.follow(true)
		w.holds("contradiction [a b]")
	})
}
