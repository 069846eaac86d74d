package domain_test

import (
	"encoding/json"
	"errors"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func TestWhoMayOrderAnErasure(t *testing.T) {
	t.Parallel()
	root := Principal{Tenant: DefaultTenant, Subject: "user:root", Role: Root}
	elsewhere := Principal{Tenant: "acme", Subject: "user:root", Role: Root}
	for _, c := range []struct {
		what string
		by   Principal
		of   string
		want error
	}{
		{"himself", as(alice), string(alice), nil},
		{"somebody else", as(alice), string(bob), ErrForbidden},
		{"an agent on his behalf", onBehalfOf(as(bot), alice), string(alice), ErrForbidden},
		{"a member, his project's", as(alice, project), string(project), ErrForbidden},
		{"a service", service(), string(alice), ErrForbidden},
		{"an auditor", auditor(), "user:audit", ErrForbidden},
		{"an admin", administrator(), string(alice), nil},
		{"an admin on somebody's behalf", onBehalfOf(administrator(), bob), string(alice), ErrForbidden},
		{"an admin, the tenant", administrator(), "tenant:default", ErrForbidden},
		{"whoever calls in open mode, the tenant", OpenPrincipal(), "tenant:default", ErrForbidden},
		{"whoever calls in open mode, another tenant", OpenPrincipal(), "tenant:acme", ErrForbidden},
		{"root, the tenant", root, "tenant:default", nil},
		{"root, another tenant", elsewhere, "tenant:default", ErrInvalid},
		{"nonsense", administrator(), "robot:7", ErrInvalid},
		{"what cannot be an id", administrator(), "a b", ErrInvalid},
	} {
		_, err := OrderErasure{By: c.by, ID: "1", Of: c.of}.Complete()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, err, c.want)
		}
	}
}

func TestAnOrderForAnItemIsForThoseWhoMayEraseIt(t *testing.T) {
	t.Parallel()
	order := func(by Principal) OrderErasure {
		complete, err := OrderErasure{By: by, ID: "1", Of: itemID, WithLineage: true}.Complete()
		if err != nil {
			t.Fatal(err)
		}
		return complete
	}
	story := given(t, remembered())
	story.when(order(as(eve))).refused(ErrNotFound)
	story.when(order(as(bob, project))).refused(ErrForbidden)
	if _, err := order(as(alice)).Decide(story, monday); err != nil {
		t.Errorf("its owner: %v", err)
	}
}

// What is related to an item goes for its sake: if it has to stay, nothing is ordered.
func TestAnItemUnderLegalHoldIsNotOrderedToBeErased(t *testing.T) {
	t.Parallel()
	given(t, remembered(), Held{ReasonCode: "litigation"}).
		when(OrderErasure{By: as(alice), ID: "1", Of: itemID, WithLineage: true}).refused(ErrConflict)
}

func TestRedactingIsForAdmins(t *testing.T) {
	t.Parallel()
	redact := func(by Principal) Redact {
		return Redact{By: by, Of: KnowledgeStream(itemID), To: 100, Scrub: func(json.RawMessage) (json.RawMessage, map[string]int, error) {
			return []byte(`{"content":"x"}`), map[string]int{"email": 1}, nil
		}}
	}
	story := given(t, remembered())
	for _, by := range []Principal{as(alice), service(), auditor(), onBehalfOf(administrator(), alice)} {
		story.when(redact(by)).refused(ErrForbidden)
	}
	story.when(redact(administrator())).then(Redacted{Events: []string{eventID(1)}, Redacted: map[string]int{"email": 1}, Text: []byte(`{"content":"x"}`)})
	given(t, remembered(), Held{ReasonCode: "litigation"}).when(redact(administrator())).refused(ErrConflict)
}

func TestTheTextOfAnEventIsRewrittenWhereItIsNoName(t *testing.T) {
	t.Parallel()
	names := 0
	got := RewriteRecordedText([]byte(`{"content":"a \"b\" {[","tags":{"key":["v"]},"meta":{"uri":"u","n":1.50},"uri":"viking://x","source":{"urls":["w"]}}`), func(s RecordedString) string {
		if s.Name {
			names++
		}
		return "<" + s.Value + ">"
	})
	want := `{"content":"<a \"b\" {[>","tags":{"key":["<v>"]},"meta":{"uri":"<u>","n":1.50},"uri":"viking://x","source":{"urls":["<w>"]}}`
	if string(got) != want || names != 4 {
		t.Errorf("got %s with %d names, want %s", got, names, want)
	}
}

// What a rewriting leaves alone keeps every byte, whatever the text is.
func FuzzRewrittenText(f *testing.F) {
	f.Add([]byte(`{"content":"a \"b\" {[","tags":{"k":["v"]},"n":[1.0e3,null,true]}`))
	f.Add([]byte("{\"a\" : \"\\u00e9\\ud83d\\ude00\" , \"b\":{}}"))
	f.Add([]byte(`"`))
	f.Add([]byte("{\"\\\\\":\"\\\\\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := RewriteRecordedText(text, func(s RecordedString) string { return s.Value }); string(got) != string(text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
