package domain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	. "github.com/annals-kb/annals/domain"
)

// The people of these tests. Alice owns the item, Bob works with her, Eve is a stranger.
const (
	alice   Entity = "user:alice"
	bob     Entity = "user:bob"
	eve     Entity = "user:eve"
	bot     Entity = "agent:bot"
	project Entity = "project:456"
	acme    Entity = "org:acme"

	itemID = "profile_001"
)

// monday is when a story begins; every fact comes a second after the one before.
var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// as is a member with these memberships.
func as(subject Entity, memberships ...Entity) Principal {
	return Principal{Tenant: DefaultTenant, Subject: subject, Memberships: memberships, Role: Member}
}

func administrator() Principal {
	return Principal{Tenant: DefaultTenant, Subject: "user:root", Role: Admin, PublishPublic: true}
}

func auditor() Principal {
	return Principal{Tenant: DefaultTenant, Subject: "user:audit", Role: Auditor}
}

func service() Principal {
	return Principal{Tenant: DefaultTenant, Subject: "agent:platform", Role: Service}
}

// onBehalfOf is p acting for somebody.
func onBehalfOf(p Principal, e Entity) Principal {
	p.OnBehalfOf = e
	return p
}

// remembered is Alice's item, shared with a project.
func remembered() Remembered {
	return Remembered{
		Class: Class{Type: UserProfile, ContextType: Memory, Category: CategoryPreferences, Polarity: Positive, Media: MediaText},

		Scopes: []Scope{alice.Scope(), project.Scope()}, Owner: alice,
		Text: Text{
			Task: "用户编码风格偏好", Content: "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全",
			Tags: Tags{"category": {"preference"}, "domain": {"coding_style"}},
			URI:  "viking://user/alice/memories/preferences/profile_001.md",
		},
	}
}

// on is the target of a command about the item.
func on(by Principal) Target { return Target{By: by, ID: itemID} }

// story is a book of items, each folded from its facts, and what the last command led to.
type story struct {
	t      *testing.T
	policy ConfidencePolicy
	items  map[string]*Knowledge
	events map[string][]Event
	head   int64
	now    time.Time

	policies State // of verification

	about string
	facts []Fact
	err   error
}

// ifSet begins a story in which these facts happened to the item.
func given(t *testing.T, facts ...Fact) *story {
	t.Helper()
	s := &story{
		t: t, policy: DefaultConfidence(), now: monday,
		items: map[string]*Knowledge{}, events: map[string][]Event{},
	}
	return s.and(itemID, facts...)
}

// and lets facts happen to an item.
func (s *story) and(id string, facts ...Fact) *story {
	s.t.Helper()
	for _, fact := range facts {
		k := s.item(id)
		s.head++
		s.now = s.now.Add(time.Second)
		event := Event{
			EventID: eventID(s.head), Position: s.head, Version: k.Version + 1,
			Stream: KnowledgeStream(id), Name: fact.Name(), RecordedAt: s.now, Fact: fact,
		}
		if err := k.Evolve(fact, event.Metadata(), s.policy); err != nil {
			s.t.Fatalf("%s: %v", id, err)
		}
		s.events[id] = append(s.events[id], event)
	}
	return s
}

// eventID is the id of the event at a position.
func eventID(position int64) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", position) }

func (s *story) item(id string) *Knowledge {
	if s.items[id] == nil {
		s.items[id] = &Knowledge{ID: id}
	}
	return s.items[id]
}

func (s *story) Knowledge(id string) *Knowledge { return s.item(id) }

// Stream implements [DecisionContext]: beside knowledge, these stories are about verification alone.
func (s *story) Stream(name string) Stream { return Stream{Name: name, State: s.policies} }

