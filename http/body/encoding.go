package body

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// UTF8 leaves out the byte order mark of a text, and makes UTF-16 with a mark UTF-8. Other bytes stay.
func UTF8(in io.Reader) io.Reader {
	return transform.NewReader(in, unicode.BOMOverride(transform.Nop))
}

// Unmark does so with the body of a request that says that it is JSON.
func Unmark(r *http.Request) {
	if r.Body != http.NoBody && strings.Contains(r.Header.Get("Content-Type"), "json") {
		r.Body = &unmarked{ReadCloser: r.Body}
	}
}

// unmarked looks at the first byte of a body, so that one without a mark is read as it is.
type unmarked struct {
	io.ReadCloser
	rest io.Reader
}

func (u *unmarked) Read(p []byte) (int, error) {
	const leastMark = 0xef
	if u.rest != nil {
		return u.rest.Read(p)
	}
	n, err := u.ReadCloser.Read(p[:min(1, len(p))])
	if n == 0 {
		return 0, err
	}
	if u.rest = u.ReadCloser; p[0] >= leastMark {
		u.rest = UTF8(io.MultiReader(bytes.NewReader([]byte{p[0]}), u.ReadCloser))
		return u.rest.Read(p)
	}
	return n, err
}
