package embedding

import (
	"embed"
	"strings"
	"sync"

	"github.com/annals-kb/annals/domain/text"
)

//go:embed relations/*.txt
var relationFiles embed.FS

// synonyms has the groups of each term, numbered by their lines. It is read for the first question.
var synonyms = sync.OnceValue(func() map[string][]int {
	groups, line := map[string][]int{}, 0
	for _, name := range []string{"everyday", "software"} {
		content, err := relationFiles.ReadFile("relations/" + name + ".txt")
		if err != nil {
			panic(err) // the files are part of the program
		}
		for row := range strings.Lines(string(content)) {
			line++
			words, is := strings.CutPrefix(row, "=")
			if !is {
				continue
			}
			for w := range strings.FieldsSeq(words) {
				for _, term := range text.Query(w) {
					groups[term.Term] = append(groups[term.Term], line)
				}
			}
		}
	}
	return groups
})
