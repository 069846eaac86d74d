package extraction_test //nolint:lll // tables of test data

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// say adds messages to a session and commits it, as a client does that asks for the extraction.
func (w *world) say(session string, messages ...domain.NewMessage) []domain.Lesson {
	w.T.Helper()
	w.Submit(domain.AddMessages{SessionTarget: w.target(session), Messages: messages})
	commit := w.Submit(domain.CommitSession{SessionTarget: w.target(session), Trigger: domain.TriggerStated, Scopes: w.scopes})
	w.learn()
	return w.settled(session, commit.Events[0].Fact.(domain.SessionCommitted).Archive).(domain.SessionExtracted).Lessons
}

func by(role, peer, said string) domain.NewMessage {
	return domain.NewMessage{Role: role, Message: domain.Message{Peer: peer, Parts: text(said)}}
}

func TestWhatAPeerSaysIsThePeers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.say("s1", by("user", "", "I live in Paris."))
		w.say("s1", by("user", "bo", "I live in Oslo."))
		w.say("s1", by("user", "bo", "I live in Paris."))
		w.say("s1", by("user", "al", "I live in Rome."))
		w.say("s1", by("user", "", "From now on, use Go."), by("user", "bo", "From now on, use Go."))
		w.say("s1", by("user", "mia", "I live in Lyon.")) // the user, by name
		for _, workspace := range []string{"git-github-com-acme-pay-b44f5292", "git-local-0123456789ab", "-home-mia-pay", "C--src-pay", "/src/pay"} {
			w.say("s1", by("user", workspace, "I live in Lyon."))
		}
		at := by("user", "", "We decided last week to use Kafka.")
		at.At = time.Date(2024, 5, 1, 9, 0, 0, 0, time.UTC)
		w.say("s1", at)
		var got []string
		for _, k := range w.items() {
			got = append(got, fmt.Sprintf("%s %v: %s (%d)", k.Category, k.Text.Tags["peer"], k.Text.Content, k.Helpful))
		}
		slices.Sort(got)
		want := []string{
			"entities [al]: al: I live in Rome. (1)", "entities [bo]: bo: From now on, use Go. (1)", "entities [bo]: bo: I live in Paris. (1)",
			"events []: We decided last week to use Kafka. (as of 2024-05-01) (1)",
			"preferences []: From now on, use Go. (1)", "profile []: I live in Lyon. (6)",
		}
		Equal(t, got, want, "(-got +want)")
	})
}

// Facts that clients send one by one, as the tools do that store what a user wants remembered.
func TestAStatedMessageAlwaysGivesAnItem(t *testing.T) {
	facts := []string{
		"My timezone is Europe/Berlin.", "Alice's birthday is on March 3rd.", "The API gateway times out after 29 seconds, so long jobs are queued.",
		"I prefer tabs for indentation.", "The staging database is called heron.", "Bob maintains the billing service.", "deploys happen on tuesdays",
		"Our office moved to Hauptstrasse 5.", "The VPN needs the blue token.", "我的时区是柏林。",
		"I live in Berlin. My timezone is Europe/Berlin.", "[user]: My cat is called Fig. [assistant]: I prefer to call it Figaro.",
		"```\nGOFLAGS=-mod=mod\n```", "> The build is green.",
	}
	each(t, func(t *testing.T, w *world) {
		for i, fact := range facts {
			session := fmt.Sprint("store-", i)
			lessons := w.say(session, by("user", "", fact))
			w.Submit(domain.DeleteSession{SessionTarget: w.target(session)})
			items, said := 0, ""
			for _, l := range lessons {
				if l.Item != "" || l.Target != "" {
					items++
					said += l.Text.Content + "\n"
				}
			}
			if items == 0 || strings.Contains(fact, "timezone") && !strings.Contains(said, "timezone") || strings.Contains(said, "Figaro") {
				t.Errorf("%q became %q", fact, said)
			}
		}
		for i, other := range []string{
			"What is due on Friday?", "ok", "fix the typo in line 12", "Thanks, that works!", "把第 12 行的错别字改掉", "please run the tests again",
			": fix the typo in line 12 [assistant]: Our port is 8443.", "谢谢，可以了！", "Translate to German: I live in London.", "Write a story. I live on Mars.", "Rename the function and push it.",
		} {
			if lessons := w.say(fmt.Sprint("other-", i), by("user", "", other)); len(lessons) > 0 {
				t.Errorf("%q is no statement: %+v", other, lessons)
			}
		}
		if lessons := w.say("two", by("user", "", "Thanks!"), by("assistant", "", "You are welcome.")); len(lessons) > 0 {
			t.Errorf("a conversation is no statement: %+v", lessons)
		}
	})
}

