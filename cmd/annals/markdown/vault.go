package markdown

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/http/api"
)

// Vault is where the notes of items lie in a folder, and what their links lead to.
type Vault struct {
	Taken func(name string) bool // tells whether the folder has a file

	places map[string]string   // of notes, by ids
	roots  map[string]string   // what they were imported from, by ids
	paths  map[string]string   // ids by the files and sections that they were imported from
	stems  map[string][]string // ids by the names of their files
	names  map[string][]string // ids by titles, aliases and names of files that they were imported from
}

// From is the file that an item was imported from.
type From struct {
	File    string `json:"file"` // its path, from the name of the root on
	Section string `json:"section,omitempty"`
}

func fromOf(k *api.Knowledge) (from From) {
	_ = json.Unmarshal(k.Meta, &from) // other fields are of others
	return from
}

// same is a name or a path as a link finds it.
func same(name string) string {
	if isNote(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return strings.ToLower(norm.NFC.String(name))
}

// Place gives an item its file: the one that it has already, or else one that is named by its title, in a folder of its
// nearest scope.
func (v *Vault) Place(k *api.Knowledge, has string) {
	if v.places == nil {
		v.places, v.roots, v.paths = map[string]string{}, map[string]string{}, map[string]string{}
		v.stems, v.names = map[string][]string{}, map[string][]string{}
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
	from := fromOf(k)
	names := append([]string{title, k.Task}, k.Tags["aliases"]...)
	if from.File != "" {
		file := same(from.File)
		v.paths[file], v.paths[file+"#"+Slug(from.Section)] = cmp.Or(v.paths[file], k.ID), k.ID
		names = append(names, path.Base(from.File))
		v.roots[k.ID], _, _ = strings.Cut(from.File, "/")
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
	from, to := fromOf(k).File, same(l.target)
	root, _, _ := strings.Cut(from, "/")
	for _, place := range []string{path.Join(path.Dir(same(from)), to), path.Join(same(root), to)} {
		if id := v.paths[place+"#"+Slug(l.fragment)]; id != "" && l.fragment != "" {
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
		return "", false
	}
	ids := append(slices.Clone(v.stems[path.Base(to)]), v.names[path.Base(to)]...)
	rank := func(id string) int { // as Obsidian prefers a whole path
		switch {
		case strings.HasSuffix("/"+same(v.places[id]), "/"+to):
			return 0
		case v.roots[id] == root:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(ids, func(a, b string) int { return rank(a) - rank(b) })
	return cmp.Or(append(ids, "")...), false
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
