package text

import (
	"regexp"
	"sync"
)

// Expression returns a function that compiles a regular expression at its first call, so that unused expressions cost
// nothing at the start. An invalid expression panics at the first call.
func Expression(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
