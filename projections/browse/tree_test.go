package browse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/browse"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// oddPlaces lie in each other, beside each other with names that sort around the slash, and in Chinese.
var oddPlaces = []string{
	"viking://a/b/c.md", "viking://a/b/.abstract.md", "viking://a/b-c.md", "viking://a/b.md", "viking://a/b0/x",
	"viking://a/bb/c/d/e",
	"viking://a/bb/c/d/f", "viking://a/bb/c", "viking://资源/指南/第一章.md", "viking://资源/指南/第二章.md", "viking://资源/x",
	"viking://%/_/?", "viking://z'\"/x",
	"viking://a/bb/d", "viking://a/bb/d0-", "viking://a/bb/d0.md",
}

func TestADirectoryHasWhatItsItemsHaveInCommon(t *testing.T) {
	Each(t, func(_ *testing.T, w *World) {
		scopes := []domain.Scope{"user:alice", "user:bob", domain.Public}
		seen := map[domain.Scope][]domain.URI{}
		for i, uri := range oddPlaces {
			for j, scope := range scopes {
				if (i+j)%3 == 0 && j < 2 {
					continue
				}
				place := fmt.Sprintf("%s%d", uri, j)
				id := fmt.Sprintf("i%d-%d", i, j)
				w.Know(id, domain.Remembered{
					Class: domain.Class{Type: domain.Tool}, Owner: "org:acme", Scopes: []domain.Scope{scope}, Text: domain.Text{Content: "x", URI: place},
				})
				if i%5 == 4 && j == 0 {
					w.Submit(domain.Delete{Target: domain.Target{By: w.By, ID: id}})
					continue
				}
				seen[scope] = append(seen[scope], domain.URI(place))
			}
		}
		everything := slices.Concat(seen["user:alice"], seen["user:bob"], seen[domain.Public])
		alice := domain.Principal{Tenant: w.By.Tenant, Subject: "user:alice", Role: domain.Member}
		for who, c := range map[string]struct {
			by   domain.Principal
			sees []domain.URI
		}{
			"an admin": {w.By, everything},
			"a member": {alice, slices.Concat(seen["user:alice"], seen[domain.Public])},
			"a guest":  {domain.Principal{Tenant: w.By.Tenant, Subject: "user:eve", Role: domain.Member}, seen[domain.Public]},
			"another":  {domain.Principal{Tenant: "elsewhere", Subject: "user:alice", Role: domain.Admin}, nil},
		} {
			for _, directory := range []domain.URI{
				domain.RootURI, "viking://a", "viking://a/b", "viking://a/bb", "viking://资源",
				"viking://资源/指南", "viking://nowhere", "viking://%", "viking://z'\"",
			} {
				for _, most := range []int64{0, 1000} { // looked for, and gathered
					w.Base.Browser.Gathered = browse.Gathering{Below: 1, Seen: most, Bytes: 2}
					holdDirectory(w, who, domain.Directory{By: c.by, URI: directory}, c.sees)
				}
			}
		}
	})
}

// holdDirectory holds what is read of a directory, page by page, against what can be seen.
func holdDirectory(w *World, who string, d domain.Directory, sees []domain.URI) {
	w.T.Helper()
	want, below := map[domain.URI]bool{}, []domain.URI{}
	for _, uri := range sees {
		if rest := uri.Names(); uri != d.URI && uri.Within(d.URI) {
			name := rest[len(d.URI.Names())]
			want[d.URI.Join(name)] = want[d.URI.Join(name)] || d.URI.Join(name) != uri
			below = append(below, uri)
		}
	}
	limits := []int{1, 3, 100}
	if testing.Short() {
		limits = limits[1:2]
	}
	for _, limit := range limits {
		got, walked := map[domain.URI]bool{}, []domain.URI{}
		d.Limit, d.After = limit, domain.DirectoryEntry{}
		for {
			page := Must(w.Base.Browser.Places(w.T.Context(), d))(w.T)
			for _, place := range page {
				if _, twice := got[place.URI]; twice {
					w.T.Errorf("%s has %s twice", d.URI, place.URI)
				}
				got[place.URI] = place.IsDir
				if !strings.HasPrefix(place.First.Text.URI, string(place.URI)) {
					w.T.Errorf("%s begins with %s", place.URI, place.First.Text.URI)
				}
			}
			if len(page) < limit {
				break
			}
			d.After = page[len(page)-1]
		}
		Equal(w.T, got, want, "%s in %s, %d at a time (-got +want)", who, d.URI, limit)
		for after := domain.URI(""); ; after = walked[len(walked)-1] {
			page := Must(w.Base.Browser.Below(w.T.Context(), domain.Walk{By: d.By, Below: d.URI, After: after, Limit: limit}))(w.T)
			for _, k := range page {
				walked = append(walked, domain.URI(k.Text.URI))
			}
			if len(page) < limit {
				break
			}
		}
		slices.Sort(below)
		if diff := cmp.Diff(walked, below, cmp.Transformer("empty",
			func(all []domain.URI) []domain.URI { return append([]domain.URI{}, all...) })); diff != "" {
			w.T.Errorf("%s walks through %s, %d at a time (-got +want):\n%s", who, d.URI, limit, diff)
		}
		for _, contents := range []bool{true, false} {
			holdLeaves(w, who, domain.Walk{By: d.By, Below: d.URI, Limit: limit}, contents, below)
		}
	}
}

// holdLeaves holds the leaves below a directory, page by page, against what can be seen. Each says "x", and two of
// these are read at once.
func holdLeaves(w *World, who string, walk domain.Walk, contents bool, want []domain.URI) {
	w.T.Helper()
	var got []domain.URI
	for more := true; more; {
		var leaves []domain.Leaf
		var err error
		leaves, more, err = w.Base.Browser.Leaves(w.T.Context(), walk, contents)
		if err != nil {
			w.T.Fatal(err)
		}
		if len(leaves) > walk.Limit || contents && len(leaves) > 2 || more && len(leaves) == 0 {
			w.T.Fatalf("%s reads %d leaves of %s, %d at a time", who, len(leaves), walk.Below, walk.Limit)
		}
		for _, leaf := range leaves {
			if (leaf.Content == "x") != contents {
				w.T.Errorf("%s says %q, with contents: %v", leaf.URI, leaf.Content, contents)
			}
			got, walk.After = append(got, leaf.URI), leaf.URI
		}
	}
	if !slices.Equal(got, want) {
		w.T.Errorf("%s walks through the leaves of %s, %d at a time, with contents %v: %s, want %s", who, walk.Below,
			walk.Limit, contents, got, want)
	}
}
