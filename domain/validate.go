package domain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of what one item may hold.
const (
	MaxContent  = 64 << 10 // bytes
	maxTask     = 2000     // characters, as all below unless noted
	maxAbstract = 4000
	maxOverview = 16000
	maxReason   = 2000
	maxScopes   = 32
	maxTags     = 64       // values in all; a key without values counts as one
	maxTag      = 256      // characters of a key or a value
	maxMeta     = 16 << 10 // bytes
	maxURI      = 1024     // bytes
	maxURLs     = 32
	maxURL      = 2048
	maxName     = 256
	maxHistory  = 50
	maxOrigins  = 1000 // events that an item was made from
)

// expression returns a function that compiles a regular expression at its first call, which shortens the start of a
// program.
func expression(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var eventID = expression(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func ifSet[T any](value *T, check func(T)) {
	if value != nil {
		check(*value)
	}
}

func oneOf[T ~string](p *Problems, field string, value T, all []T, required bool) {
	if value == "" && !required || slices.Contains(all, value) {
		return
	}
	p.Add(field, "must be one of %s", listed(all))
}

func listed[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, word := range all {
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}

// isValidText refuses text that a database or a reader cannot handle.
func isValidText(p *Problems, field, s string) bool {
	switch {
	case !utf8.ValidString(s):
		p.Add(field, "must be valid UTF-8")
		return false
	case strings.ContainsRune(s, 0):
		p.Add(field, "must not contain NUL characters")
		return false
	}
	return true
}

func atMost(p *Problems, field, s string, characters int) {
	if isValidText(p, field, s) && utf8.RuneCountInString(s) > characters {
		p.Add(field, "must have at most %d characters, has %d", characters, utf8.RuneCountInString(s))
	}
}

// IsItemID tells whether id is a valid item id.
func IsItemID(id string) bool { return isID(id, "._~-") }

func checkID(p *Problems, field, id string) {
	if !IsItemID(id) {
		p.Add(field, "must be 1 to 128 of A-Z a-z 0-9 . _ ~ - and begin with a letter or digit")
	}
}

func checkEventID(p *Problems, field, id string) {
	if !eventID().MatchString(id) {
		p.Add(field, "must be the id of an event, a UUID in lower case")
	}
}

func checkReason(s string) error {
	var p Problems
	atMost(&p, "reason", s, maxReason)
	return p.Err()
}

func checkTrace(p *Problems, field, s string) { atMost(p, field, s, maxName) }
