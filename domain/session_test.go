package domain_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	. "github.com/annals-kb/annals/domain"
)

// meeting is a book of sessions, and what the last command led to.
type meeting struct {
	DecisionContext
	t       testing.TB
	streams map[string]Stream
	written []string
	now     time.Time
	about   string
	facts   []Fact
	err     error
}

func meet(t testing.TB) *meeting {
	return &meeting{t: t, streams: map[string]Stream{}, now: monday}
}

func (m *meeting) Stream(name string) Stream {
	if known, found := m.streams[name]; found {
		return known
	}
	return Stream{Name: name, State: Session{}}
}

func (m *meeting) TextsOf(string) []RecordedText {
	texts := make([]RecordedText, len(m.written))
	for i, id := range m.written {
		texts[i].EventID = id
	}
	return texts
}

// when decides a command and lets happen what it decided.
func (m *meeting) when(command Command) *meeting {
	m.t.Helper()
	m.about, m.facts = command.Stream(), nil
	if checked, is := command.(interface{ Validate() error }); is {
		if m.err = checked.Validate(); m.err != nil {
			return m
		}
	}
	if m.facts, m.err = command.Decide(m, m.now); m.err != nil {
		return m
	}
	stream := m.Stream(m.about)
	for _, fact := range m.facts {
		m.now = m.now.Add(time.Second)
		at := EventMetadata{EventID: eventID(stream.Version + 1), Position: stream.Version + 1, Version: stream.Version + 1, RecordedAt: m.now}
		if err := stream.Evolve(fact, at); err != nil {
			m.t.Fatal(err)
		}
	}
	m.streams[m.about] = stream
	return m
}

func (m *meeting) then(want ...Fact) *meeting {
	m.t.Helper()
	if m.err != nil {
		m.t.Fatalf("refused: %v", m.err)
	}
	if diff := cmp.Diff(m.facts, want, cmpopts.EquateEmpty()); diff != "" {
		m.t.Fatalf("facts (-got +want):\n%s", diff)
	}
	return m
}

func (m *meeting) refused(kind error) *meeting {
	m.t.Helper()
	if !errors.Is(m.err, kind) {
		m.t.Fatalf("got %v and %v, want a refusal: %v", m.facts, m.err, kind)
	}
	return m
}

func (m *meeting) session() Session { return StateOf[Session](m, m.about) }

func with(by Principal) SessionTarget { return SessionTarget{By: by, ID: "s1"} }

func say(role, text string) NewMessage {
	return NewMessage{Role: role, Tokens: 10, Message: Message{Parts: []Part{{Type: PartText, Text: text}}}}
}

func saying(by Principal, texts ...string) AddMessages {
	c := AddMessages{SessionTarget: with(by)}
	for _, text := range texts {
		c.Messages = append(c.Messages, say(RoleUser, text))
	}
	return c
}

func TestASessionIsOpenedOnce(t *testing.T) {
	t.Parallel()
	m := meet(t)
	m.when(OpenSession{SessionTarget: with(as(alice)), Agent: "coder"}).then(SessionOpened{Owner: alice, Agent: "coder"})
	m.when(OpenSession{SessionTarget: with(as(alice))}).refused(ErrTaken)
	m.when(OpenSession{SessionTarget: with(as(bob))}).then(SessionOpened{Owner: bob}) // his own, of the same name
	m.when(OpenSession{SessionTarget: with(onBehalfOf(service(), eve))}).then(SessionOpened{Owner: eve, Agent: "platform"})
	m.when(OpenSession{SessionTarget: SessionTarget{By: as(alice), ID: "a/b"}}).refused(ErrInvalid)
	m.when(OpenSession{SessionTarget: with(as(bot))}).then(SessionOpened{Owner: bot, Agent: "bot"})
	if got, want := m.about, "session:agent:bot/s1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAMessageOpensItsSession(t *testing.T) {
	t.Parallel()
	m := meet(t).when(saying(as(alice), "hello", "world"))
	m.then(
		SessionOpened{Owner: alice},
		MessageAdded{Number: 1, Role: RoleUser, Tokens: 10, Message: say(RoleUser, "hello").Message},
		MessageAdded{Number: 2, Role: RoleUser, Tokens: 10, Message: say(RoleUser, "world").Message},
	)
	if s := m.session(); s.Live != 2 || s.Tokens != 20 || s.Turns != 2 {
		t.Errorf("%+v", s)
	}
}

