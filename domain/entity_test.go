package domain_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func TestEntitiesAndScopesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"user:123", "agent:general_assistant", "project:456", "team:a.b-c", "org:acme@example.org", "user:" + ascii(128),
	} {
		if e, err := ParseEntity(s); err != nil || string(e) != s {
			t.Errorf("entity %s: got %q, %v", s, e, err)
		}
	}
	for _, s := range []string{
		"", ":", "user", "user:", "User:1", "group:1", "user:.a", "user:a b", "user:a:b", "user:知", "user:1\n", "user:" + ascii(129), "public",
	} {
		if e, err := ParseEntity(s); err == nil || e != "" {
			t.Errorf("entity %q: got %q, want an error", s, e)
		}
	}
	if s, err := ParseScope("public"); s != Public || err != nil {
		t.Errorf("got %q, %v, want public", s, err)
	}
	if _, err := ParseScope("everyone"); err == nil || !strings.HasSuffix(err.Error(), "or public") {
		t.Errorf("got %v, want all accepted forms", err)
	}
	if _, err := ParseScope("team:"); err == nil || !strings.HasSuffix(err.Error(), "letter or digit") {
		t.Errorf("got %v, want what is wrong with the id", err)
	}
}

func TestScopesRankFromOneselfToEverybody(t *testing.T) {
	t.Parallel()
	nearest := []Scope{"user:1", "project:1", "agent:1", "team:1", "org:1", Public}
	for i, scope := range nearest {
		if got := scope.Tier(); int(got) != i+1 || !strings.HasPrefix(string(scope), got.String()) {
			t.Errorf("%s: tier %d, %s", scope, got, got)
		}
	}
	if Tiers != len(nearest) {
		t.Errorf("%d tiers, want %d", Tiers, len(nearest))
	}
}

var kinds = []string{User, Project, Agent, Team, Org}

func FuzzParseEntity(f *testing.F) {
	for _, s := range []string{"user:123", "org:a@b", "agent:", ":x", "public", "team:知识", "user:a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEntity(s)
		if err != nil {
			if e != "" {
				t.Errorf("%q: %q beside an error", s, e)
			}
			return
		}
		if e.Kind()+":"+e.ID() != s || !slices.Contains(kinds, e.Kind()) || len(e.ID()) < 1 || len(e.ID()) > 128 {
			t.Errorf("%q: read as %q of kind %q", s, e.ID(), e.Kind())
		}
		if e.Scope().Entity() != e {
			t.Errorf("%q: its scope stands for %q", s, e.Scope().Entity())
		}
		if _, err := ParseURI(string(URIOf("k", e, Memory, "", Plan))); err != nil {
			t.Errorf("%q: its uri: %v", s, err)
		}
	})
}

func FuzzParseScope(f *testing.F) {
	for _, s := range []string{"public", "Public", "user:123", "public:x", "", "project:456"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		scope, err := ParseScope(s)
		_, entityErr := ParseEntity(s)
		if (err == nil) != (s == "public" || entityErr == nil) {
			t.Fatalf("%q: got %q, %v", s, scope, err)
		}
		if err != nil {
			return
		}
		if string(scope) != s || scope.Tier() < TierUser || scope.Tier() > TierPublic {
			t.Errorf("%q: read as %q of tier %d", s, scope, scope.Tier())
		}
		if (scope.Entity() == "") != (scope == Public) {
			t.Errorf("%q stands for %q", s, scope.Entity())
		}
	})
}
