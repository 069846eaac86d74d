package contain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/contain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

const mallory domain.Entity = "agent:mallory"

var teams = []domain.Entity{"team:t0", "team:t1", "team:t2", "team:t3"}

// attack is a tenant in which many write, one of whom is mallory. It knows what is affected.
type attack struct {
	*World
	*rand.Rand
	ids      []string
	affected map[string]bool
	said     map[string]bool // what was said, and whether what said it first is affected
	sessions int
	messages map[bool][]string // ids of messages, by whether they are mallory's
}

func (a *attack) somebody() domain.Principal {
	return a.as(domain.Entity(fmt.Sprint("user:p", a.IntN(5))))
}

func (a *attack) as(e domain.Entity) domain.Principal {
	return domain.Principal{Tenant: a.By.Tenant, Subject: e, Role: domain.Member, Memberships: teams}
}

func (a *attack) one() string  { return a.ids[a.IntN(len(a.ids))] }
func (a *attack) poison() bool { return a.IntN(3) == 0 }
func (a *attack) claim() string {
	return fmt.Sprintf("claim %x %x of the matter", a.Uint64(), a.Uint64())
}

// does submits a command as somebody, and tells whether it was recorded.
func (a *attack) does(by domain.Principal, command domain.Command, then ...domain.Command) bool {
	done, err := a.Log.Submit(a.T.Context(), domain.Submission{By: by, Command: command, Then: then})
	return err == nil && done.Outcome != domain.Unchanged
}

// writes remembers an item.
func (a *attack) writes(by domain.Principal, content string, from []string, affected bool) string {
	a.T.Helper()
	id := fmt.Sprint("i", len(a.ids))
	command := domain.Remember{By: by, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: by.Subject, Scopes: []domain.Scope{teams[a.IntN(len(teams))].Scope()},
		DerivedFrom: from, Text: domain.Text{Content: content},
	}}
	if !a.does(by, Must(command.Complete())(a.T)) {
		a.T.Fatalf("%s was not remembered", id)
	}
	a.ids = append(a.ids, id)
	a.affected[id] = affected
	a.says(content, affected)
	return id
}

func (a *attack) says(content string, affected bool) {
	if _, known := a.said[plain(content)]; !known {
		a.said[plain(content)] = affected
	}
}

func plain(content string) string { return strings.Join(strings.Fields(strings.ToLower(content)), " ") }

func (a *attack) newest(id string) string {
	history := Must(a.Log.Reader.Stream(a.T.Context(), a.By.Tenant, domain.KnowledgeStream(id)))(a.T)
	return history[len(history)-1].EventID
}

func (a *attack) item(id string) *domain.Knowledge {
	return Must(a.Base.Browser.Find(a.T.Context(), a.By.Tenant, id))(a.T)
}

// step lets something happen.
func (a *attack) step() {
	who, evil := a.somebody(), a.poison()
	if evil {
		who = a.as(mallory)
	}
	if len(a.ids) < 4 {
		a.writes(who, a.claim(), nil, evil)
		return
	}
	x, y := a.one(), a.one()
	content := a.item(x).Text.Content
	switch a.IntN(10) {
	case 0, 1: // an injected fact
		a.writes(who, a.claim(), nil, evil)
	case 2: // a delayed trigger: harmless until it is revised
		mine := a.writes(who, a.claim(), nil, evil)
		a.does(a.By, domain.GiveFeedback{Target: domain.Target{By: a.somebody(), ID: mine}, Verdict: domain.Helpful})
		content := a.claim()
		a.does(who, domain.Revise{Target: domain.Target{By: who, ID: mine}, Changes: domain.Revised{Content: &content}})
		a.says(content, evil)
	case 3: // a copy into another scope, by an agent
		copied := "  " + strings.ToUpper(content[:1]) + strings.ReplaceAll(content[1:], " ", "\n")
		a.writes(who, copied, nil, evil || a.said[plain(content)])
	case 4: // made from another item
		a.writes(who, a.claim(), []string{a.newest(x)}, evil || a.affected[x])
	case 5: // merged into another item
		merge := domain.Merge{Target: domain.Target{By: a.By, ID: y}, Items: []string{x}, CarryVotes: a.IntN(2) == 0}
		if text := a.claim(); a.IntN(2) == 0 {
			merge.Changes.Content = &text
		}
		if x != y && a.does(a.By, merge, merge.Then(nil)...) {
			a.affected[y] = a.affected[y] || a.affected[x]
			a.says(a.item(y).Text.Content, a.affected[y])
		}
	case 6: // an extraction from a session
		a.sessions++
		session := domain.SessionTarget{By: who, Owner: who.Subject, ID: fmt.Sprint("s", a.sessions)}
		a.does(who, domain.OpenSession{SessionTarget: session})
		done, err := a.Log.Submit(a.T.Context(), domain.Submission{By: who, Command: domain.AddMessages{
			SessionTarget: session, Messages: []domain.NewMessage{{
				Role: domain.RoleUser, Tokens: 3, Message: domain.Message{Parts: []domain.Part{{Type: domain.PartText, Text: "x"}}},
			}},
		}})
		NoError(a.T, err)
		a.messages[evil] = append(a.messages[evil], done.Events[len(done.Events)-1].EventID)
		a.writes(a.somebody(), a.claim(), a.messages[evil][len(a.messages[evil])-1:], evil)
	case 7: // a summary of several
		a.writes(a.somebody(), a.claim(), []string{a.newest(x), a.newest(y)}, a.affected[x] || a.affected[y])
	case 8: // votes
		verdict := domain.Verdicts[a.IntN(2)]
		a.does(who, domain.GiveFeedback{Target: domain.Target{By: who, ID: x}, Verdict: verdict, TraceID: fmt.Sprint(a.IntN(3))})
	case 9:
		if a.item(x).Status != domain.Active {
			return // an item that was superseded twice comes back as an active one
		}
		a.does(a.By, domain.Supersede{Target: domain.Target{By: a.By, ID: x}, Successor: y})
	}
}

