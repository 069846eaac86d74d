package viking

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// fileSystem lists and moves files and directories.
type fileSystem struct {
	tree   tree
	editor editor
}

func (s fileSystem) routes(on route) {
	on("GET /api/v1/fs/ls", s.list)
	on("GET /api/v1/fs/tree", s.listTree)
	on("GET /api/v1/fs/stat", s.stat)
	on("POST /api/v1/fs/mkdir", s.makeDirectory)
	on("DELETE /api/v1/fs", s.remove)
	on("POST /api/v1/fs/mv", s.move)
}

// file is a file or directory in a detailed list.
type file struct {
	Name     string         `json:"name"`
	Size     int            `json:"size"`
	Mode     int            `json:"mode"`
	Modified string         `json:"modTime"`
	IsDir    bool           `json:"isDir"`
	Meta     map[string]any `json:"meta"`
	URI      string         `json:"uri"`
	RelPath  string         `json:"rel_path,omitempty"`
}

// outline is a file or directory in a short list for agents.
type outline struct {
	URI      string `json:"uri"`
	Size     int    `json:"size"`
	IsDir    bool   `json:"isDir"`
	Modified string `json:"modTime"`
	Abstract string `json:"abstract"`
	RelPath  string `json:"rel_path,omitempty"`
}

// Modes of files and of directories.
const (
	fileMode      = 0o644
	directoryMode = 0o755
)