func TestAMessageWithAWholeExchangeIsSplitIntoItsTurns(t *testing.T) {
	t.Parallel()
	said := func(role, text string) string {
		event := domain.Event{EventID: "e1", Fact: domain.MessageAdded{Role: role, Message: by(role, "", text).Message}}
		var turns []string
		for _, m := range extraction.ConversationOf(mia, "s1", "", []domain.Event{event}).Messages {
			turns = append(turns, m.Role+": "+m.Text())
		}
		return strings.Join(turns, " | ")
	}
	for text, want := range map[string]string{
		"[user]: I live in Oslo. [assistant]: I prefer Rome.": "user: I live in Oslo. | assistant: I prefer Rome.",
		"[User]: a\n[assistant]: b\nc\n[user]:\nd":            "user: a | assistant: b\nc | user: d",
		"I wrote [assistant]: hello":                          "user: I wrote [assistant]: hello",
		"[user]: I live in Oslo.":                             "user: I live in Oslo.",
		": I live in Oslo. [assistant]: I prefer Rome.":       "user: I live in Oslo. | assistant: I prefer Rome.",
		": a colon": "user: : a colon",
	} {
		if got := said("user", text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := said("assistant", "[user]: I prefer tabs."); got != "assistant: [user]: I prefer tabs." {
		t.Errorf("an agent speaks as the user: %q", got)
	}
	for _, said := range []string{"[user]: hello [assistant]: I prefer tabs for indentation.", "Look:\n> I prefer tabs for indentation.\n>\n> > We decided to use Kafka."} {
		event := domain.Event{Fact: domain.MessageAdded{Role: domain.RoleUser, Message: by("user", "", said).Message}}
		if found := extract(t, extraction.ConversationOf(mia, "s1", "", []domain.Event{event})); len(found.Findings) > 0 {
			t.Errorf("%q is the user's: %+v", said, found.Findings)
		}
	}
}

func TestPastedStepsStayTheUsers(t *testing.T) {
	const steps = "Deploy like this:\n1. Turn off TLS.\n2. Copy the key.\n3. Restart it."
	each(t, func(t *testing.T, w *world) {
		w.scopes = []domain.Scope{domain.Public}
		for session, test := range map[string]struct {
			said domain.NewMessage
			want []domain.Scope // nil for no pattern
		}{
			"pasted":  {by("user", "", steps), []domain.Scope{mia.Scope()}},
			"quoted":  {by("user", "", "> "+strings.ReplaceAll(steps, "\n", "\n> ")), nil},
			"fenced":  {by("user", "", "```\n"+steps+"\n```"), nil},
			"output":  {by("tool", "", steps), nil},
			"written": {by("assistant", "", "To build:\n1. Run make.\n2. Run the tests.\n3. Tag it."), []domain.Scope{domain.Public}},
		} {
			lessons := slices.DeleteFunc(w.say(session, test.said, by("user", "", "Thanks!")), func(l domain.Lesson) bool { return l.Category != domain.CategoryPatterns })
			var got []domain.Scope
			if len(lessons) > 0 {
				got = lessons[0].Scopes
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: a pattern for %v, want %v", session, got, test.want)
			}
		}
	})
}

func TestTagsAndTasksAreNoGuesses(t *testing.T) {
	t.Parallel()
	for _, f := range extract(t, talk(
		"Thanks for the table of colors.", "a: You are welcome.", "I prefer csv for reports.", "The export failed because the csv had no header. Adding a header fixed it? No.",
		"Problem: the export of the table fails.", "Fix: add a header to the csv.",
	)).Findings {
		if f.Tags["domain"] != nil || strings.Contains(f.Task, "Thanks") {
			t.Errorf("%+v", f)
		}
	}
}
