// Package scrub replaces secrets and personal data in texts. Its one rule: scrubbing what is scrubbed changes nothing.
package scrub

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Class says what kind of secret was found in a text.
type Class string

// The classes that are found unless they are switched off.
const (
	APIKey     Class = "api_key"
	JWT        Class = "jwt"
	PrivateKey Class = "private_key"
	Email      Class = "email"
	Phone      Class = "phone"
	Card       Class = "cc"
)

// Classes lists them.
func Classes() []Class { return []Class{APIKey, JWT, PrivateKey, Email, Phone, Card} }

// Mark is what stands in a text in the place of a secret, such as [REDACTED_EMAIL].
func (c Class) Mark() string { return "[REDACTED_" + strings.ToUpper(string(c)) + "]" }

// Pattern finds secrets that only its author knows of.
type Pattern struct {
	Class      Class  // one of ours, or a name of its own: a-z, digits and _, at most 32
	Expression string // RE2, at most 256 bytes; must not match nothing
}

// What a scrubber takes at most: every pattern reads every text.
const (
	MostPatterns   = 32
	LongestPattern = 256
)

// Redactions count what was redacted, by class.
type Redactions map[Class]int

// Scrubber replaces secrets and personal data in texts by marks. Scrubbing what is scrubbed changes nothing.
// It is safe for concurrent use.
type Scrubber struct {
	off      map[Class]bool
	patterns []compiled
}

type compiled struct {
	class Class
	re    *regexp.Regexp
}

// New makes a scrubber without some classes and with some patterns. The error names every bad one.
func New(off []Class, patterns []Pattern) (*Scrubber, error) {
	s := &Scrubber{off: map[Class]bool{}}
	for _, class := range off {
		s.off[class] = true
	}
	var problems []error
	if len(patterns) > MostPatterns {
		problems = append(problems, fmt.Errorf("at most %d patterns", MostPatterns))
	}
	for i, p := range patterns {
		re, err := p.compile()
		if err != nil {
			problems = append(problems, fmt.Errorf("pattern %d: %w", i+1, err))
			continue
		}
		s.patterns = append(s.patterns, compiled{p.Class, re})
	}
	return s, errors.Join(problems...)
}

var className = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Validate says what is wrong with the pattern, without its text.
func (p Pattern) Validate() error {
	_, err := p.compile()
	return err
}

func (p Pattern) compile() (*regexp.Regexp, error) {
	if !className.MatchString(string(p.Class)) {
		return nil, errors.New("the class must be 1 to 32 of a-z 0-9 _ and begin with a letter")
	}
	if len(p.Expression) > LongestPattern {
		return nil, fmt.Errorf("must have at most %d bytes", LongestPattern)
	}
	re, err := regexp.Compile(p.Expression)
	switch {
	case err != nil:
		return nil, errors.New("is no regular expression (RE2)") // its text may be what must not be told
	case re.MatchString(""):
		return nil, errors.New("must not match nothing")
	}
	return re, nil
}

// Scrub gives the text without its secrets, and what they were; nil if there were none.
//
// Marks divide a text: what lies between two is scrubbed as if it stood alone, again and again until nothing
// is found. So nothing is found the second time.
func (s *Scrubber) Scrub(text string) (string, Redactions) {
	if s.isClean(text) {
		return text, nil
	}
	w := scrubbing{scrubber: s}
	for rest := text; ; {
		at, length := findMark(rest)
		if at < 0 {
			w.part(rest)
			break
		}
		w.part(rest[:at])
		w.out = append(w.out, rest[at:at+length]...)
		rest = rest[at+length:]
	}
	if w.found == nil {
		return text, nil
	}
	return string(w.out), w.found
}

// isClean tells whether there is nothing to scrub in a text without marks, as are most.
func (s *Scrubber) isClean(text string) bool {
	if at, _ := findMark(text); at >= 0 {
		return false
	}
	_, found := s.first(text)
	return !found
}

// scrubbing is one text on its way.
type scrubbing struct {
	scrubber *Scrubber
	out      []byte
	found    Redactions
}

// part scrubs what lies between two marks.
func (w *scrubbing) part(text string) {
	for {
		found, ok := w.scrubber.first(text)
		if !ok {
			w.out = append(w.out, text...)
			return
		}
		w.part(text[:found.start])
		w.out = append(w.out, found.class.Mark()...)
		if w.found == nil {
			w.found = Redactions{}
		}
		w.found[found.class]++
		text = text[found.end:]
	}
}

// span is where a secret is.
type span struct {
	start, end int
	class      Class
}

// first finds a secret with none before it that was found in the same way.
func (s *Scrubber) first(text string) (span, bool) {
	found, ok := s.scan(text)
	for _, p := range s.patterns {
		if s.off[p.class] {
			continue
		}
		if at := p.re.FindStringIndex(text); at != nil && at[1] > at[0] && (!ok || at[0] < found.start) {
			found, ok = span{at[0], at[1], p.class}, true
		}
	}
	return found, ok
}

const markBegins = "[REDACTED_"

// findMark finds the first mark and its length; -1 if there is none.
func findMark(text string) (at, length int) {
	for from := 0; ; {
		i := strings.Index(text[from:], markBegins)
		if i < 0 {
			return -1, 0
		}
		at = from + i
		end := at + len(markBegins)
		for end < len(text) && (isUpper(text[end]) || isDigit(text[end]) || text[end] == '_') {
			end++
		}
		if end < len(text) && text[end] == ']' && end > at+len(markBegins) {
			return at, end + 1 - at
		}
		from = at + 1
	}
}
