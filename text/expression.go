package text

import (
	"regexp"
	"sync"
)

// Expression returns a function that compiles a regular expression at its first call. Expressions of rules that most
// runs of a program never use then cost nothing at its start. A wrong expression panics at the first call.
func Expression(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
