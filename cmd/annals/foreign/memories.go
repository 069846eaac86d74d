package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/domain"
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
	Created    any            `json:"created_at"`
	ValidAt    any            `json:"valid_at"`
	InvalidAt  any            `json:"invalid_at"`
	Expires    any            `json:"expiration_date"`
	Metadata   map[string]any `json:"metadata"`
}

// lists are where an export has its items, if it is no list itself.
var lists = []string{"results", "memories", "blocks", "core_memory", "edges", "facts"}

// memories reads an export. The format is empty if it is none that is known. What cannot be read, or is not true any
// more, is passed to leave.
func memories(text []byte, leave func(why string)) (all []markdown.Item, format string, err error) {
	var again string
	if json.Unmarshal(text, &again) == nil { // JSON in a string, as in some agent files
		text = []byte(again)
	}
	var list []json.RawMessage
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &list) != nil && json.Unmarshal(text, &object) != nil {
		return nil, "", errors.New("is no valid JSON")
	}
	for _, key := range lists {
		var some []json.RawMessage
		_ = json.Unmarshal(object[key], &some) // the list of another program
		list = append(list, some...)
	}
	for i, raw := range list {
		var m memory
		if json.Unmarshal(raw, &m) != nil && raw[0] != '{' { // a field of another form is left out
			leave(fmt.Sprintf("item %d is no object", i+1))
		}
		item, of := m.item(i)
		format = cmp.Or(of, format)
		until := moment(m.Expires)
		switch {
		case m.Deleted || m.State == "deleted" || item.Content == "":
		case until != nil && until.Before(time.Now()):
			leave(fmt.Sprintf("item %d expired on %s", i+1, until.Format(time.DateOnly)))
		default:
			if until != nil {
				item.Content += fmt.Sprintf(" (until %s)", until.Format(time.DateOnly))
			}
			all = append(all, item)
		}
	}
	return all, format, nil
}

// item is the memory in our form, and whose form it had.
func (m memory) item(i int) (item markdown.Item, format string) {
	item = markdown.Item{Type: "definition", Tags: map[string][]string{}, OccurredAt: past(m.Created)}
	switch {
	case m.Memory != "" || m.Content != "" && m.State != "":
		format, item.Content = "mem0", m.Memory+m.Content
	case m.Fact != "":
		format, item.Content = "graphiti", m.Fact
		m.ID = m.UUID
		if at := past(m.ValidAt); at != nil {
			item.OccurredAt = at
		}
		if until := moment(m.InvalidAt); until != nil {
			item.Content += fmt.Sprintf(" (until %s)", until.Format(time.DateOnly))
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
	if m.ID == "" {
		m.ID = uuid.NewSHA1(uuid.Nil, []byte(item.Content)).String()
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

// moment is a time as a text, or as a number of seconds since 1970 or of their parts; nil for anything else.
func moment(value any) *time.Time {
	text := fmt.Sprint(value)
	if at := markdown.ParseDate(text); at != nil {
		return at
	}
	at, _, err := domain.ParseTime(text, time.Now().UTC())
	if seconds, bad := strconv.ParseFloat(text, 64); bad == nil && seconds > 0 {
		const latest = 1e11 // more seconds than any date has
		for seconds > latest {
			seconds /= 1000
		}
		at, err = time.UnixMicro(int64(seconds*1e6)).UTC(), nil
	}
	if err != nil {
		return nil
	}
	return &at
}

// past is a moment that is not to come.
func past(value any) *time.Time {
	if at := moment(value); at != nil && at.Before(time.Now()) {
		return at
	}
	return nil
}