func TestASessionIsItsOwners(t *testing.T) {
	t.Parallel()
	m := meet(t).when(saying(as(alice), "hello"))
	theirs := func(by Principal) SessionTarget { return SessionTarget{By: by, Owner: alice, ID: "s1"} }
	for _, by := range []Principal{as(eve), as(bob, project), onBehalfOf(service(), bob), onBehalfOf(administrator(), bob)} {
		m.when(CommitSession{SessionTarget: theirs(by)}).refused(ErrNotFound)
		m.when(AddMessages{SessionTarget: theirs(by), Messages: []NewMessage{say(RoleUser, "x")}}).refused(ErrNotFound)
		m.when(DeleteSession{SessionTarget: theirs(by)}).refused(ErrNotFound)
	}
	m.when(AddMessages{SessionTarget: theirs(auditor()), Messages: []NewMessage{say(RoleUser, "x")}}).refused(ErrForbidden)
	for _, by := range []Principal{onBehalfOf(service(), alice), administrator()} {
		m.when(AddMessages{SessionTarget: theirs(by), Messages: []NewMessage{say(RoleUser, "x")}})
		if m.err != nil {
			t.Errorf("%s for %s: %v", by.Subject, by.OnBehalfOf, m.err)
		}
	}
	m.when(OpenSession{SessionTarget: SessionTarget{By: as(bot), ID: "agent:main:+49@x"}})
	if who, id, _ := SessionOf(m.about); who != bot || id != "agent:main:+49@x" {
		t.Errorf("%s: %s %s", m.about, who, id)
	}
	if who, id, is := SessionOf("session:alice/s1"); who != alice || id != "s1" || !is {
		t.Errorf("%s %s %t", who, id, is)
	}
	if as(alice).MaySeeSession("session:bob/s1") || as(alice).MaySeeSession("knowledge:s1") || !as(bot).MaySeeSession("session:agent:bot/s1") {
		t.Error("the wrong people see sessions")
	}
}

func TestACommitArchivesWhatWasSaid(t *testing.T) {
	t.Parallel()
	publisher := as(alice)
	publisher.PublishPublic = true
	everybody := []Scope{Public}
	m := meet(t)
	m.when(CommitSession{SessionTarget: with(as(alice))}).refused(ErrNotFound)
	m.when(saying(as(alice), "a", "b", "c"))
	m.when(CommitSession{SessionTarget: with(as(alice)), Scopes: everybody}).refused(ErrForbidden)
	m.when(CommitSession{SessionTarget: with(as(alice)), Scopes: []Scope{"team:other"}}).refused(ErrForbidden)
	m.when(CommitSession{SessionTarget: with(as(alice)), Scopes: []Scope{"all"}}).refused(ErrInvalid)
	m.when(CommitSession{SessionTarget: with(publisher), Keep: 1, Trigger: TriggerStated, Scopes: everybody}).
		then(SessionCommitted{Archive: 1, First: 1, Last: 2, Kept: 1, Tokens: 20, Trigger: TriggerStated, Audience: []Scope{Public}})
	m.when(CommitSession{SessionTarget: with(publisher), Keep: 1}).then() // one is left, and stays
	m.when(CommitSession{SessionTarget: with(publisher)}).
		then(SessionCommitted{Archive: 2, First: 3, Last: 3, Tokens: 10, Audience: []Scope{alice.Scope()}})
	m.when(CommitSession{SessionTarget: with(as(alice))}).then()
	m.when(CommitSession{SessionTarget: with(as(alice)), Keep: -1}).refused(ErrInvalid)
	m.when(CommitSession{SessionTarget: with(as(alice)), Trigger: "boredom"}).refused(ErrInvalid)
	m.when(AddMessages{SessionTarget: with(onBehalfOf(service(), eve)), Messages: []NewMessage{say(RoleUser, "a")}})
	// The agent of the session keeps its experience.
	m.when(CommitSession{SessionTarget: with(onBehalfOf(service(), eve))}).
		then(SessionCommitted{Archive: 1, First: 1, Last: 1, Tokens: 10, Audience: []Scope{eve.Scope(), "agent:platform"}})
}

