package markdown

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/http/api"
)

// Vault is where the notes of items lie in a folder, and what their links lead to.
type Vault struct {
	Taken func(name string) bool // tells whether the folder has a file

	places  map[string]string   // of notes, by ids
	sources map[string]string   // the files that they were imported from, by ids
	paths   map[string]string   // ids by those files, each for its beginning, and by their sections
	stems   map[string][]string // ids by the names of their files
	names   map[string][]string // ids by titles and aliases
	files   map[string][]string // those files by their names
}

// From is the file that an item was imported from.
type From struct {
	File    string `json:"file"` // its path, from the name of the root on
	Section string `json:"section,omitempty"`
}

// FromOf is the file that an item was imported from, if any.
func FromOf(k *api.Knowledge) (from From) {
	_ = json.Unmarshal(k.Meta, &from) // other fields are of others
	return from
}

// same is a name or a path as a link finds it.
func same(name string) string {
	if isNote(name) || isPage(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return strings.ToLower(norm.NFC.String(name))
}

// letters are what a heading and the fragments of links to it have in common, whatever program writes them.
func letters(heading string) string {
	if written, err := url.PathUnescape(heading); err == nil {
		heading = written
	}
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFC.String(heading))
}

// Place gives an item its file: the one that it has already, or else one that is named by its title, in a folder of its
// nearest scope. Of the items of a file, the newest is placed first.
func (v *Vault) Place(k *api.Knowledge, has string) {
	if v.places == nil {
		v.places, v.sources, v.paths = map[string]string{}, map[string]string{}, map[string]string{}
		v.stems, v.names, v.files = map[string][]string{}, map[string][]string{}, map[string][]string{}
	}
	title := FileName(cmp.Or(k.Task, FirstRunes(k.Content, 60)), k.ID)
	if has == "" {
		folder := "public"
		if len(k.Scopes) > 0 {
			folder = strings.ReplaceAll(k.Scopes[0], ":", "/")
		}
		name := title
		for n := 1; len(v.stems[same(name)]) > 0 || v.Taken(path.Join(folder, name+".md")); n++ {
			name = fmt.Sprintf("%s %d", title, n)
		}
		has = path.Join(folder, name+".md")
	}
	v.places[k.ID] = has
	v.stems[same(path.Base(has))] = append(v.stems[same(path.Base(has))], k.ID)
	from := FromOf(k)
	names := append([]string{title, k.Task}, k.Tags["aliases"]...)
	if from.File != "" {
		file := same(from.File)
		begins := v.paths[file+"#"] // the part without a heading, else the oldest
		if v.paths[file] == "" {
			v.files[path.Base(file)] = append(v.files[path.Base(file)], file)
		}
		v.sources[k.ID], v.paths[file], v.paths[file+"#"+letters(from.Section)] = file, cmp.Or(begins, k.ID), k.ID
	}
	for _, name := range names {
		if ids := v.names[same(name)]; !slices.Contains(ids, k.ID) {
			v.names[same(name)] = append(ids, k.ID)
		}
	}
}

// PlaceOf is the file of an item. It is empty for one that was given no place.
func (v *Vault) PlaceOf(id string) string { return v.places[id] }

// Linked is the content of an item with links that lead to the files of other items.
func (v *Vault) Linked(k *api.Knowledge) string {
	var b strings.Builder
	at := 0
	for _, l := range parse(k.Content).links() {
		if id, section := v.leadsTo(l, k); id != "" {
			b.WriteString(k.Content[at:l.from])
			b.WriteString(v.written(l, id, section, k))
			at = l.to
		}
	}
	if linked := b.String() + k.Content[at:]; len(linked) <= largestContent {
		return linked
	}
	return k.Content // else nobody could import it
}

// leadsTo is the item that a link of an item leads to; and whether to the section that the link names.
func (v *Vault) leadsTo(l link, k *api.Knowledge) (id string, section bool) {
	from, to := FromOf(k).File, same(l.target)
	root, _, _ := strings.Cut(from, "/")
	for _, place := range []string{path.Join(path.Dir(same(from)), to), path.Join(same(root), to)} {
		if id := v.paths[place+"#"+letters(l.fragment)]; id != "" && l.fragment != "" {
			return id, true
		} else if id := v.paths[place]; id != "" {
			return id, false
		}
	}
	if here := path.Join(path.Dir(same(v.places[k.ID])), to); !l.wiki {
		for _, id := range v.stems[path.Base(here)] {
			if same(v.places[id]) == here {
				return id, false
			}
		}
		if strings.Contains(to, "/") {
			return "", false
		}
	} // else it was moved, or is in the form of Obsidian
	var ids []string
	for _, file := range v.files[path.Base(to)] {
		ids = append(ids, v.paths[file])
	}
	ids = slices.Concat(ids, v.stems[path.Base(to)], v.names[path.Base(to)])
	rank := func(id string) int { // as Obsidian prefers a path
		is := func(place string) bool { return strings.HasSuffix("/"+place, "/"+to) }
		near, _, _ := strings.Cut(v.sources[id], "/")
		switch {
		case strings.Contains(to, "/") && (is(same(v.places[id])) || is(v.sources[id])):
			return 0
		case near == same(root):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(ids, func(a, b string) int { return rank(a) - rank(b) })
	if id = cmp.Or(append(ids, "")...); id != "" && !l.wiki && rank(id) > 1 {
		return "", false
	}
	return id, false
}

// written is a link to an item as it stands in the note of another.
func (v *Vault) written(l link, id string, section bool, k *api.Knowledge) string {
	place, fragment := v.places[id], l.fragment
	if section {
		fragment = ""
	}
	if !l.wiki {
		to, err := filepath.Rel(path.Dir(v.places[k.ID]), place)
		if err != nil {
			to = place
		}
		return addressed.Replace(filepath.ToSlash(to)) + fragment
	}
	to := strings.TrimSuffix(path.Base(place), ".md")
	if len(v.stems[same(to)]) > 1 {
		to = strings.TrimSuffix(place, ".md")
	}
	if same(to) == same(l.target) && !section {
		return k.Content[l.from:l.to]
	}
	to += fragment
	if !l.words {
		bar := "|"
		line := k.Content[strings.LastIndexByte(k.Content[:l.from], '\n')+1 : l.from]
		if strings.HasPrefix(strings.TrimSpace(line), "|") { // a row of a table
			bar = `\|`
		}
		to += bar + strings.TrimSpace(k.Content[l.from:l.to])
	}
	return to
}

var (
	addressed = strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29")
	unnamed   = regexp.MustCompile(`[\x00-\x1f\x7f*"\\/<>:|?#^\[\]]+`)
)

// FileName is a title as the name of a file, as Obsidian writes it; other if nothing is left of it.
func FileName(title, other string) string {
	const most, mostBytes = 100, 200
	name := FirstRunes(strings.Join(strings.Fields(unnamed.ReplaceAllString(title, " ")), " "), most)
	name = strings.ToValidUTF8(name[:min(len(name), mostBytes)], "")
	return cmp.Or(strings.Trim(name, ". "), other)
}
