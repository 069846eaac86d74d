package domain_test

import (
	"strings"
	"testing"

	. "github.com/annals-kb/annals/domain"
)

func FuzzParseURI(f *testing.F) {
	for _, seed := range []string{
		"viking://user/alice/memories/preferences/mem_1.md", "viking://", "viking://agent/a/../b", "viking:///x", "viking://user//x",
		"http://user/alice", "viking://user/alice/%2e%2e/x", "viking://用户/x", "viking://session/a/s\x00", "", "viking", "viking://user/alice/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseURI(s)
		if err != nil {
			return
		}
		again, err := ParseURI(string(u))
		if err != nil || again != u {
			t.Errorf("%q became %q, and that %q, %v", s, u, again, err)
		}
		for _, name := range u.Names() {
			if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
				t.Errorf("%q has the name %q", s, name)
			}
		}
		if got := URIOfNames(u.Names()...); len(u.Names()) > 0 && got != u {
			t.Errorf("%q has the names of %q", u, got)
		}
		if len(u.Names()) > 0 && !u.Within(u.Parent()) {
			t.Errorf("%q is not within %q", u, u.Parent())
		}
		if space := u.Space(); space != "" && !strings.Contains(s, strings.Replace(string(space), ":", "/", 1)) && u.Names()[0] != "session" {
			t.Errorf("%q is the space of %q", u, space)
		}
		_, _, _ = u.ContextType(), u.Category(), u.Level()
	})
}