func TestAnArchiveIsSettledOnceAndInOrder(t *testing.T) {
	t.Parallel()
	m := meet(t)
	for range 2 {
		m.when(saying(as(alice), "a")).when(CommitSession{SessionTarget: with(as(alice))})
	}
	settle := func(archive int, fact Fact) RecordExtraction {
		return RecordExtraction{By: SystemPrincipal(), Session: SessionStream(alice, "s1"), Archive: archive, Fact: fact}
	}
	first := SessionExtracted{Archive: 1, Lessons: []Lesson{{Category: CategoryTools, Item: "k", Decision: DecideCreate}, {Decision: DecideSkip}}}
	m.when(settle(2, ExtractionFailed{Archive: 2})).refused(ErrConflict)
	m.when(settle(1, first)).then(first)
	m.when(settle(1, ExtractionFailed{Archive: 1})).then()
	m.when(settle(2, ExtractionFailed{Archive: 2, Reason: "why"})).then(ExtractionFailed{Archive: 2, Reason: "why"})
	m.when(settle(3, first)).refused(ErrConflict)
	s := m.session()
	if diff := cmp.Diff(s.Learned, Learned{CategoryTools: 1}); diff != "" || s.Failed != 1 || s.Decided[DecideSkip] != 1 {
		t.Errorf("%+v", s)
	}
}

func TestADeletedSessionBeginsAnew(t *testing.T) {
	t.Parallel()
	m := meet(t)
	m.when(DeleteSession{SessionTarget: with(as(alice))}).then()
	m.when(saying(as(alice), "a")).when(CommitSession{SessionTarget: with(as(alice))}).when(saying(as(alice), "b"))
	m.when(DeleteSession{SessionTarget: with(as(alice)), Reason: "done"}).then(SessionDeleted{Reason: "done"})
	m.when(DeleteSession{SessionTarget: with(as(alice))}).then()
	m.when(CommitSession{SessionTarget: with(as(alice))}).refused(ErrNotFound)
	m.when(saying(as(alice), "c"))
	if got := m.facts[1].(MessageAdded).Number; got != 3 {
		t.Errorf("message %d", got)
	}
	if s := m.session(); !s.Open() || s.Live != 1 || s.Committed() != 0 || s.Archives != 1 {
		t.Errorf("%+v", s)
	}
}

func TestASessionIsErasedByItsOwnerInPersonOrAnAdmin(t *testing.T) {
	t.Parallel()
	m := meet(t).when(saying(as(alice), "a"))
	m.written = []string{eventID(2)}
	erase := func(by Principal) EraseSession {
		return EraseSession{SessionTarget: SessionTarget{By: by, Owner: alice, ID: "s1"}, ErasureReason: ErasureReason{ReasonCode: "gdpr-17"}}
	}
	m.when(erase(onBehalfOf(service(), alice))).refused(ErrForbidden)
	m.when(erase(onBehalfOf(administrator(), bob))).refused(ErrNotFound)
	m.when(erase(onBehalfOf(administrator(), alice))).refused(ErrForbidden)
	m.when(erase(as(eve))).refused(ErrNotFound)
	m.when(erase(as(alice))).then(SessionErased{ReasonCode: "gdpr-17", Events: []string{eventID(2)}})
	m.written = nil
	m.when(erase(administrator())).then()
}

