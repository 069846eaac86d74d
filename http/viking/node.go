package viking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// node is an item or a directory at an address.
type node struct {
	uri   domain.URI
	isDir bool
	item  *domain.Knowledge   // of a directory, its first item; nil if it is empty
	about string              // of a directory, the model's summary, if the caller may see it
	parts []*domain.Knowledge // of a profile with facts, the items of which its content is made
	when  time.Time           // of a directory, the time of its last change, if known
}

// items are the items of which the content of a node is made, unless it is a directory.
func (n node) items() []*domain.Knowledge {
	if n.parts == nil && n.item != nil {
		return []*domain.Knowledge{n.item}
	}
	return n.parts
}

// tree reads directories and items as the caller sees them.
type tree struct {
	reader      TreeReader
	directories Directories // nil without a model
	started     time.Time
}

// errNothingThere is the answer for an address without an item, and for one with an item that the caller may not see.
var errNothingThere = domain.Refuse(domain.ErrNotFound, "nothing lies there")

// find finds the node at an address.
func (s tree) find(ctx context.Context, c caller, a address) (node, error) {
	if a.beyond {
		return node{}, errNothingThere
	}
	if a.uri != domain.RootURI {
		if k, err := s.itemAt(ctx, c, a.uri); k != nil || err != nil {
			return node{uri: a.uri, item: k}, err
		}
	}
	places, err := s.reader.Places(ctx, domain.Directory{By: c.Principal, URI: a.uri, Limit: 1})
	if err != nil {
		return node{}, err
	}
	n := node{uri: a.uri, isDir: true}
	if len(places) > 0 {
		n.item = places[0].First
		return n, nil
	}
	if !slices.Contains(c.presetDirectories(), a.uri) {
		return node{}, errNothingThere
	}
	return n, nil
}

// itemAt is the item with a URI; nil if there is none that the caller may see.
func (s tree) itemAt(ctx context.Context, c caller, uri domain.URI) (*domain.Knowledge, error) {
	k, err := s.reader.At(ctx, c.Tenant, uri)
	if errors.Is(err, domain.ErrNotFound) || err == nil && !c.MaySee(k) {
		return nil, nil
	}
	return k, err
}

// findReadable finds what a read at an address returns: the node there, or else the shared one under the same names.
func (s tree) findReadable(ctx context.Context, c caller, a address) (node, error) {
	n, err := s.find(ctx, c, a)
	for _, place := range a.readPlaces()[1:] {
		if err == nil && !(n.isDir && n.item == nil) || err != nil && !errors.Is(err, domain.ErrNotFound) {
			break
		}
		if other, wrong := s.find(ctx, c, place); wrong == nil || !errors.Is(wrong, domain.ErrNotFound) {
			n, err = other, wrong
		}
	}
	return n, err
}

// presetDirectories are the directories that every caller sees even if they are empty, parents first.
func (c caller) presetDirectories() []domain.URI {
	user := domain.RootURI.Join(domain.User, c.user)
	all := domain.RootURI.Join(domain.Agent)
	agent := all.Join(c.space)
	list := []domain.URI{
		domain.RootURI, domain.RootURI.Join(domain.User), user, user.Join("memories"),
		all, all.Join("memories"), all.Join("skills"), all.Join("instructions"),
		agent, agent.Join("memories"), agent.Join("skills"), agent.Join("instructions"),
		domain.RootURI.Join("session"), domain.RootURI.Join("session", c.user), domain.RootURI.Join("resources"),
	}
	of := func(memories domain.URI, categories ...domain.Category) {
		for _, category := range categories {
			list = append(list, memories.Join("memories", string(category)))
		}
	}
	of(user, domain.CategoryPreferences, domain.CategoryEntities, domain.CategoryEvents)
	of(
		all, domain.CategoryCases, domain.CategoryPatterns, domain.CategoryTools, domain.CategorySkills,
		domain.CategoryAntipatterns,
	)
	of(agent, domain.CategoryCases, domain.CategoryPatterns)
	return list
}

// children are up to limit direct contents of a directory, in the order of names. They include the preset
// directories, and hidden files only if asked for.
func (s tree) children(ctx context.Context, c caller, directory domain.URI, hidden bool, limit int) ([]node, error) {
	const page = 500
	var nodes []node
	listed := map[domain.URI]int{}
	for after := (domain.DirectoryEntry{}); len(nodes) < limit; {
		places, err := s.reader.Places(ctx, domain.Directory{By: c.Principal, URI: directory, After: after, Limit: page})
		if err != nil {
			return nil, err
		}
		for _, place := range places {
			if !hidden && strings.HasPrefix(place.URI.Name(), ".") {
				continue
			}
			if at, twice := listed[place.URI]; twice { // an item with others below it: a directory with its own content
				nodes[at].isDir = true
				continue
			}
			listed[place.URI] = len(nodes)
			nodes = append(nodes, node{uri: place.URI, isDir: place.IsDir, item: place.First})
		}
		if len(places) < page {
			break
		}
		after = places[len(places)-1]
	}
	for _, preset := range c.presetDirectories() {
		known := func(n node) bool { return n.uri == preset }
		if preset != directory && preset.Parent() == directory && !slices.ContainsFunc(nodes, known) {
			nodes = append(nodes, node{uri: preset, isDir: true})
		}
	}
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Compare(a.uri, b.uri) })
	return nodes[:min(len(nodes), limit)], nil
}

