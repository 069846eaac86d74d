package console

import (
	"fmt"
	"unicode"
)

// The languages of the pages.
const (
	english = "en"
	chinese = "zh"
)

// say is a text of the pages in a language. The English text is its name, and a format for args.
func say(language, text string, args ...any) string {
	if language == chinese {
		if translated, ok := inChinese[text]; ok {
			text = translated
		}
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
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