func TestWhatIsUsedIsCounted(t *testing.T) {
	t.Parallel()
	m := meet(t)
	m.when(UseContexts{SessionTarget: with(as(alice))}).then()
	skill := &SkillUse{URI: "viking://agent/skills/x", Success: true}
	m.when(UseContexts{SessionTarget: with(as(alice)), URIs: []string{"viking://a", "viking://b"}, Skill: skill}).
		then(SessionOpened{Owner: alice}, ContextUsed{Contexts: 2, Skills: 1, URIs: []string{"viking://a", "viking://b"}, Skill: skill})
	if s := m.session(); s.Contexts != 2 || s.Skills != 1 {
		t.Errorf("%+v", s)
	}
}

// Whatever people do to a session: archives never overlap and leave no message out but those of a deleted
// session, what is counted is what there is, and a state folded without text is the same.
func TestSessionsKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := meet(t)
		var live, tokens int
		var next int64 = 1
		var archives []SessionCommitted
		for range rapid.IntRange(1, 60).Draw(rt, "commands") {
			target := with(as(alice))
			switch rapid.IntRange(0, 5).Draw(rt, "command") {
			case 0:
				m.when(OpenSession{SessionTarget: target})
			case 1, 2:
				m.when(saying(as(alice), rapid.SliceOfN(rapid.Just("x"), 1, 5).Draw(rt, "said")...))
			case 3:
				m.when(CommitSession{SessionTarget: target, Keep: rapid.IntRange(0, 3).Draw(rt, "keep")})
			case 4:
				s := StateOf[Session](m, target.Stream())
				m.when(RecordExtraction{Session: target.Stream(), Archive: s.Processed + 1, Fact: SessionExtracted{Archive: s.Processed + 1}})
			case 5:
				m.when(DeleteSession{SessionTarget: target})
			}
			for _, fact := range m.facts {
				switch f := fact.(type) {
				case MessageAdded:
					live, tokens = live+1, tokens+f.Tokens
				case SessionCommitted:
					if f.First != next || f.Last < f.First {
						rt.Fatalf("archive %d begins with %d, want %d", f.Archive, f.First, next)
					}
					archives = append(archives, f)
					next, live, tokens = f.Last+1, f.Kept, tokens-f.Tokens
				case SessionDeleted:
					next, live, tokens = next+int64(live), 0, 0
				}
			}
			s := StateOf[Session](m, target.Stream())
			if s.Live != live || s.Tokens != tokens || s.Archives != len(archives) || s.Processed > s.Archives {
				rt.Fatalf("got %+v, want %d live of %d tokens", s, live, tokens)
			}
		}
	})
}

func TestWhatIsSaidIsRewrittenAndNamesAreNot(t *testing.T) {
	t.Parallel()
	var names []string
	rewriting := TextRewriter{
		Text: func(text string) string { return "<" + text + ">" },
		Name: func(field, name string) { names = append(names, field+"="+name) },
	}
	before := AddMessages{SessionTarget: with(as(alice)), Messages: []NewMessage{{Role: RoleUser, Message: Message{Parts: []Part{
		{Type: PartText, Text: "a"},
		{Type: PartTool, ToolName: "grep", ToolInput: []byte(`{"q":"b"}`), ToolOutput: "c"},
	}}}}}
	after := before.RewriteText(rewriting).(AddMessages)
	parts := after.Messages[0].Message.Parts
	if parts[0].Text != "<a>" || string(parts[1].ToolInput) != `{"q":"<b>"}` || parts[1].ToolOutput != "<c>" || parts[1].ToolName != "grep" {
		t.Errorf("%+v", parts)
	}
	if before.Messages[0].Message.Parts[0].Text != "a" {
		t.Error("the command was changed")
	}
	if !slices.Contains(names, "parts=grep") || !slices.Contains(names, "meta=q") {
		t.Errorf("names: %v", names)
	}
}