func (s *story) TextsOf(stream string) (texts []RecordedText) {
	id, _ := ItemOf(stream)
	gone := map[string]bool{}
	for _, event := range s.events[id] {
		for _, destroyed := range Destroys(event.Fact) {
			gone[destroyed] = true
		}
	}
	for _, event := range s.events[id] {
		w := RecordedText{EventID: event.EventID, Position: event.Position, Name: event.Name}
		switch f := event.Fact.(type) {
		case Remembered:
			w.Text, _ = json.Marshal(map[string]string{"content": f.Text.Content})
		case Revised:
			w.Text, _ = json.Marshal(map[string]*string{"content": f.Content})
		case Moved:
			w.Text, _ = json.Marshal(map[string]string{"uri": f.URI})
		case Redacted:
			w.Text, w.Instead = f.Text, f.Events
		default:
			continue
		}
		if !gone[w.EventID] {
			texts = append(texts, w)
		}
	}
	return texts
}

func (s *story) NewestFact(stream, name, authentication string) Fact {
	id, _ := ItemOf(stream)
	for _, event := range slices.Backward(s.events[id]) {
		if event.Name == name && (authentication == "" || event.Authentication == authentication) {
			return event.Fact
		}
	}
	return nil
}

func (s *story) NewestID(stream string) (id string) {
	item, _ := ItemOf(stream)
	for _, event := range s.events[item] {
		id = event.EventID
	}
	return id
}

func (s *story) ItemsSaying(Text, []Scope) []string { return slices.Sorted(maps.Keys(s.items)) }

func (s *story) OpenSubscriptions(Entity) int { return 0 }

func (s *story) Holder(uri string) string {
	for id, k := range s.items {
		if k.Exists() && k.Text.URI == uri && Gone(k) == nil && !k.Status.Withheld() {
			return id
		}
	}
	return ""
}

// complete does what every caller does before submitting a command.
func complete(command Command) (Command, error) {
	switch c := command.(type) {
	case Remember:
		return c.Complete()
	case Erase:
		return c.Complete()
	case interface{ Validate() error }:
		return command, c.Validate()
	}
	return command, nil
}

// when decides a command.
func (s *story) when(command Command) *story {
	s.t.Helper()
	s.about, _ = ItemOf(command.Stream())
	s.facts = nil
	command, s.err = complete(command)
	if s.err == nil {
		s.facts, s.err = command.Decide(s, s.now.Add(time.Second))
	}
	return s
}

// then holds the decision against what should follow, and lets it happen.
func (s *story) then(want ...Fact) *story {
	s.t.Helper()
	if s.err != nil {
		s.t.Fatalf("refused: %v", s.err)
	}
	if diff := cmp.Diff(s.facts, want, cmpopts.EquateEmpty()); diff != "" {
		s.t.Fatalf("facts (-got +want):\n%s", diff)
	}
	return s.and(s.about, s.facts...)
}

// thenNothing expects that there was nothing to record.
func (s *story) thenNothing() *story {
	s.t.Helper()
	return s.then()
}

// refused expects a refusal of this kind and of no other.
func (s *story) refused(kind error) *story {
	s.t.Helper()
	if !errors.Is(s.err, kind) {
		s.t.Fatalf("got %v and %v, want a refusal: %v", s.facts, s.err, kind)
	}
	if len(s.facts) > 0 {
		s.t.Fatalf("refused, and yet decided %v", s.facts)
	}
	return s
}

// invalid expects that exactly these fields were named.
func (s *story) invalid(fields ...string) *story {
	s.t.Helper()
	s.refused(ErrInvalid)
	if got := badFields(s.err); !slices.Equal(got, fields) {
		s.t.Fatalf("bad fields %v, want %v", got, fields)
	}
	return s
}

// isUnsafe expects something of the item as it is now.
func (s *story) leaves(what string, holds func(k *Knowledge) bool) *story {
	s.t.Helper()
	if !holds(s.item(itemID)) {
		s.t.Fatalf("not %s: %+v", what, s.item(itemID))
	}
	return s
}

func badFields(err error) []string {
	var invalid *Invalid
	if !errors.As(err, &invalid) {
		return nil
	}
	fields := make([]string, len(invalid.Problems))
	for i, p := range invalid.Problems {
		fields[i] = p.Field
	}
	return fields
}
