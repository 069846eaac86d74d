package viking

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// mostWalked is how many items a request reads at most.
const mostWalked = 50_000

// The sizes of pages: the first one is small, since it may be enough, and the next ones grow.
const (
	firstPage         = 200
	pageGrowth        = 4
	pageLimit         = 10_000
	contentsPageLimit = 1000
)

// walk calls see with the items at and below an address, in the order of URIs, until see returns false. With
// contents, it reads their contents. The error matches domain.ErrNotFound if nothing is there, and errTruncated after
// mostWalked items.
func (s tree) walk(ctx context.Context, q *query, a address, contents bool, see func(domain.Leaf) (more bool)) error {
	n, err := s.find(ctx, q.caller, a)
	if err != nil {
		return err
	}
	if !n.isDir {
		see(domain.Leaf{URI: n.uri, Content: n.item.Text.Content})
		return nil
	}
	most := pageLimit
	if contents {
		most = contentsPageLimit
	}
	walk := domain.Walk{By: q.caller.Principal, Below: a.uri, Limit: firstPage}
	for walked := 0; walked < mostWalked; walk.Limit = min(pageGrowth*walk.Limit, most, mostWalked-walked) {
		leaves, more, err := s.reader.Leaves(ctx, walk, contents)
		if err != nil {
			return err
		}
		for _, leaf := range leaves {
			if !see(leaf) {
				return nil
			}
			walk.After = leaf.URI
		}
		if !more {
			return nil
		}
		walked += len(leaves)
	}
	return errTruncated
}

// walkReadings walks through all items that are read at an address. It calls see with each item and the address below
// which it was found.
func (s tree) walkReadings(
	ctx context.Context, q *query, a address, contents bool, see func(at address, leaf domain.Leaf) (more bool),
) error {
	var missing, far error
	found, more := false, true
	for _, place := range a.readPlaces() {
		if !more {
			break
		}
		err := s.walk(ctx, q, place, contents, func(leaf domain.Leaf) bool {
			more = see(place, leaf)
			return more
		})
		switch {
		case errors.Is(err, domain.ErrNotFound):
			missing = err
			continue
		case errors.Is(err, errTruncated):
			far = err
		case err != nil:
			return err
		}
		found = true
	}
	if !found {
		return missing
	}
	return far
}

// errTruncated means that a request did not read everything.
var errTruncated = errors.New("there is more than a request looks through")

// walkItems is walk for whole items. It ends with the first error of see.
func (s tree) walkItems(ctx context.Context, q *query, a address, see func(*domain.Knowledge) error) error {
	n, err := s.find(ctx, q.caller, a)
	if err != nil {
		return err
	}
	if !n.isDir {
		return see(n.item)
	}
	walked := 0
	return s.eachPage(ctx, q, a.uri, func(items []*domain.Knowledge) error {
		for _, k := range items {
			if walked++; walked > mostWalked {
				return errTruncated
			}
			if err := see(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// subtreeLimit is how many items below a directory are read in one query. If there are no more, no further query is
// needed.
const subtreeLimit = 200

// subtree is everything below a directory, each directory before its contents, if one query can read it.
func (s tree) subtree(
	ctx context.Context, c caller, directory domain.URI, l listing, levels int,
) (nodes []node, all bool, err error) {
	items, err := s.reader.Below(ctx, domain.Walk{By: c.Principal, Below: directory, Limit: subtreeLimit})
	if err != nil || len(items) == subtreeLimit {
		return nil, false, err
	}
	depth := len(directory.Names())
	known := map[domain.URI]int{}
	add := func(n node) {
		at, twice := known[n.uri]
		switch {
		case !twice:
			known[n.uri] = len(nodes)
			nodes = append(nodes, n)
		default: // an item with others below it is a directory with its own content
			nodes[at].isDir = nodes[at].isDir || n.isDir
			if n.when.After(nodes[at].when) {
				nodes[at].when = n.when
			}
		}
	}
	for _, k := range items {
		names := domain.URI(k.Text.URI).Names()
		for i := depth + 1; i <= min(len(names), depth+levels); i++ {
			if !l.hidden && strings.HasPrefix(names[i-1], ".") {
				break
			}
			add(node{uri: domain.URIOfNames(names[:i]...), isDir: i < len(names), item: k, when: k.UpdatedAt})
		}
	}
	for _, preset := range c.presetDirectories() {
		if under := len(preset.Names()) - depth; under > 0 && under <= levels && preset.Within(directory) {
			add(node{uri: preset, isDir: true})
		}
	}
	slices.SortFunc(nodes, func(a, b node) int { return slices.Compare(a.uri.Names(), b.uri.Names()) })
	return nodes, true, nil
}
