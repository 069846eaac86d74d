package scrub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
)

// Class is the kind of a secret.
type Class string

// The built-in classes, which can be switched off.
const (
	APIKey     Class = "api_key"
	JWT        Class = "jwt"
	PrivateKey Class = "private_key"
	Email      Class = "email"
	Phone      Class = "phone"
	Card       Class = "cc"
	Identity   Class = "id_number"
	IBAN       Class = "iban"
)

// Classes lists the built-in classes.
func Classes() []Class { return []Class{APIKey, JWT, PrivateKey, Email, Phone, Card, Identity, IBAN} }

// Mark replaces a secret in a text, such as [REDACTED_EMAIL].
func (c Class) Mark() string { return "[REDACTED_" + strings.ToUpper(string(c)) + "]" }

// Pattern finds secrets that are specific to a tenant.
type Pattern struct {
	Class      Class  // a built-in one, or a new name: a-z, digits and _, at most 32
	Expression string // RE2, at most 256 bytes; must not match the empty text
}

// Limits of a scrubber: every pattern reads every text.
const (
	MostPatterns   = 32
	LongestPattern = 256
)

// Redactions counts redactions by class.
type Redactions map[Class]int

// Scrubber replaces secrets and personal data in texts by marks. Scrubbing a scrubbed text changes nothing. It is
// safe for concurrent use.
type Scrubber struct {
	off      map[Class]bool
	patterns []compiled
}

type compiled struct {
	class Class
	re    *regexp.Regexp
}

// New makes a scrubber without the classes in off and with additional patterns. The error names every invalid
// pattern.
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

// Without is a scrubber that has further classes off.
func (s *Scrubber) Without(off []string) *Scrubber {
	if len(off) == 0 {
		return s
	}
	other := &Scrubber{off: maps.Clone(s.off), patterns: s.patterns}
	for _, class := range off {
		other.off[Class(class)] = true
	}
	return other
}

var className = text.Expression(`^[a-z][a-z0-9_]{0,31}$`)

// Validate reports what is wrong with the pattern, without quoting it.
func (p Pattern) Validate() error {
	_, err := p.compile()
	return err
}

func (p Pattern) compile() (*regexp.Regexp, error) {
	if !className().MatchString(string(p.Class)) {
		return nil, errors.New("the class must be 1 to 32 of a-z 0-9 _ and begin with a letter")
	}
	if len(p.Expression) > LongestPattern {
		return nil, fmt.Errorf("must have at most %d bytes", LongestPattern)
	}
	re, err := regexp.Compile(p.Expression)
	switch {
	case err != nil:
		return nil, errors.New("is no regular expression (RE2)") // its text may be secret
	case re.MatchString(""):
		return nil, errors.New("must not match nothing")
	}
	return re, nil
}

// Scrub returns the text without its secrets, and counts them; nil if there are none. Its time is linear in the
// length of the text. The only error is the context's.
//
// Marks divide a text. Each part between two marks is scrubbed again as a text of its own until nothing is found, so
// a second call finds nothing. A part with secrets left after mostRounds is replaced as a whole.
func (s *Scrubber) Scrub(ctx context.Context, text string) (string, Redactions, error) {
	w := scrubbing{Scrubber: s, ctx: ctx}
	return w.scrub(text)
}

// scrubbing is the scrubbing of one text.
type scrubbing struct {
	*Scrubber
	ctx   context.Context // of one call
	out   []byte
	found Redactions
	steps int // bytes read so far, which determine the time
	look  int // the number of steps at which to check the context
	err   error
}

// stepsAtOnce is the number of steps between two checks of the context: some milliseconds.
const stepsAtOnce = 1 << 18

// spend counts steps, and reports whether to continue.
func (w *scrubbing) spend(steps int) bool {
	w.steps += steps
	return w.steps < w.look || w.goesOn()
}

func (w *scrubbing) goesOn() bool {
	if w.err == nil {
		w.look, w.err = w.steps+stepsAtOnce, w.ctx.Err()
	}
	return w.err == nil
}

func (w *scrubbing) scrub(text string) (string, Redactions, error) {
	at, length := findMark(text)
	if at < 0 { // the usual case
		if spans := w.secrets(text); len(spans) > 0 {
			w.replace(text, spans, 0)
		}
	} else {
		rest := text
		for ; at >= 0; at, length = findMark(rest) {
			w.part(rest[:at], 0)
			w.out = append(w.out, rest[at:at+length]...)
			rest = rest[at+length:]
		}
		w.part(rest, 0)
	}
	switch {
	case w.err != nil:
		return "", nil, w.err
	case w.found == nil:
		return text, nil, nil
	}
	return string(w.out), w.found, nil
}

// mostRounds limits how often the rest between secrets is scrubbed again. Real texts need two rounds.
const mostRounds = 8

// part scrubs the text between two marks.
func (w *scrubbing) part(text string, round int) { w.replace(text, w.secrets(text), round) }

// replace puts marks in place of secrets, and scrubs the text between them.
func (w *scrubbing) replace(text string, secrets []span, round int) {
	switch {
	case len(secrets) == 0:
		w.out = append(w.out, text...)
		return
	case round == mostRounds:
		w.mark(secrets[0].class)
		return
	}
	from := 0
	for _, secret := range secrets {
		w.part(text[from:secret.start], round+1)
		w.mark(secret.class)
		from = secret.end
	}
	w.part(text[from:], round+1)
}

func (w *scrubbing) mark(class Class) {
	w.out = append(w.out, class.Mark()...)
	if w.found == nil {
		w.found = Redactions{}
	}
	w.found[class]++
}

// span is the location of a secret.
type span struct {
	start, end int
	class      Class
}

// secrets finds the secrets in a text in order: those of the built-in classes and, between them, those of each
// pattern.
func (w *scrubbing) secrets(text string) []span {
	if text == "" {
		return nil
	}
	if keys := w.privateKeys(text); len(keys) > 0 {
		return keys // the rest is scrubbed in the next round
	}
	spans := w.scan(text)
	for _, p := range w.patterns {
		if w.off[p.class] || !w.spend(len(text)) || !p.re.MatchString(text) {
			continue
		}
		from, all := 0, make([]span, 0, len(spans)+1)
		for _, known := range spans {
			all = append(w.matches(all, p, text, from, known.start), known)
			from = known.end
		}
		spans = w.matches(all, p, text, from, len(text))
	}
	return spans
}

// matches adds the matches of a pattern in a part of a text. A pattern may read far ahead for every match. If it has
// read the part mostReads times over, the rest of the part counts as a match.
func (w *scrubbing) matches(spans []span, p compiled, text string, from, to int) []span {
	const mostReads = 8
	left := mostReads * (to - from + 1)
	for from < to && w.err == nil {
		ahead := reader{scrubbing: w, text: text[from:to], left: &left}
		at := p.re.FindReaderIndex(&ahead)
		switch {
		case left < 0:
			return append(spans, span{from, to, p.class})
		case at == nil:
			return spans
		case at[1] > at[0]:
			spans = append(spans, span{from + at[0], from + at[1], p.class})
		}
		from += max(at[1], 1)
	}
	return spans
}

// reader passes a text to a pattern while there are steps left.
type reader struct {
	*scrubbing
	text string
	left *int
}

func (r *reader) ReadRune() (rune, int, error) {
	c, size := utf8.DecodeRuneInString(r.text)
	if *r.left -= size; size == 0 || *r.left < 0 || !r.spend(size) {
		return 0, 0, io.EOF
	}
	r.text = r.text[size:]
	return c, size, nil
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