func TestMessagesHaveTheirLimits(t *testing.T) {
	t.Parallel()
	m := meet(t)
	m.when(AddMessages{SessionTarget: with(as(alice))}).refused(ErrInvalid)
	m.when(AddMessages{SessionTarget: with(as(alice)), Messages: make([]NewMessage, MaxMessages+1)}).refused(ErrInvalid)
	m.when(AddMessages{SessionTarget: with(as(alice)), Messages: []NewMessage{{Message: say(RoleUser, "x").Message}}}).refused(ErrInvalid)
	m.when(saying(as(alice), string(make([]byte, 10)))).refused(ErrInvalid) // NUL characters
	m.when(AddMessages{SessionTarget: with(as(alice)), Messages: []NewMessage{{Role: RoleUser}}})
	if m.err != nil {
		t.Errorf("a message without parts: %v", m.err)
	}
}

func TestWhatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	m := meet(t)
	target := with(as(alice))
	settle := func(archive int, fact Fact) RecordExtraction {
		return RecordExtraction{By: SystemPrincipal(), Session: target.Stream(), Archive: archive, Fact: fact}
	}
	request := func(archive, retry int) Fact { return ExtractionRequested{Task: "t", Archive: archive, Retry: retry} }
	for archive := 1; archive <= 3; archive++ {
		m.when(saying(as(alice), "a")).when(CommitSession{SessionTarget: target})
	}
	m.when(RetryExtraction{SessionTarget: target}).then()
	m.when(settle(1, ExtractionFailed{Task: "t", Archive: 1}))
	m.when(settle(2, SessionExtracted{Archive: 2}))
	m.when(settle(3, ExtractionFailed{Task: "t", Archive: 3, Lost: true})) // never again
	if s := m.session(); s.Failed != 2 || !slices.Equal(s.Unextracted(), []int{1}) {
		t.Errorf("%+v", s)
	}
	m.when(RetryExtraction{SessionTarget: target, OnlyDue: true}).then()
	m.when(RetryExtraction{SessionTarget: target, Archive: 2}).then()
	m.when(RetryExtraction{SessionTarget: SessionTarget{By: as(eve), Owner: alice, ID: "s1"}}).refused(ErrNotFound)
	m.when(RetryExtraction{SessionTarget: target}).then(request(1, 1))
	m.when(RetryExtraction{SessionTarget: target}).then() // it is to come
	again := ExtractionFailed{Task: "t", Archive: 1, Retry: 1}
	m.when(settle(1, again)).then(again)
	m.when(settle(1, again)).then()
	for retry := 2; ; retry++ { // by the clock, at growing intervals, and not for ever
		s, last := m.session(), m.now
		for m.now.Sub(last) <= MaxRetryPeriod && !s.Due(m.now) {
			m.now = m.now.Add(time.Minute)
		}
		if !s.Due(m.now) {
			if retry != 5 {
				t.Errorf("%d retries", retry-1)
			}
			break
		}
		m.when(RetryExtraction{SessionTarget: target, OnlyDue: true}).then(request(1, retry))
		m.when(settle(1, ExtractionFailed{Task: "t", Archive: 1, Retry: retry}))
	}
	m.when(RetryExtraction{SessionTarget: target}).then(request(1, 5)) // people may go on
	m.when(settle(1, SessionExtracted{Archive: 1, Retry: 5, Lessons: []Lesson{{Category: CategoryTools, Item: "k", Decision: DecideCreate}}}))
	if s := m.session(); s.Failed != 1 || len(s.Unextracted()) > 0 || s.Learned[CategoryTools] != 1 || s.Processed != 3 {
		t.Errorf("%+v", s)
	}
	m.when(settle(1, again)).then()
}

func TestSomebodySpeaksInOneOfFourRoles(t *testing.T) {
	t.Parallel()
	m := meet(t)
	for _, role := range []string{RoleUser, RoleAssistant, RoleSystem, RoleTool} {
		if m.when(AddMessages{SessionTarget: with(as(alice)), Messages: []NewMessage{say(role, "x")}}); m.err != nil {
			t.Errorf("%s: %v", role, m.err)
		}
	}
	for _, role := range []string{"", "User", "wizard"} {
		m.when(AddMessages{SessionTarget: with(as(alice)), Messages: []NewMessage{say(role, "x")}}).refused(ErrInvalid)
	}
}
