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
func Names(files []*zip.File) []string {
	var older, names []string
	for _, file := range files {
		if !utf8.ValidString(file.Name) {
			older = append(older, file.Name)
		}
	}
	all := encodingOf(strings.Join(older, "\n"))
	for _, file := range files {
		name := file.Name
		if !utf8.ValidString(name) {
			from := all
			if from == nil {
				from = encodingOf(name)
			}
			if from == nil {
				from = charmap.CodePage437
			}
			name, _ = from.NewDecoder().String(name)
		}
		names = append(names, strings.ReplaceAll(strings.ToValidUTF8(name, "_"), `\`, "/"))
	}
	return names
}

var (
	cyrillic    = regexp.MustCompile(`^[\x00-\x7f\p{Cyrillic}№]*$`)
	notCyrillic = regexp.MustCompile(`[а-яё][А-ЯЁ]|[A-Za-z]\p{Cyrillic}|\p{Cyrillic}[A-Za-z]`)
	eastAsian   = regexp.MustCompile( // characters and syllables, and their punctuation
		`^[\x00-\x7f\p{Han}\x{3000}-\x{30ff}\x{ff01}-\x{ff5e}\x{2014}-\x{2026}\x{2460}-\x{2473}·]*$`)
	notAsian  = regexp.MustCompile(`[A-Za-z]\p{Han}[a-z]`)
	lowerCase = regexp.MustCompile(`[а-яё]`)
)

// encodingOf is the encoding in which names look like words; nil for none. The bytes of a language are seldom words of
// another one: common Chinese characters are half-width in Japanese, and Japanese syllables mix Cyrillic cases.
func encodingOf(names string) encoding.Encoding {
	in := func(e encoding.Encoding) string {
		text, err := e.NewDecoder().String(names)
		if err != nil {
			return "\ufffd"
		}
		return text
	}
	russian := in(charmap.CodePage866)
	isRussian := cyrillic.MatchString(russian) && !notCyrillic.MatchString(russian)
	if isRussian && lowerCase.MatchString(russian) {
		return charmap.CodePage866
	}
	for _, e := range []encoding.Encoding{japanese.ShiftJIS, simplifiedchinese.GBK} {
		if text := in(e); eastAsian.MatchString(text) && !notAsian.MatchString(text) {
			return e
		}
	}
	if isRussian {
		return charmap.CodePage866
	}
	return nil
}
