package viking

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
)

func alice() caller {
	return caller{
		Principal: domain.Principal{Tenant: "acme", Subject: "user:alice", Memberships: []domain.Entity{"org:acme-gmbh"}},
		user:      "alice", agent: defaultID, space: spaceOf("alice", defaultID),
	}
}

func TestEveryFormOfAnAddressLeadsToOnePlace(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]struct {
		uri    domain.URI
		spelt  string
		beyond bool
	}{
		"viking://":                                  {"viking://", "viking://", false},
		"/":                                          {"viking://", "viking://", false},
		"resources":                                  {"viking://resources", "viking://resources", false},
		"/resources/x/":                              {"viking://resources/x", "viking://resources/x", false},
		"viking://resources/":                        {"viking://resources", "viking://resources", false},
		"viking://user/memories":                     {"viking://user/alice/memories", "viking://user/alice/memories", false},
		"viking://user/memories/preferences/":        {"viking://user/alice/memories/preferences", "viking://user/alice/memories/preferences", false},
		"viking://user/profile.md":                   {"viking://user/alice/profile.md", "viking://user/alice/profile.md", false},
		"viking://user/.abstract.md":                 {"viking://user/alice/.abstract.md", "viking://user/alice/.abstract.md", false},
		"viking://~/memories":                        {"viking://user/alice/memories", "viking://user/alice/memories", false},
		"viking://user/default/memories":             {"viking://user/default/memories", "viking://user/default/memories", false},
		"viking://user":                              {"viking://user", "viking://user", false},
		"viking://agent/memories/tools/":             {"viking://agent/memories/tools", "viking://agent/memories/tools", false},
		"viking://agent/7a1c9b0e44d2/memories":       {"viking://agent/7a1c9b0e44d2/memories", "viking://agent/7a1c9b0e44d2/memories", false},
		"viking://session/alice/s1":                  {"viking://session/alice/s1", "viking://session/alice/s1", false},
		"viking://user/bob/sessions/s1/messages":     {"viking://session/bob/s1/messages", "viking://session/bob/s1/messages", false},
		"viking://user/sessions/s1":                  {"viking://session/alice/s1", "viking://session/alice/s1", false},
		"viking://tenants/acme/agent/memories/":      {"viking://agent/memories", "viking://tenants/acme/agent/memories", false},
		"viking://tenants/acme/user/bob/memories":    {"viking://user/bob/memories", "viking://tenants/acme/user/bob/memories", false},
		"viking://tenants/acme-gmbh/agent/memories/": {"viking://agent/memories", "viking://tenants/acme-gmbh/agent/memories", false},
		"viking://tenants/acme":                      {"viking://", "viking://tenants/acme", false},
		"viking://tenants/other/agent/memories/":     {"viking://agent/memories", "viking://tenants/other/agent/memories", true},
		"viking://resources/my notes/a b.md":         {"viking://resources/my notes/a b.md", "viking://resources/my notes/a b.md", false},
		"viking://用户/记忆.md":                          {"viking://用户/记忆.md", "viking://用户/记忆.md", false},
	} {
		got, err := alice().address("uri", form)
		if err != nil || got.uri != want.uri || got.String() != want.spelt || got.beyond != want.beyond {
			t.Errorf("%s: got %+v (%s), %v, want %+v", form, got, got, err, want)
		}
	}
}

func TestWhatIsNoAddressIsRefused(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]error{
		"": domain.ErrInvalid, "http://x": domain.ErrInvalid, "file:///etc/passwd": domain.ErrInvalid, "viking://a//b": domain.ErrInvalid,
		"viking://temp/x": domain.ErrInvalid, "viking://queue": domain.ErrInvalid, "upload/x": domain.ErrInvalid, "viking://tenants": domain.ErrInvalid,
		"viking://tenants/acme/temp/x": domain.ErrInvalid, "viking://a /b": domain.ErrInvalid, "viking://a/ b": domain.ErrInvalid, "viking://a\nb": domain.ErrInvalid,
		"viking://..": domain.ErrForbidden, "../x": domain.ErrForbidden, "viking://tenants/acme/../other": domain.ErrForbidden,
		`viking://resources\x`: domain.ErrForbidden, `C:\x`: domain.ErrForbidden, "viking://~/..": domain.ErrForbidden,
	} {
		if got, err := alice().address("from_uri", form); !errors.Is(err, want) {
			t.Errorf("%q: got %+v, %v, want %v", form, got, err, want)
		}
	}
}

// What an address prints is read as the same address: parse ∘ print = identity.
func FuzzAddress(f *testing.F) {
	for _, form := range []string{
		"viking://", "resources/x", "viking://user/memories/x.md", "viking://~/memories", "viking://tenants/acme/user/memories",
		"viking://user/memories/sessions/x", "viking://user/alice/sessions/sessions", "viking://tenants/tenants/x", "viking://~/~", "viking://a/../b", "//x",
	} {
		f.Add(form, "alice")
		f.Add(form, "memories")
	}
	f.Fuzz(func(t *testing.T, form, user string) {
		if !headerID.MatchString(user) {
			return
		}
		c := alice()
		c.user = user
		a, err := c.address("uri", form)
		if err != nil {
			return
		}
		printed := a.String()
		again, err := c.address("uri", printed)
		if err != nil && len(printed) > 1024 {
			return // spelt out, it is longer than an address may be
		}
		if !isAgentSpace(a.uri.Names()) {
			a.shared = "" // which ~ alone asks for
		}
		if err != nil || !reflect.DeepEqual(again, a) {
			t.Errorf("%q is %+v, printed as %q is %+v, %v", form, a, printed, again, err)
		}
		if strings.Contains(printed, "..") != strings.Contains(form, "..") {
			t.Errorf("%q leads to %q", form, printed)
		}
	})
}
