package markdown

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
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
	File     string `yaml:"file,omitempty"`
}

// InPlace tells whether a note that was written from an item lies where it was written to, in whatever folder.
func (i *Item) InPlace() bool {
	place := "/" + filepath.ToSlash(cmp.Or(i.Path, i.file))
	return i.Known.File != "" && strings.HasSuffix(place, "/"+i.Known.File)
}

// IsCopy tells whether there is a note of the same item where this one was written to.
func (i *Item) IsCopy() bool {
	if i.Path == "" || i.Known.File == "" || i.InPlace() {
		return false
	}
	for at := filepath.Dir(i.Path); at != filepath.Dir(at); at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, filepath.FromSlash(i.Known.File)))
		_, head, _ := frontMatter(strings.ReplaceAll(string(text), "\r\n", "\n"))
		if known, _ := knownOf(head); err == nil && known != nil && known.ID == i.Known.ID {
			return true
		}
	}
	return false
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

// Renewed is a note whose first lines say that the item with an id has what the note says, in a revision.
func Renewed(text []byte, item Item, id string, revision int64) []byte {
	place := item.file
	if item.InPlace() {
		place = item.Known.File
	}
	line, _ := yaml.Marshal(struct {
		Annals Known `yaml:"annals,flow"`
	}{Known{id, revision, HashOf(item.Task, item.Content), place}}) // of strings and numbers
	at := annalsField.FindIndex(text)
	if at == nil {
		return text
	}
	return slices.Concat(text[:at[0]], bytes.TrimSpace(line), text[at[1]:])
}

// note is the front matter of a note in the Open Knowledge Format 0.2.
type note struct {
	Type        string     `yaml:"type"`
	Title       string     `yaml:"title,omitempty"`
	Description string     `yaml:"description,omitempty"`
	Tags        []string   `yaml:"tags,omitempty,flow"`
	Aliases     []string   `yaml:"aliases,omitempty,flow"`
	Status      string     `yaml:"status"`
	Generated   act        `yaml:"generated,flow"`
	Verified    []act      `yaml:"verified,omitempty,flow"`
	StaleAfter  string     `yaml:"stale_after,omitempty"`
	Sources     []resource `yaml:"sources,omitempty"`
	Annals      Known      `yaml:"annals,flow"`
}

type act struct {
	By string `yaml:"by"`
	At string `yaml:"at,omitempty"`
}

type resource struct {
	Resource string `yaml:"resource"`
}

// Note is an item as a note that people can edit, in a file: Markdown with front matter in the Open Knowledge Format
// 0.2, which Obsidian reads, too.
func Note(k *api.Knowledge, file string) []byte {
	head := note{
		Type: k.Type, Title: k.Task, Description: k.Abstract, Tags: k.Tags["labels"], Aliases: k.Tags["aliases"],
		Status:    "stable",
		Generated: act{By: actorOf(k.Owner), At: stamp(k.UpdatedAt)},
		Annals:    Known{k.ID, k.Revision, HashOf(k.Task, k.Content), file},
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

// Written is a note that was written from an item.
type Written struct {
	Name   string
	Hash   string // of what it says now
	Edited bool   // it says something else than the item did
}

// WrittenIn are the notes below a folder that were written from items, by the items' ids. Others are by their places,
// as [From] has them; nobody knows whether these were edited.
func WrittenIn(dir string) (all, others map[string]Written, err error) {
	in, err := Open(dir, Forms{Named: "markdown"})
	if err != nil {
		return nil, nil, err
	}
	all, others = map[string]Written{}, map[string]Written{}
	err = in.Items(func(item Item) error {
		hash := HashOf(item.Task, item.Content)
		if item.Path == "" { // in an archive
			return nil
		}
		if item.Known == nil {
			_, several := others[item.Meta.File]
			others[item.Meta.File] = Written{item.file, hash, true}
			if several {
				others[item.Meta.File] = Written{}
			}
		} else if _, found := all[item.Known.ID]; !found || item.InPlace() {
			all[item.Known.ID] = Written{item.file, hash, hash != item.Known.Hash}
		}
		return nil
	})
	return all, others, err
}
