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

// fileName is what a file is called in the histories of what came from it: without its directory, which
// is nobody's business.
func fileName(path string) string {
	if path == "-" {
		return "stdin"
	}
	const longest = 80 // characters: what is recorded has its place among others
	var name []rune
	for _, r := range filepath.Base(path) {
		if unicode.IsControl(r) || r == utf8.RuneError {
			r = '_'
		}
		name = append(name, r)
	}
	return string(name[:min(len(name), longest)])
}

// importRun names one run of an import: everything that it remembers belongs together.
func importRun() string {
	id, err := uuid.NewV7()
	if err != nil { // the system has no randomness left: crypto/rand never says so
		id = uuid.New()
	}
	return "import:" + id.String()
}

// origin is where a record stands: "file:knowledge.ndjson:7" in line 7, "file:knowledge.json#7" as the
// seventh where records span lines.
func (r Record) origin(file string) string {
	if r.Spans {
		return fmt.Sprintf("file:%s#%d", file, r.Number)
	}
	return fmt.Sprintf("file:%s:%d", file, r.Number)
}

// withField lets a record say something that it does not say itself; what is no object stays as it is.
func withField(raw []byte, name, value string) []byte {
	if value == "" {
		return raw
	}
	if bytes.Contains(raw, []byte(name)) { // possibly only in a text
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields[name] != nil {
			return raw
		}
	}
	return WithFirstField(raw, name, value)
}

// WithFirstField puts a field before all others of a JSON object; what is none stays as it is.
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

// identified gives a record without an id one that follows from what it says and who says it, so
// that sending it again changes nothing. Whatever has an id, or is no object, stays as it is.
func identified(raw []byte, who string) []byte {
	members := membersOf(raw)
	if _, says := members["id"]; says || members == nil {
		return raw
	}
	var said bytes.Buffer
	said.WriteString(who)
	said.WriteByte('\n')
	_ = json.Compact(&said, raw) // it was read above
	const version = 8            // "custom" in RFC 9562
	id := uuid.NewHash(sha256.New(), uuid.Nil, said.Bytes(), version)
	return WithFirstField(raw, "id", id.String())
}

// membersOf are those of a record; nil if it is no object.
func membersOf(raw []byte) (members map[string]json.RawMessage) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// trimmed is JSON without the spaces before it.
func trimmed(raw []byte) []byte { return bytes.TrimLeft(raw, " \t\r\n") }
