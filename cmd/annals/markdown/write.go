package markdown

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// Known is what a note says of the item that it was written from.
type Known struct {
	ID       string `yaml:"id"`
	Revision int64  `yaml:"revision"`
	Hash     string `yaml:"hash"` // of task and content
}

// HashOf recognises a text of an item, whatever surrounds it.
func HashOf(task, content string) string {
	content = strings.TrimSpace(strings.ReplaceAll(content, "\r\n", "\n"))
	sum := sha256.Sum256([]byte(strings.TrimSpace(task) + "\n" + content))
	return hex.EncodeToString(sum[:8])
}

// knownOf reads the front matter of a note that was written from an item; nil if it is none.
func knownOf(head string) (known *Known, title string) {
	var read struct {
		Title  string `yaml:"title"`
		Annals Known  `yaml:"annals"`
	}
	if yaml.Unmarshal([]byte(head), &read) != nil || read.Annals.ID == "" || read.Annals.Hash == "" ||
		read.Annals.Revision < 1 {
		return nil, ""
	}
	return &read.Annals, read.Title
}

// Renewed is a note whose first lines say that the item has what the note says, in a revision.
func Renewed(text []byte, item Item, revision int64) []byte {
	line, _ := yaml.Marshal(struct {
		Annals Known `yaml:"annals,flow"`
	}{Known{item.ID, revision, HashOf(item.Task, item.Content)}}) // of strings and numbers
	at := annalsLine.FindIndex(text)
	if at == nil {
		return text
	}
	return slices.Concat(text[:at[0]], bytes.TrimSpace(line), text[at[1]:])
}

// note is the front matter of a note in the Open Knowledge Format 0.2.
type note struct {
	Type       string     `yaml:"type"`
	Title      string     `yaml:"title,omitempty"`
	Tags       []string   `yaml:"tags,omitempty,flow"`
	Status     string     `yaml:"status"`
	Generated  act        `yaml:"generated,flow"`
	Verified   []act      `yaml:"verified,omitempty,flow"`
	StaleAfter string     `yaml:"stale_after,omitempty"`
	Sources    []resource `yaml:"sources,omitempty"`
	Annals     Known      `yaml:"annals,flow"`
}

type act struct {
	By string `yaml:"by"`
	At string `yaml:"at,omitempty"`
}

type resource struct {
	Resource string `yaml:"resource"`
}

// Note is an item as a note that people can edit: Markdown with front matter in the Open Knowledge Format 0.2, which
// Obsidian reads, too.
func Note(k *api.Knowledge) []byte {
	head := note{
		Type: k.Type, Title: k.Task, Tags: k.Tags["labels"], Status: "stable",
		Generated: act{By: actorOf(k.Owner), At: stamp(k.UpdatedAt)},
		Annals:    Known{k.ID, k.Revision, HashOf(k.Task, k.Content)},
	}
	if k.ConfirmedAt != nil {
		by := k.Owner
		if k.Verified != nil {
			by = cmp.Or(k.Verified.By, by)
		}
		head.Verified = []act{{actorOf(by), stamp(k.ConfirmedAt)}}
	}
	if k.ConfirmUntil != nil {
		head.StaleAfter = k.ConfirmUntil.Format(time.DateOnly)
	}
	if k.Source != nil {
		for _, url := range k.Source.URLs {
			head.Sources = append(head.Sources, resource{url})
		}
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	_ = encoder.Encode(head) // of strings and numbers
	b.WriteString("---\n\n" + strings.TrimSpace(k.Content) + "\n")
	return b.Bytes()
}

// actorOf is an entity in the words of the format.
func actorOf(entity string) string {
	switch e := domain.Entity(entity); e.Kind() {
	case domain.User:
		return "human:" + e.ID()
	case domain.Agent:
		return "process:" + e.ID()
	}
	return entity
}

func stamp(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// PlaceOf is the file of an item that has none yet: in a folder of its nearest scope, named by what it is about.
func PlaceOf(k *api.Knowledge, taken func(name string) bool) string {
	folder := "public"
	if len(k.Scopes) > 0 {
		folder = strings.ReplaceAll(k.Scopes[0], ":", "/")
	}
	about := cmp.Or(k.Task, k.Content)
	slug := strings.ToLower(Slug(FirstRunes(about, 60)))
	name := path.Join(folder, cmp.Or(slug, k.ID)+".md")
	if taken(name) {
		name = path.Join(folder, FirstRunes(slug, 60)+"-"+LastRunes(k.ID, 40)+".md")
	}
	return name
}

// Written is a note that was written from an item.
type Written struct {
	Name   string
	Hash   string // of what it says now
	Edited bool   // it says something else than the item did
}

// WrittenIn are the notes below a folder that were written from items, by the items' ids.
func WrittenIn(files fs.FS) (map[string]Written, error) {
	all := map[string]Written{}
	in := &Input{files: files}
	err := in.Items(func(item Item) error {
		if item.Known != nil {
			hash := HashOf(item.Task, item.Content)
			all[item.ID] = Written{strings.TrimPrefix(item.Origin, "file:"), hash, hash != item.Known.Hash}
		}
		return nil
	})
	return all, err
}
