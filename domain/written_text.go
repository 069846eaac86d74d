package domain

import (
	"bytes"
	"encoding/json"
	"strings"
)

// RecordedString is a string in the text of an event.
type RecordedString struct {
	Field string // of the text, such as content, or source
	Name  bool   // it is a URI or the key of something, and never rewritten
	Value string
}

// RewriteRecordedText is the text of an event, whatever the event says, with its strings gone through a rewriting and
// with everything else of it, URIs and keys too, as it was recorded. Of names the rewriting is told, and what it
// makes of them is not taken. What is not JSON stays as it is.
func RewriteRecordedText(text json.RawMessage, rewrite func(RecordedString) string) json.RawMessage {
	if !json.Valid(text) {
		return text
	}
	w := jsonWalk{rewrite: rewrite}
	for rest := []byte(text); len(rest) > 0; {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			w.between(rest)
			break
		}
		end := afterString(rest, start)
		w.between(rest[:start])
		w.quoted(rest[start:end], bytes.HasPrefix(bytes.TrimLeft(rest[end:], " \t\r\n"), []byte(":")))
		rest = rest[end:]
	}
	return w.out.Bytes()
}

// jsonWalk goes through a JSON document, from string to string.
type jsonWalk struct {
	rewrite func(RecordedString) string
	out     bytes.Buffer
	depth   int
	field   string // the outermost key
	key     string // the innermost one
}

// between is what stands outside of strings.
func (w *jsonWalk) between(part []byte) {
	w.out.Write(part)
	w.depth += bytes.Count(part, []byte("{")) + bytes.Count(part, []byte("["))
	w.depth -= bytes.Count(part, []byte("}")) + bytes.Count(part, []byte("]"))
}

func (w *jsonWalk) quoted(quoted []byte, isKey bool) {
	var value string
	if json.Unmarshal(quoted, &value) != nil {
		w.out.Write(quoted)
		return
	}
	if isKey {
		if w.key = value; w.depth == 1 {
			w.field = value
		} else if w.field == "tags" || w.field == "meta" {
			w.rewrite(RecordedString{Field: w.field, Name: true, Value: value})
		}
		w.out.Write(quoted)
		return
	}
	name := w.field != "meta" && w.field != "tags" && (w.key == "uri" || strings.HasSuffix(w.key, "_uri"))
	rewritten := w.rewrite(RecordedString{Field: w.field, Name: name, Value: value})
	if name || rewritten == value {
		w.out.Write(quoted)
		return
	}
	w.out.Write(quote(rewritten))
}
