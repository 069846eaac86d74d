package domain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func TestAURISaysWhatLiesThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		uri      URI
		space    Entity
		context  ContextType
		category Category
		level    Level
	}{
		{"viking://user/alice/memories/preferences/mem_1.md", "user:alice", Memory, CategoryPreferences, Detail},
		{"viking://user/alice/memories/profile.md", "user:alice", Memory, CategoryProfile, Detail},
		{"viking://user/alice/profile.md", "user:alice", Memory, CategoryProfile, Detail},
		{"viking://user/alice/skills/x/SKILL.md", "user:alice", Skill, "", Detail},
		{"viking://user/alice/notes.md", "user:alice", Resource, "", Detail},
		{"viking://agent/memories/tools/chromedriver.md", "", Memory, CategoryTools, Detail},
		{"viking://agent/memories/tools.md", "", Memory, "", Detail},
		{"viking://agent/memories/tools2/x.md", "", Memory, "", Detail},
		{"viking://agent/memories/skills/x.md", "", Memory, CategorySkills, Detail},
		{"viking://agent/memories/antipatterns/x.md", "", Memory, CategoryAntipatterns, Detail},
		{"viking://agent/7a1c9b0e44d2/memories/cases/.abstract.md", "agent:7a1c9b0e44d2", Memory, CategoryCases, Abstract},
		{"viking://agent/skills/memories/SKILL.md", "", Skill, "", Detail},
		{"viking://agent/bot/skills/x/.overview.md", "agent:bot", Skill, "", Overview},
		{"viking://resources/skills/memories/x.md", "", Resource, "", Detail},
		{"viking://resources/memories/tools/x.md", "", Resource, "", Detail},
		{"viking://session/alice/s1/history/archive_001", "user:alice", Memory, "", Detail},
		{"viking://session", "", Memory, "", Detail},
		{"viking://user/alice", "user:alice", Resource, "", Detail},
		{"viking://", "", Resource, "", Detail},
	} {
		if got := c.uri.Space(); got != c.space {
			t.Errorf("%s: space %q, want %q", c.uri, got, c.space)
		}
		if got := c.uri.ContextType(); got != c.context {
			t.Errorf("%s: context type %s, want %s", c.uri, got, c.context)
		}
		if got := c.uri.Category(); got != c.category {
			t.Errorf("%s: category %q, want %q", c.uri, got, c.category)
		}
		if got := c.uri.Level(); got != c.level {
			t.Errorf("%s: level %d, want %d", c.uri, got, c.level)
		}
	}
}

func TestADirectoryOfSessionsIsNotSummarised(t *testing.T) {
	t.Parallel()
	for _, owner := range []Entity{"user:alice", "agent:bot"} {
		if above := URI(ArchiveURI(owner, "s1", 1)).SummarizedDirectories(); above != nil {
			t.Errorf("%s: %v", owner, above)
		}
	}
	if above := URI("viking://agent/bot/memories/sessions/x.md").SummarizedDirectories(); len(above) != 3 {
		t.Errorf("got %v", above)
	}
}

func TestAURIEndsWhereItsNamesEnd(t *testing.T) {
	t.Parallel()
	const tools URI = "viking://agent/memories/tools"
	for uri, within := range map[URI]bool{
		tools: true, tools + "/x.md": true, tools + "/a/b": true, tools + "2": false, tools + "2/x.md": false,
		"viking://agent/memories": false, RootURI: false,
	} {
		if uri.Within(tools) != within {
			t.Errorf("%s: within is %t", uri, !within)
		}
		if !uri.Within(RootURI) {
			t.Errorf("%s is not within the root", uri)
		}
	}
}

func TestNobodyFollowsAURIOutOfWhereItBegins(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"viking://..", "viking://a/../b", "viking://a/.", "viking://./a", `viking://a\b`, "viking://C:/x", "viking://resources/c:", `viking://resources/..\x`,
	} {
		if _, err := ParseURI(s); !errors.Is(err, ErrForbidden) {
			t.Errorf("%s: got %v, want a refusal", s, err)
		}
	}
	for _, s := range []string{"", "viking:/", "viking:///", "viking://a/", "viking://a//b", "http://a", "resources", "viking://a /b", "viking://a\nb", "viking://a\x00"} {
		if _, err := ParseURI(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: got %v, want it to be invalid", s, err)
		}
	}
}

func FuzzURI(f *testing.F) {
	for _, s := range []string{"viking://", "viking://user/alice/memories/profile.md", "viking://a/../b", "viking://用户/记忆.md", "viking://a//b", `viking://a\b`, "viking://C:/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseURI(s)
		if err != nil {
			return
		}
		if string(u) != s || URIOfNames(u.Names()...) != u {
			t.Errorf("%q: read as %q of %q", s, u, u.Names())
		}
		if u != RootURI && (u.Parent().Join(u.Name()) != u || !u.Within(u.Parent()) || u.Parent().Within(u)) {
			t.Errorf("%q: its parent is %q, its name %q", s, u.Parent(), u.Name())
		}
		if space := u.Space(); space != "" && !slices.Contains(u.Names(), space.ID()) {
			t.Errorf("%q: in the space of %s", s, space)
		}
		_, _, _ = u.ContextType(), u.Category(), u.Level()
		if strings.Contains(s, "..") && slices.Contains(u.Names(), "..") {
			t.Errorf("%q leads out", s)
		}
	})
}
