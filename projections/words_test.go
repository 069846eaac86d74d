package projections_test

import (
	"fmt"
	"strings"
)

// distinctWords are so many different words.
func distinctWords(n int) string {
	var words strings.Builder
	for i := range n {
		fmt.Fprintf(&words, "w%dx ", i)
	}
	return words.String()
}