// size is the size of an item's content or of its file in bytes; 0 for a directory.
func (n node) size() int {
	if n.isDir || n.item == nil {
		return 0
	}
	var meta struct {
		Bytes struct {
			Size *int `json:"size"`
		} `json:"bytes"`
	}
	if n.item.Media != domain.MediaText && json.Unmarshal(n.item.Text.Meta, &meta) == nil && meta.Bytes.Size != nil {
		return *meta.Bytes.Size
	}
	return len(n.item.Text.Content)
}

// changed is the time of the last change; of a directory, that of its contents, if known.
func (n node) changed() time.Time {
	if n.item == nil || !n.when.IsZero() {
		return n.when.UTC()
	}
	return n.item.UpdatedAt.UTC()
}

// setDates sets the date of empty directories to that of the account's first event, or of the server's start if there
// is none.
func (s tree) setDates(ctx context.Context, tenant string, nodes []node) (err error) {
	var began time.Time
	for i := range nodes {
		n := &nodes[i]
		if n.item != nil || !n.when.IsZero() {
			continue
		}
		if began.IsZero() {
			if began, err = s.reader.Began(ctx, tenant); err != nil {
				return err
			}
			if began.IsZero() {
				began = s.started
			}
		}
		n.when = began
	}
	return nil
}

// abstract is the node's L0 without another read. Of a directory it is its description, the model's summary or the L0
// of its first item.
func (n node) abstract() string {
	switch {
	case n.item == nil:
		return ""
	case domain.URI(n.item.Text.URI) == n.uri.Join(domain.AbstractName) && (n.about == "" ||
		!n.item.Text.IsDirectoryNameOnly()):
		return n.item.Text.Content
	case n.about != "":
		return n.about
	}
	return abstractOf(n.item)
}

// levelText is a node's L0 or L1. Of a directory it is its description, the model's summary, or a list of its
// contents.
func (s tree) levelText(ctx context.Context, c caller, n node, level domain.Level) (string, error) {
	if !n.isDir {
		if level == domain.Abstract {
			return abstractOf(n.item), nil
		}
		return overviewOf(n.item), nil
	}
	name := domain.AbstractName
	if level == domain.Overview {
		name = domain.OverviewName
	}
	k, err := s.itemAt(ctx, c, n.uri.Join(name))
	if err != nil {
		return "", err
	}
	if k != nil && !k.Text.IsDirectoryNameOnly() {
		return k.Text.Content, nil
	}
	const most = 50
	children, err := s.children(ctx, c, n.uri, false, most)
	if err != nil {
		return "", err
	}
	summaries, err := s.summariesOf(ctx, c, append([]node{n}, children...))
	if err != nil {
		return "", err
	}
	if about := summaries[n.uri]; coversAll(c, about, children) {
		if level == domain.Abstract {
			return about.Abstract, nil
		}
		return about.Overview, nil
	}
	summaries.describe(children)
	if level == domain.Abstract {
		return cmp.Or(abstractOfChildren(children), n.abstract()), nil
	}
	return overviewOfChildren(n, children), nil
}

// abstractOfChildren is a directory's L0: as many of the abstracts of its contents as fit.
func abstractOfChildren(children []node) string {
	var b strings.Builder
	for _, child := range children {
		line := cut(child.abstract(), 4<<10)
		if line == "" { // the directory is empty
			continue
		}
		if b.Len() > 0 && text.Tokens(b.String()+line) > text.AbstractTokens {
			break
		}
		if b.Len() > 0 {
			b.WriteString(" ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// overviewOfChildren is a directory's L1: a list of as many of its contents as fit.
func overviewOfChildren(n node, children []node) string {
	var b strings.Builder
	b.WriteString("# " + cmp.Or(n.uri.Name(), "viking://") + "\n")
	for _, child := range children {
		name := child.uri.Name()
		if child.isDir {
			name += "/"
		}
		line := "\n- " + name
		if short := child.abstract(); short != "" {
			line += ": " + strings.ReplaceAll(short, "\n", " ")
		}
		if text.Tokens(b.String()+line) > text.OverviewTokens {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
