package body

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
)

// reader walks through well-formed JSON. It notes bad values, each under its path.
type reader struct {
	data     []byte
	at       int
	path     []step
	problems *domain.Problems
	lenient  bool // see [Fill]
}

// step is one part of a path: a field, or an index of an array if the name is empty.
type step struct {
	name  string
	index int
}

// checkJSON refuses what is not JSON in UTF-8. The error tells the position of the mistake, not the text there.
func checkJSON(data []byte) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return domain.Refuse(domain.ErrMalformed, "the body is empty").WithFix("send a JSON object")
	case !utf8.Valid(data):
		return domain.Refuse(domain.ErrMalformed, "the body is not valid UTF-8")
	case json.Valid(data):
		return nil
	}
	broken, _ := FindJSONError(data)
	if broken.Why != "" {
		return domain.Refuse(domain.ErrMalformed, "%s", broken.Why)
	}
	return domain.Refuse(
		domain.ErrMalformed, "the body is not valid JSON: it breaks at line %d, column %d", broken.Line, broken.Column,
	)
}

func (r *reader) note(format string, values ...any) {
	r.problems.Add(r.where(), format, values...)
}

// where is the path of the current value, such as scopes[1] or eval.helpful.
func (r *reader) where() string {
	var b strings.Builder
	for _, s := range r.path {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	if b.Len() == 0 {
		return "body"
	}
	return b.String()
}

func (r *reader) enter(s step) { r.path = append(r.path, s) }
func (r *reader) leave()       { r.path = r.path[:len(r.path)-1] }

// peek is the first byte of the next value: one of { [ " t f n - 0…9.
func (r *reader) peek() byte {
	r.space()
	return r.data[r.at]
}

func (r *reader) space() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			r.at++
		default:
			return
		}
	}
}

// value returns the next value as it stands in the body.
func (r *reader) value() []byte {
	switch r.peek() {
	case '{', '[':
		return r.nested()
	case '"':
		return r.quoted()
	}
	start := r.at
	for r.at < len(r.data) && !strings.ContainsRune(" \t\r\n,:]}", rune(r.data[r.at])) {
		r.at++
	}
	return r.data[start:r.at]
}

func (r *reader) quoted() []byte {
	start := r.at
	for r.at++; r.data[r.at] != '"'; r.at++ {
		if r.data[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	return r.data[start:r.at]
}

func (r *reader) nested() []byte {
	start, depth := r.at, 0
	for {
		switch r.data[r.at] {
		case '"':
			r.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		r.at++
		if depth == 0 {
			return r.data[start:r.at]
		}
	}
}

// members calls each with the name of every member of the next object; each must read the value. The name may alias
// the body.
func (r *reader) members(each func(name []byte)) {
	r.at++
	for r.peek() != '}' {
		written := r.quoted()
		if bytes.IndexByte(written, '\\') >= 0 {
			each([]byte(r.unquote(written)))
		} else {
			each(written[1 : len(written)-1])
		}
	}
	r.at++
}

// elements calls each for every element of the next array; each must read it.
func (r *reader) elements(each func(index int)) {
	r.at++
	for i := 0; r.peek() != ']'; i++ {
		each(i)
	}
	r.at++
}

// null reads the next value if it is null.
func (r *reader) null() bool {
	if r.peek() != 'n' {
		return false
	}
	r.value()
	return true
}

// blank reads the next value if it is an empty string.
func (r *reader) blank() bool {
	if r.peek() != '"' || r.data[r.at+1] != '"' {
		return false
	}
	r.value()
	return true
}

// unquote decodes a string. The replacement character takes the place of half a surrogate pair, as in meta.
func (r *reader) unquote(written []byte) string {
	if bytes.IndexByte(written, '\\') < 0 {
		return string(written[1 : len(written)-1])
	}
	var s string
	_ = json.Unmarshal(written, &s) // checkJSON has read it
	return s
}

// Empty is the problem of an empty value, which often comes from a variable that was not set.
const Empty = "is empty: give it a value, or leave it out"
