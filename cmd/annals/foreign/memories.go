package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/markdown"
)

// memory is an item of an export, in the forms of mem0, OpenMemory, Letta, Graphiti and Zep.
type memory struct {
	ID         string         `json:"id"`
	UUID       string         `json:"uuid"`
	Memory     string         `json:"memory"`
	Content    string         `json:"content"`
	Text       string         `json:"text"`
	Value      string         `json:"value"`
	Label      string         `json:"label"`
	Fact       string         `json:"fact"`
	Name       string         `json:"name"`
	User       string         `json:"user_id"`
	Agent      string         `json:"agent_id"`
	Categories []string       `json:"categories"`
	Tags       []string       `json:"tags"`
	State      string         `json:"state"`
	Deleted    bool           `json:"is_deleted"`
	Created    string         `json:"created_at"`
	ValidAt    string         `json:"valid_at"`
	InvalidAt  string         `json:"invalid_at"`
	Metadata   map[string]any `json:"metadata"`
}

// exported is an export: a list, or an object with one of these lists.
type exported struct {
	Results  []memory `json:"results"`
	Memories []memory `json:"memories"`
	Blocks   []memory `json:"blocks"`
	Core     []memory `json:"core_memory"`
	Edges    []memory `json:"edges"`
	Facts    []memory `json:"facts"`
}

// memories reads an export. The format is empty if it is none that is known.
func memories(text []byte) (all []markdown.Item, format string, err error) {
	var again string
	if json.Unmarshal(text, &again) == nil { // JSON in a string, as in some agent files
		text = []byte(again)
	}
	var in exported
	var list []memory
	if json.Unmarshal(text, &list) == nil {
		in.Results = list
	} else if err := json.Unmarshal(text, &in); err != nil {
		return nil, "", errors.New("is no valid JSON")
	}
	for _, some := range [][]memory{in.Results, in.Memories, in.Blocks, in.Core, in.Edges, in.Facts} {
		for i, m := range some {
			item, of := m.item(i)
			if of == "" {
				continue
			}
			format = of
			if !m.Deleted && m.State != "deleted" && item.Content != "" {
				all = append(all, item)
			}
		}
	}
	return all, format, nil
}

// item is the memory in our form, and whose form it had.
func (m memory) item(i int) (item markdown.Item, format string) {
	item = markdown.Item{Type: "definition", Tags: map[string][]string{}, OccurredAt: markdown.ParseDate(m.Created)}
	switch {
	case m.Memory != "" || m.Content != "" && m.State != "":
		format, item.Content = "mem0", m.Memory+m.Content
	case m.Fact != "":
		format, item.Content = "graphiti", m.Fact
		m.ID = m.UUID
		if at := markdown.ParseDate(m.ValidAt); at != nil {
			item.OccurredAt = at
		}
		if until := markdown.ParseDate(m.InvalidAt); until != nil {
			item.Content += fmt.Sprintf(" (until %s)", until.Format("2006-01-02"))
		}
		if m.Name != "" {
			item.Tags["relation"] = []string{m.Name}
		}
	case strings.HasPrefix(m.ID, "passage-") && m.Text != "":
		format, item.Content = "letta", m.Text
	case m.Label != "":
		format, item.Content, item.Task = "letta", m.Value, m.Label
		if m.ID == "" {
			m.ID = fmt.Sprintf("block-%d-%s", i, m.Label)
		}
	default:
		return item, ""
	}
	item.ID = markdown.FirstRunes(markdown.Slug(format+"-"+m.ID), 120)
	labels := append(m.Categories, m.Tags...)
	if category := markdown.First(m.Metadata, "category"); category != "" {
		labels = append(labels, category)
	}
	if len(labels) > 0 {
		item.Tags["labels"] = labels[:min(len(labels), 15)]
	}
	for key, value := range map[string]string{"user": m.User, "agent": m.Agent} {
		if value != "" {
			item.Tags[key] = []string{value}
		}
	}
	return item, format
}
