package body_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/annals-kb/annals/http/body"
)

func TestTextIsReadInItsEncoding(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":                          "",
		"plain\r\ntext\r":           "plain\ntext\n",
		"\xef\xbb\xbfmit Zeichen ä": "mit Zeichen ä",
		"Die Stra\xdfe ist f\xfcr alle \x84gro\xdf\x93 genug": "Die Straße ist für alle „groß“ genug",
		"\xff\xfeh\x00i\x00\x0a\x00":                          "hi\n",
		"\xfe\xff\x00h\x4f\x60":                               "h你",
		"h\x00e\x00l\x00l\x00o\x00":                           "hello",
		"Gr\xf6\xdfe \xe4\xf6":                                "Größe äö",
		"\x00h\x00e\x00l\x00l\x00o":                           "hello",
	} {
		if got, err := body.Text([]byte(content)); err != nil || got != want {
			t.Errorf("%q: got %q, %v", content, got, err)
		}
	}
	for name, content := range map[string]string{
		"GBK":       "\xcf\xc8\xb0\xb2\xd7\xb0\xd4\xd9\xd4\xcb\xd0\xd0\xa1\xa3",
		"Shift JIS": "\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd",
		"an image":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"zeros":     "\x00\x00\x00\x00",
	} {
		if got, err := body.Text([]byte(content)); !errors.Is(err, body.ErrUnreadable) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func FuzzTextIsValid(f *testing.F) {
	for _, seed := range []string{"", "\xff\xfe\x00\xd8", "f\xfcr", "\x00a", "\r"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if got, err := body.Text(content); err == nil && !utf8.ValidString(got) {
			t.Errorf("%q: got %q", content, got)
		}
	})
}
