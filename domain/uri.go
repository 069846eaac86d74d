package domain

import (
	"slices"
	"strconv"
	"strings"
)

// URI is the location of a context: viking:// and the names of the directories that lead there. Each location has one
// spelling. The root is viking:// itself. The meaning of a name depends on its location alone.
//
//	viking://user/ID/…        a user's own space
//	viking://session/ID/…     a user's sessions
//	viking://agent/ID/…       an agent's own space
//	viking://agent/memories/… shared by all agents; likewise skills, instructions, resources, workspaces
//	viking://resources/…      owned by no entity
type URI string

// RootURI is the root directory.
const RootURI URI = "viking://"

// Reserved names.
const (
	SkillName    = "SKILL.md"     // the text of a skill, whose directory holds its files
	AbstractName = ".abstract.md" // L0: the abstract of a directory or an item
	OverviewName = ".overview.md" // L1: the overview of a directory or an item
)

// common are the names below viking://agent/ that are not agents. All agents share them.
var common = []string{"memories", "skills", "instructions", "resources", "workspaces"}

var (
	vikingURI = expression(`^viking://[^\x00-\x1f\x7f]*$`)
	drive     = expression(`^[A-Za-z]:`)
)

// ParseURI reads a URI in its one spelling. The error matches [ErrForbidden] if a reader might follow the URI out of
// its root. Otherwise it is an [*Invalid] about the field uri.
func ParseURI(s string) (URI, error) {
	var p Problems
	u := URI(s)
	switch {
	case !isValidText(&p, "uri", s):
	case len(s) > maxURI:
		p.Add("uri", "must have at most %d bytes, has %d", maxURI, len(s))
	case !vikingURI().MatchString(s):
		p.Add("uri", "must begin with viking:// and contain no control characters")
	case u.isUnsafe():
		return u, Refuse(ErrForbidden, "a uri must not contain . or .. as a name, a backslash, or a drive")
	case slices.Contains(u.Names(), ""):
		p.Add("uri", "must not contain an empty name, nor end with a slash")
	case slices.ContainsFunc(u.Names(), func(name string) bool { return name != strings.TrimSpace(name) }):
		p.Add("uri", "must not contain a name that begins or ends with a space")
	}
	return u, p.Err()
}