func (n node) file(a address) file {
	f := file{
		Name: n.uri.Name(), Size: n.size(), Mode: fileMode, Modified: stamp(n.changed()), IsDir: n.isDir,
		Meta: map[string]any{}, URI: a.format(n.uri),
	}
	if n.isDir {
		f.Mode = directoryMode
	} else {
		f.Meta["id"], f.Meta["context_type"], f.Meta["category"] = n.item.ID, n.item.ContextType, n.item.Category
	}
	return f
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

// listing holds the options of a list.
type listing struct {
	at     address
	simple bool
	output string
	abs    int // characters of an abstract
	hidden bool
	limit  int
	levels int // how deep; 0 for all
	deep   bool
	sortBy string // name, size, time; empty for the order of names
	desc   bool
}

func (q *query) listing(levels int) (listing, error) {
	const deepest, most = 64, 10_000
	l := listing{
		simple: q.boolParam("simple"), output: q.param("output"), abs: q.intParam("abs_limit", 256),
		hidden: q.boolParam("show_all_hidden"),
		limit:  q.intParam("node_limit", q.intParam("limit", 1000)), levels: q.intParam("level_limit", levels),
	}
	switch l.output {
	case "":
		l.output = "agent"
	case "agent", "original":
	default:
		q.found.Add("output", "must be agent or original")
	}
	l.sorted(q)
	l.limit = min(max(l.limit, 0), most)
	l.levels = min(max(l.levels, 0), deepest)
	if err := q.found.Err(); err != nil {
		return l, err
	}
	var err error
	l.at, err = q.caller.address("uri", q.param("uri"))
	return l, err
}

func (s fileSystem) list(ctx context.Context, q *query) (any, error) {
	const everything = 64
	l, err := q.listing(everything)
	if err != nil {
		return nil, err
	}
	l.deep = q.boolParam("recursive")
	if !l.deep {
		l.levels = 1
	}
	return s.listed(ctx, q, l)
}

func (s fileSystem) listTree(ctx context.Context, q *query) (any, error) {
	const usual = 3
	l, err := q.listing(usual)
	l.deep = true
	if err != nil {
		return nil, err
	}
	return s.listed(ctx, q, l)
}

func (s fileSystem) listed(ctx context.Context, q *query, l listing) (any, error) {
	n, err := s.tree.findReadable(ctx, q.caller, l.at)
	if err != nil {
		return nil, err
	}
	if !n.isDir {
		below, err := s.tree.reader.Places(ctx, domain.Directory{By: q.caller.Principal, URI: n.uri, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			return nil, domain.Refuse(domain.ErrPrecondition, "it is no directory")
		}
	}
	var nodes []node
	known := map[string]bool{}
	for _, place := range l.at.readPlaces() {
		below, err := s.tree.descend(ctx, q.caller, place.uri, l, l.levels, nil)
		if err != nil {
			return nil, err
		}
		for _, child := range below {
			if name := l.relative(child); !known[name] && len(nodes) < l.limit {
				known[name], nodes = true, append(nodes, child)
			}
		}
	}
	if nodes, err = s.tree.withProfiles(ctx, q.caller, nodes); err != nil {
		return nil, err
	}
	if err := s.tree.setDates(ctx, q.caller.Tenant, nodes); err != nil {
		return nil, err
	}
	summaries, err := s.tree.summariesOf(ctx, q.caller, nodes)
	if err != nil {
		return nil, err
	}
	summaries.describe(nodes)
	l.sort(nodes)
	entries := make([]any, len(nodes))
	for i, child := range nodes {
		entries[i] = l.entry(child)
	}
	return entries, nil
}

// descend adds the contents of a directory, each directory before its own contents.
func (s tree) descend(
	ctx context.Context, c caller, directory domain.URI, l listing, levels int, to []node,
) ([]node, error) {
	if levels == 0 || len(to) >= l.limit {
		return to, nil
	}
	below, all, err := s.subtree(ctx, c, directory, l, levels)
	if err != nil {
		return nil, err
	}
	if all {
		return append(to, below[:min(len(below), l.limit-len(to))]...), nil
	}
	children, err := s.children(ctx, c, directory, l.hidden, l.limit-len(to))
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		if len(to) >= l.limit {
			break
		}
		if to = append(to, child); child.isDir {
			if to, err = s.descend(ctx, c, child.uri, l, levels-1, to); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

// relative is the path of a node relative to the listed directory.
func (l listing) relative(n node) string {
	for _, place := range l.at.readPlaces() {
		if n.uri.Within(place.uri) {
			return strings.TrimPrefix(strings.TrimPrefix(string(n.uri), string(place.uri)), "/")
		}
	}
	return string(n.uri)
}

func (l listing) entry(n node) any {
	f := n.file(l.at)
	if l.simple {
		return f.URI
	}
	relative := ""
	if l.deep {
		relative = l.relative(n)
	}
	f.RelPath = relative
	if l.output == "original" {
		return f
	}
	abstract := []rune(n.abstract())
	if len(abstract) > l.abs && l.abs >= 0 {
		abstract = append(abstract[:l.abs], '…')
	}
	return outline{
		URI: f.URI, Size: f.Size, IsDir: f.IsDir, Modified: f.Modified, Abstract: string(abstract), RelPath: relative,
	}
}

func (s fileSystem) stat(ctx context.Context, q *query) (any, error) {
	a, err := q.caller.address("uri", q.param("uri"))
	if err != nil {
		return nil, err
	}
	n, err := s.tree.findWithFacts(ctx, q.caller, a)
	if err != nil {
		return nil, err
	}
	if n.isDir {
		below, all, err := s.tree.subtree(ctx, q.caller, n.uri, listing{hidden: true}, 1)
		if err != nil {
			return nil, err
		}
		for i := range below {
			if all && below[i].when.After(n.when) {
				n.when = below[i].when
			}
		}
		only := []node{n}
		if err := s.tree.setDates(ctx, q.caller.Tenant, only); err != nil {
			return nil, err
		}
		n = only[0]
	}
	return n.file(a), nil
}

// orders are the sort orders, by the names that clients use. Trees are always in the order of their paths.
var orders = map[string]func(a, b node) int{
	"name": func(a, b node) int { return strings.Compare(a.uri.Name(), b.uri.Name()) },
	"size": func(a, b node) int { return cmp.Compare(a.size(), b.size()) },
	"time": func(a, b node) int { return a.changed().Compare(b.changed()) },
}

// sorted reads the sort order.
func (l *listing) sorted(q *query) {
	l.sortBy = q.param("sort_by")
	if _, known := orders[l.sortBy]; !known && l.sortBy != "" {
		q.found.Add("sort_by", "must be name, size or time")
	}
	switch strings.ToLower(q.param("sort_order")) {
	case "", "asc":
	case "desc":
		l.desc = true
	default:
		q.found.Add("sort_order", "must be asc or desc")
	}
}

// sort sorts the entries of one directory and cuts them to the limit.
func (l *listing) sort(nodes []node) {
	if l.sortBy == "" && !l.desc || l.deep {
		return
	}
	order := orders[cmp.Or(l.sortBy, "name")]
	slices.SortStableFunc(nodes, func(a, b node) int {
		if l.desc {
			return order(b, a)
		}
		return order(a, b)
	})
}
