package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// fileName is the name of a file in the histories of its items. It omits the directory, which is private.
func fileName(path string) string {
	if path == "-" {
		return "stdin"
	}
	const longest = 80 // characters: every event holds it
	var name []rune
	for _, r := range filepath.Base(path) {
		if unicode.IsControl(r) || r == utf8.RuneError {
			r = '_'
		}
		name = append(name, r)
	}
	return string(name[:min(len(name), longest)])
}

// importRun names one run of an import, to which all of its items belong.
func importRun() string {
	id, err := uuid.NewV7()
	if err != nil { // cannot happen: crypto/rand never fails
		id = uuid.New()
	}
	return "import:" + id.String()
}

// origin is the position of a record: "file:knowledge.ndjson:7" in line 7, "file:knowledge.json#7" for the seventh
// record in a file whose records span lines.
func (r Record) origin(file string) string {
	if r.Spans {
		return fmt.Sprintf("file:%s#%d", file, r.Number)
	}
	return fmt.Sprintf("file:%s:%d", file, r.Number)
}

// withField adds a field to a record that does not have it. A record that is no object stays unchanged.
func withField(raw []byte, name, value string) []byte {
	if value == "" {
		return raw
	}
	if bytes.Contains(raw, []byte(name)) { // the name may be a part of a text
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields[name] != nil {
			return raw
		}
	}
	return WithFirstField(raw, name, value)
}

// WithFirstField inserts a field before all others of a JSON object. Other JSON stays unchanged.
func WithFirstField(raw []byte, name, value string) []byte {
	inside, isObject := bytes.CutPrefix(trimmed(raw), []byte("{"))
	rest := trimmed(inside)
	if !isObject || len(rest) == 0 {
		return raw
	}
	encoded, _ := json.Marshal(value) // a string can always be written
	begin := append([]byte(`{"`+name+`":`), encoded...)
	if rest[0] != '}' {
		begin = append(begin, ',')
	}
	return append(begin, rest...)
}

// identified gives a record without an id one that is derived from the content and the caller, so that importing it
// again changes nothing. A record that has an id or is no object stays unchanged.
func identified(raw []byte, who string) []byte {
	members := membersOf(raw)
	if _, says := members["id"]; says || members == nil {
		return raw
	}
	var input bytes.Buffer
	input.WriteString(who)
	input.WriteByte('\n')
	_ = json.Compact(&input, raw) // raw is valid JSON
	const version = 8             // "custom" in RFC 9562
	id := uuid.NewHash(sha256.New(), uuid.Nil, input.Bytes(), version)
	return WithFirstField(raw, "id", id.String())
}

// membersOf are the members of a record; nil if it is no object.
func membersOf(raw []byte) (members map[string]json.RawMessage) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// trimmed is JSON without leading spaces.
func trimmed(raw []byte) []byte { return bytes.TrimLeft(raw, " \t\r\n") }
