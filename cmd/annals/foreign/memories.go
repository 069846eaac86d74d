package foreign

import (
	"bytes"
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
type memory map[string]any

// lists are where an export has its items, if it is no list itself.
var lists = []string{"results", "memories", "blocks", "core_memory", "edges", "facts"}

// memories reads an export. The format is empty if it is none that is known. A memory that cannot be read, or is not
// true any more, is passed to leave.
func memories(text []byte, leave func(why string)) (all []markdown.Item, format string, err error) {
	var again string
	if json.Unmarshal(text, &again) == nil { // JSON in a string, as in some agent files
		text = []byte(again)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil || decoder.More() {
		return nil, "", errors.New("is no valid JSON")
	}
	list, _ := whole.([]any)
	if object, is := whole.(map[string]any); is {
		for _, key := range lists {
			some, _ := object[key].([]any)
			list = append(list, some...)
		}
	}
	for i, value := range list {
		m, is := value.(map[string]any)
		if !is {
			leave(fmt.Sprintf("item %d is no object", i+1))
			continue
		}
		item, of := memory(m).item(i)
		if of == "" {
			continue
		}
		format = of
		until := moment(m["expiration_date"])
		switch {
		case m["is_deleted"] == true || m["state"] == "deleted" || item.Content == "":
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
	item = markdown.Item{Type: "definition", Tags: map[string][]string{}, OccurredAt: past(m["created_at"])}
	id := m.text("id")
	switch {
	case m.text("memory") != "" || m.text("content") != "" && m.text("state") != "":
		format, item.Content = "mem0", cmp.Or(m.text("memory"), m.text("content"))
	case m.text("fact") != "":
		format, item.Content = "graphiti", m.text("fact")
		id = m.text("uuid")
		if at := past(m["valid_at"]); at != nil {
			item.OccurredAt = at
		}
		if until := moment(m["invalid_at"]); until != nil {
			item.Content += fmt.Sprintf(" (until %s)", until.Format(time.DateOnly))
		}
		if name := m.text("name"); name != "" {
			item.Tags["relation"] = []string{name}
		}
	case strings.HasPrefix(id, "passage-") && m.text("text") != "":
		format, item.Content = "letta", m.text("text")
	case m.text("label") != "":
		format, item.Content, item.Task = "letta", m.text("value"), m.text("label")
		id = cmp.Or(id, fmt.Sprintf("block-%d-%s", i, item.Task))
	default:
		return item, ""
	}
	if id == "" {
		id = uuid.NewSHA1(uuid.Nil, []byte(item.Content)).String()
	}
	item.ID = markdown.FirstRunes(markdown.Slug(format+"-"+id), 120)
	about, _ := m["metadata"].(map[string]any)
	var labels []string
	for _, some := range []any{m["categories"], m["tags"], about["category"]} {
		several, is := some.([]any)
		if !is {
			several = []any{some}
		}
		for _, label := range several {
			if text, is := label.(string); is && text != "" && len(text) <= 200 && len(labels) < 15 {
				labels = append(labels, text)
			}
		}
	}
	if len(labels) > 0 {
		item.Tags["labels"] = labels
	}
	for key, value := range map[string]string{"user": m.text("user_id"), "agent": m.text("agent_id")} {
		if value != "" {
			item.Tags[key] = []string{value}
		}
	}
	return item, format
}

// text is a text, or a number as it is written.
func (m memory) text(key string) string {
	switch value := m[key].(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

// moment is a time as a text or as a number of seconds, or of parts of seconds, since 1970; nil for anything else.
func moment(value any) *time.Time {
	text, is := value.(string)
	if number, isNumber := value.(json.Number); isNumber {
		text = number.String()
	} else if !is {
		return nil
	}
	if at := markdown.ParseDate(text); at != nil {
		return at
	}
	at, _, err := domain.ParseTime(text, time.Now().UTC())
	if seconds, is := strconv.ParseFloat(text, 64); is == nil && seconds > 0 {
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