func (u URI) isUnsafe() bool {
	return strings.Contains(string(u), `\`) || slices.ContainsFunc(u.Names(), func(name string) bool {
		return name == "." || name == ".." || drive().MatchString(name)
	})
}

// Names are the names from the root to u; none for the root.
func (u URI) Names() []string {
	if u == RootURI {
		return nil
	}
	return strings.Split(strings.TrimPrefix(string(u), string(RootURI)), "/")
}

// URIOf is the default URI of an item.
func URIOf(id string, owner Entity, context ContextType, category Category, t Type) URI {
	space := []string{Agent}
	if kind := owner.Kind(); kind == User || kind == Agent {
		space = []string{kind, owner.ID()}
	}
	switch context {
	case Skill:
		return URIOfNames(append(space, "skills", id, SkillName)...)
	case Resource:
		if len(space) == 1 {
			space = nil
		}
		return URIOfNames(append(space, "resources", id+".md")...)
	}
	segment := category
	if segment == "" {
		segment = segmentOf(t)
	}
	return URIOfNames(append(space, "memories", string(segment), id+".md")...)
}

// URIOfNames is the inverse of [URI.Names].
func URIOfNames(names ...string) URI { return RootURI + URI(strings.Join(names, "/")) }

// Name is the last of the names; empty for the root.
func (u URI) Name() string {
	if names := u.Names(); len(names) > 0 {
		return names[len(names)-1]
	}
	return ""
}

// Parent is the directory of u. The root is its own parent.
func (u URI) Parent() URI {
	names := u.Names()
	if len(names) == 0 {
		return RootURI
	}
	return URIOfNames(names[:len(names)-1]...)
}

// Join is the URI of these names below u.
func (u URI) Join(names ...string) URI { return URIOfNames(append(u.Names(), names...)...) }

// Within tells whether u is the directory or lies anywhere below it.
func (u URI) Within(directory URI) bool {
	return u == directory || directory == RootURI || strings.HasPrefix(string(u), string(directory)+"/")
}

// Space is the owner of the space that contains u; empty if it has none.
func (u URI) Space() Entity {
	names := u.Names()
	if len(names) < 2 {
		return ""
	}
	switch kind, id := names[0], names[1]; {
	case kind == "session":
		return Entity(User + ":" + id)
	case kind == User, kind == Agent && !slices.Contains(common, id):
		return Entity(kind + ":" + id)
	}
	return ""
}

// below are the names within a space or a shared directory.
func (u URI) below() []string {
	names := u.Names()
	switch {
	case len(names) == 0:
		return nil
	case u.Space() != "":
		return names[2:]
	}
	return names[1:]
}

// ContextType is the context type at u: memory, skill, or else resource.
func (u URI) ContextType() ContextType {
	names := u.Names()
	if len(names) > 0 && names[0] == "session" {
		return Memory
	}
	if below := u.below(); len(below) > 0 && len(names) > len(below) && names[0] != "resources" {
		switch below[0] {
		case "memories", "sessions", "profile.md":
			return Memory
		case "skills":
			return Skill
		}
	}
	return Resource
}

// Category is the category of a memory: the name after "memories", if it is one of [Categories].
func (u URI) Category() Category {
	below := u.below()
	if u.ContextType() != Memory || len(below) == 0 {
		return ""
	}
	if below[0] == "memories" {
		below = below[1:]
	}
	if len(below) == 0 {
		return ""
	}
	category := Category(strings.TrimSuffix(below[0], ".md"))
	if slices.Contains(Categories, category) && (category == Category(below[0]) || category == CategoryProfile) {
		return category
	}
	return ""
}

// Level is the level of the text at u.
func (u URI) Level() Level {
	switch u.Name() {
	case AbstractName:
		return Abstract
	case OverviewName:
		return Overview
	}
	return Detail
}

// mayUseURI refuses URIs in the space of an entity that the caller neither is nor acts for. Otherwise, a conflict
// would reveal what exists there, and a caller could occupy other entities' URIs.
func mayUseURI(by Principal, uri string) error {
	if space := URI(uri).Space(); space != "" && !by.MayPublish(space.Scope()) {
		return Refuse(ErrForbidden, "the uri lies in a space that is not %s's", by.EffectiveSubject()).
			WithFix(
				"leave the uri out, or name one in your own space or in one that is everybody's, such as viking://resources/",
			)
	}
	return nil
}

// freeURIBeside is a free URI next to one that is taken. It reveals nothing about the item that has the URI. No id
// contains its separator, "@".
func freeURIBeside(dc ItemReader, uri string) string {
	stem := strings.TrimSuffix(uri, ".md")
	for n := 2; ; n++ {
		if other := stem + "@" + strconv.Itoa(n) + ".md"; dc.Holder(other) == "" {
			return other
		}
	}
}

// Directory asks for the entries of a directory, in the order of names. Directories follow from the items in them: a
// directory without visible items does not exist.
type Directory struct {
	By    Principal
	URI   URI
	After DirectoryEntry // only what comes after this one; none from the beginning
	Limit int
}

// DirectoryEntry is an item or a directory in a directory.
type DirectoryEntry struct {
	URI   URI
	IsDir bool
	First *Knowledge // the item; for a directory, the first item in it
}

// Walk asks for the items anywhere below a directory, in the order of URIs.
type Walk struct {
	By    Principal
	Below URI
	After URI // only what comes after this; empty from the beginning
	Limit int
}

// Leaf is an item below a directory, with its text if the caller asked for it.
type Leaf struct {
	URI     URI
	Content string
}
