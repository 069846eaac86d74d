package console

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"
)

// The languages of the pages.
const (
	english = "en"
	chinese = "zh"
)

//go:embed chinese.txt
var chineseFile string

// inChinese are the Chinese texts of the pages by their English ones. A test finds those that are missing.
var inChinese = sync.OnceValue(func() map[string]string { return readTexts(chineseFile) })

// readTexts reads a file of texts. The line after each English text is the same in another language, after a tab.
func readTexts(file string) map[string]string {
	texts := map[string]string{}
	text := ""
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		if translated, ok := strings.CutPrefix(line, "\t"); ok {
			texts[text] = translated
		} else {
			text = line
		}
	}
	return texts
}

// say is a text of the pages in a language. The English text is its name, and a format for args.
func say(language, text string, args ...any) string {
	if language == chinese {
		if translated, ok := inChinese()[text]; ok {
			text = translated
		}
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// fixed is a text of the server, which may begin with a name. It stays in English if it has no translation.
func fixed(language, text string) string {
	if translated := say(language, text); translated != text {
		return translated
	}
	name, rest, _ := strings.Cut(text, " ")
	return strings.TrimSpace(name + " " + say(language, rest))
}

// languageOf guesses the language of a text that people or agents wrote: Chinese if a sixth of its characters are.
// Browsers choose fonts and voices by it.
func languageOf(text string) string {
	han, all := 0, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if unicode.Is(unicode.Han, r) {
			han++
		}
	}
	if all > 0 && 6*han >= all {
		return chinese
	}
	return english
}
