package body_test

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"

	"github.com/annals-kb/annals/http/body"
)

func TestABodyMayHaveAByteOrderMark(t *testing.T) {
	t.Parallel()
	const text = `{"content": "Größe 一 😀"}`
	for name, written := range map[string]func() ([]byte, error){
		"UTF-8":             func() ([]byte, error) { return []byte(text), nil },
		"UTF-8 with a mark": func() ([]byte, error) { return []byte("\ufeff" + text), nil },
		"UTF-16LE": func() ([]byte, error) {
			return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes([]byte(text))
		},
		"UTF-16BE": func() ([]byte, error) {
			return unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().Bytes([]byte(text))
		},
	} {
		sent, err := written()
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []io.Reader{bytes.NewReader(sent), iotest.OneByteReader(bytes.NewReader(sent))} {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/", in)
			r.Header.Set("Content-Type", "application/json")
			body.Unmark(r)
			if got, err := io.ReadAll(r.Body); string(got) != text || err != nil {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	file := []byte("\xff\xfe\x00binary")
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", bytes.NewReader(file))
	r.Header.Set("Content-Type", "application/octet-stream")
	body.Unmark(r)
	if got, err := io.ReadAll(r.Body); !bytes.Equal(got, file) || err != nil {
		t.Errorf("a file: %q, %v", got, err)
	}
}