// judged is what readers see of an item, besides its text.
type judged struct {
	Status           domain.Status
	By               string
	Helpful, Harmful int
	Confidence       float64
	Votes            map[string]domain.Vote
}

func (a *attack) judged() map[string]judged {
	all := map[string]judged{}
	for _, id := range a.ids {
		k := a.item(id)
		all[id] = judged{k.Status, k.SupersededBy, k.Helpful, k.Harmful, k.Confidence, k.Votes}
	}
	return all
}

// Of seeded attacks, exactly what is affected is found, nothing of it is left for readers, the rest is as if mallory
// had never written, and an undo brings everything back.
func TestAttacksAreContainedAndUndone(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 30
	}
	Each(t, func(t *testing.T, w *World) {
		all := &contain.Containments{View: w.Base.View, Log: w.Log}
		found, missed, alarms := 0, 0, 0
		for seed := range seeds {
			a := &attack{
				World: w.In(fmt.Sprint("t", seed)), Rand: rand.New(rand.NewPCG(uint64(seed), 1)), affected: map[string]bool{},
				said: map[string]bool{}, messages: map[bool][]string{},
			}
			for range 40 {
				a.step()
			}
			tainting := domain.Tainting{Actor: mallory}
			effect := Must(all.Preview(t.Context(), a.By, tainting))(t)
			got := map[string]bool{}
			for _, i := range effect.Items {
				got[i.ID] = true
			}
			for _, id := range a.ids {
				switch {
				case a.affected[id] && !got[id]:
					missed++
					t.Errorf("seed %d: %s is missed", seed, id)
				case !a.affected[id] && got[id]:
					alarms++
				case got[id]:
					found++
				}
			}
			before := a.judged()
			without := Must(all.Fold(t.Context(), a.By.Tenant, tainting))(t)
			first, then := effect.Commands(a.By, "c", tainting, "poisoned")
			Must(w.Log.Submit(t.Context(), domain.Submission{By: a.By, Command: first, Then: then}))(t)
			a.isAsWithout(seed, without, got)
			Equal(t, a.Stored(), Folded(a.Items()), "seed %d, contained: (-live +rebuilt)", seed)

			recorded := Must(all.Find(t.Context(), a.By.Tenant, "c"))(t)
			undo, then, err := all.Undo(t.Context(), a.By, recorded, "a false alarm")
			NoError(t, err)
			Must(w.Log.Submit(t.Context(), domain.Submission{By: a.By, Command: undo, Then: then}))(t)
			Equal(t, a.judged(), before, "seed %d, undone (-got +before)", seed)
			Equal(t, a.Stored(), Folded(a.Items()), "seed %d, undone: (-live +rebuilt)", seed)
		}
		if alarms > found/100 {
			t.Errorf("%d false alarms", alarms)
		}
		t.Logf("%d attacks: %d affected items found, %d missed, %d false alarms", seeds, found, missed, alarms)
	})
}

// isAsWithout holds what readers see now against a fold without mallory.
func (a *attack) isAsWithout(seed int, without contain.Without, contained map[string]bool) {
	a.T.Helper()
	reader := a.as("user:reader")
	page := Must(a.Base.Browser.List(a.T.Context(), domain.List{By: reader, Limit: 1000}))(a.T)
	var seen []string
	for _, k := range page.Items {
		if seen = append(seen, k.ID); contained[k.ID] {
			a.T.Errorf("seed %d: a list has %s", seed, k.ID)
		}
	}
	for _, id := range a.ids {
		now, then := a.item(id), without.Items[id]
		switch {
		case contained[id] != (now.Status == domain.IsQuarantined):
			a.T.Errorf("seed %d: %s is %s", seed, id, now.Status)
		case contained[id]: // withheld as a whole, even if it was good before it was merged
		case then == nil:
			a.T.Errorf("seed %d: %s is there, and was made of nothing", seed, id)
		case now.Status != then.Status && !contained[then.SupersededBy] && !contained[now.SupersededBy],
			now.Helpful != then.Helpful, now.Harmful != then.Harmful, now.Confidence != then.Confidence:
			a.T.Errorf("seed %d: %s is %s with %d, %d and %g, want %s with %d, %d and %g", seed, id, now.Status, now.Helpful,
				now.Harmful, now.Confidence, then.Status, then.Helpful, then.Harmful, then.Confidence)
		case (now.Status == domain.Active) != slices.Contains(seen, id):
			a.T.Errorf("seed %d: %s is %s, and lists differ", seed, id, now.Status)
		}
	}
}
