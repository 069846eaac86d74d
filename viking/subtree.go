package viking

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// atOnce is how many items below a directory are read in one go: where there are no more, nothing below is asked for again.
const atOnce = 200

// whole is everything that lies below a directory, each before what lies in it, if that is little enough to be read at once.
func (s *Server) whole(ctx context.Context, c caller, directory domain.URI, l listing, levels int) (nodes []node, all bool, err error) {
	items, err := s.cfg.Reader.Below(ctx, domain.Walk{By: c.Principal, Below: directory, Limit: atOnce})
	if err != nil || len(items) == atOnce {
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
		default: // an item with others below it is a directory that says something itself
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
	for _, preset := range c.presets() {
		if under := len(preset.Names()) - depth; under > 0 && under <= levels && preset.Within(directory) {
			add(node{uri: preset, isDir: true})
		}
	}
	slices.SortFunc(nodes, func(a, b node) int { return compareNames(a.uri.Names(), b.uri.Names()) })
	return nodes, true, nil
}

// compareNames orders places as one walks through them: a directory, what lies in it, and then its neighbours.
func compareNames(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if by := cmp.Compare(a[i], b[i]); by != 0 {
			return by
		}
	}
	return len(a) - len(b)
}
