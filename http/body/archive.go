package body

import (
	"archive/zip"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Names are the names of an archive's files in UTF-8 and with slashes. Older programs write backslashes, and names in
// the encoding of their computer, which the archive does not record. Such names are in one encoding if one fits all.
func Names(files []*zip.File) (names []string) {
	var older strings.Builder
	for _, file := range files {
		if !utf8.ValidString(file.Name) {
			older.WriteString(file.Name + "\n")
		}
	}
	all := encodingOf(older.String())
	for _, file := range files {
		name := file.Name
		if from := all; !utf8.ValidString(name) {
			if from == charmap.CodePage437 {
				from = encodingOf(name)
			}
			name, _ = from.NewDecoder().String(name)
		}
		names = append(names, strings.ReplaceAll(strings.ToValidUTF8(name, "_"), `\`, "/"))
	}
	return names
}

var (
	cyrillic = regexp.MustCompile(`^[\x00-\x7f\p{Cyrillic}№]*$`)
	jumbled  = regexp.MustCompile(`[а-яё][А-ЯЁ]|[A-Za-z]\p{Cyrillic}|\p{Cyrillic}[A-Za-z]|[A-Za-z]\p{Han}[a-z]`)
	asian    = regexp.MustCompile( // characters and syllables, and their punctuation
		`^[\x00-\x7f\p{Han}\x{3000}-\x{30ff}\x{ff01}-\x{ff5e}\x{2014}-\x{2026}\x{2460}-\x{2473}·]*$`)
	// encodings are tried in order. The bytes of one language are seldom words in the encoding of another: common
	// Chinese characters are half-width in Japanese, and Japanese syllables mix the cases of Cyrillic.
	encodings = []struct {
		of    encoding.Encoding
		words *regexp.Regexp
	}{
		{charmap.CodePage866, regexp.MustCompile(`^[\x00-\x7f\p{Cyrillic}№]*[а-яё][\x00-\x7f\p{Cyrillic}№]*$`)},
		{japanese.ShiftJIS, asian},
		{simplifiedchinese.GBK, asian},
		{charmap.CodePage866, cyrillic},
	}
)

// encodingOf is the encoding in which names look like words, or that of DOS.
func encodingOf(names string) encoding.Encoding {
	for _, e := range encodings {
		text, err := e.of.NewDecoder().String(names)
		if err == nil && e.words.MatchString(text) && !jumbled.MatchString(text) {
			return e.of
		}
	}
	return charmap.CodePage437
}
