package domain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

func checkEntity(p *Problems, field string, e Entity) {
	if _, err := ParseEntity(string(e)); err != nil {
		p.Add(field, "%s", err)
	}
}

func checkScopes(p *Problems, scopes []Scope) {
	if len(scopes) < 1 || len(scopes) > maxScopes {
		p.Add("scopes", "must name 1 to %d scopes, names %d", maxScopes, len(scopes))
	}
	seen := map[Scope]bool{}
	for i, scope := range scopes {
		if _, err := ParseScope(string(scope)); err != nil {
			p.Add(fmt.Sprintf("scopes[%d]", i), "%s", err)
		} else if seen[scope] {
			p.Add(fmt.Sprintf("scopes[%d]", i), "is named twice")
		}
		seen[scope] = true
	}
}

func checkVisibility(p *Problems, claimed Visibility, scopes []Scope, owner Entity) {
	if claimed == "" {
		return
	}
	oneOf(p, "visibility", claimed, visibilities, true)
	if derived := VisibilityOf(scopes, owner); slices.Contains(visibilities, claimed) && claimed != derived {
		p.Add("visibility", "contradicts the scopes, which make it %s", derived)
	}
}

func checkOrigins(p *Problems, ids []string) {
	if len(ids) > maxOrigins {
		p.Add("derived_from", "must name at most %d events, names %d", maxOrigins, len(ids))
	}
	for i, id := range ids {
		checkEventID(p, fmt.Sprintf("derived_from[%d]", i), id)
	}
}

func checkSource(p *Problems, s Source) {
	atMost(p, "source.name", s.Name, maxName)
	atMost(p, "source.category", s.Category, maxName)
	atMost(p, "source.agent_id", s.AgentID, maxName)
	atMost(p, "source.submitted_by", s.SubmittedBy, maxName)
	checkTrace(p, "source.trace_id", s.TraceID)
	if len(s.URLs) > maxURLs {
		p.Add("source.urls", "must be at most %d, are %d", maxURLs, len(s.URLs))
	}
	for i, address := range s.URLs {
		field := fmt.Sprintf("source.urls[%d]", i)
		atMost(p, field, address, maxURL)
		if parsed, err := url.Parse(address); err != nil || parsed.Scheme == "" {
			p.Add(field, "must be an absolute URL")
		}
	}
	if s.Timestamp == "" {
		return
	}
	layout := time.RFC3339
	if len(s.Timestamp) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	if _, err := time.Parse(layout, s.Timestamp); err != nil {
		p.Add("source.timestamp", "must be a time (RFC 3339) or a date (YYYY-MM-DD)")
	}
}

func checkEval(p *Problems, e *Eval) {
	if e == nil {
		return
	}
	const most = 1_000_000_000
	if e.Helpful < 0 || e.Helpful > most {
		p.Add("eval.helpful", "must be 0 to %d", most)
	}
	if e.Harmful < 0 || e.Harmful > most {
		p.Add("eval.harmful", "must be 0 to %d", most)
	}
	if !(e.Confidence >= 0 && e.Confidence <= 1) {
		p.Add("eval.confidence", "must be 0 to 1")
	}
	checkHistory(p, "eval.helpful_history", e.HelpfulHistory)
	checkHistory(p, "eval.harmful_history", e.HarmfulHistory)
}

func checkHistory(p *Problems, field string, uses []Use) {
	if len(uses) > maxHistory {
		p.Add(field, "must have at most %d entries, has %d", maxHistory, len(uses))
	}
	for i, use := range uses {
		at := fmt.Sprintf("%s[%d]", field, i)
		atMost(p, at+".query", use.Query, maxReason)
		atMost(p, at+".outcome", use.Outcome, maxReason)
		checkTrace(p, at+".trace_id", use.TraceID)
		if use.By != "" {
			checkEntity(p, at+".by", use.By)
		}
	}
}

var escapedNUL = expression(`(^|[^\\])(\\\\)*\\u0000`) // the backslash itself not escaped

func checkTask(p *Problems, s string) { atMost(p, "task", s, maxTask) }

func checkContent(p *Problems, s string, mayBeEmpty bool) {
	switch {
	case !isValidText(p, "content", s):
	case IsBlank(s) && !mayBeEmpty:
		p.Add("content", "must not be empty")
	case len(s) > MaxContent:
		p.Add("content", "must have at most %d bytes, has %d", MaxContent, len(s))
	}
}

func checkTags(p *Problems, tags Tags) {
	if len(tags) == 0 {
		return
	}
	all := 0
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if IsBlank(key) {
			p.Add("tags", "keys must not be empty")
		}
		atMost(p, "tags", key, maxTag)
		for _, value := range tags[key] {
			if IsBlank(value) {
				p.Add("tags", "values must not be empty")
			}
			atMost(p, "tags", value, maxTag)
		}
		all += max(1, len(tags[key]))
	}
	if all > maxTags {
		p.Add("tags", "must have at most %d values in all, have %d", maxTags, all)
	}
}

func checkMeta(p *Problems, meta json.RawMessage) {
	meta = compactJSON(meta)
	if meta == nil {
		return
	}
	var object map[string]json.RawMessage
	switch {
	case !isValidText(p, "meta", string(meta)):
	case len(meta) > maxMeta:
		p.Add("meta", "must have at most %d bytes as JSON, has %d", maxMeta, len(meta))
	case isDeep(meta):
		p.Add("meta", "must not nest more than %d objects and arrays", maxNesting)
	case json.Unmarshal(meta, &object) != nil:
		p.Add("meta", "must be a JSON object")
	case escapedNUL().Match(meta):
		p.Add("meta", "must not contain NUL characters")
	}
}

// isDeep tells whether JSON nests more than [maxNesting] objects and arrays. SQLite reads no more than 1,000.
func isDeep(written []byte) bool {
	depth, isQuoted := 0, false
	for i := 0; i < len(written) && depth <= maxNesting; i++ {
		switch c := written[i]; {
		case c == '"':
			isQuoted = !isQuoted
		case c == '\\':
			i++ // only strings have it
		case isQuoted:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
	}
	return depth > maxNesting
}

// escapes matches a surrogate pair, a lone surrogate, and any other escape.
var escapes = expression(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// replacement replaces a lone surrogate, as Go's JSON decoder does.
const replacement = `\ufffd`

// compactJSON is the form in which meta is stored and compared: without white space and lone surrogates, which
// PostgreSQL refuses; nil for none. Invalid JSON stays as it is.
func compactJSON(meta json.RawMessage) json.RawMessage {
	if len(meta) == 0 {
		return meta
	}
	var b bytes.Buffer
	if json.Compact(&b, meta) != nil {
		return meta
	}
	if b.Len() == 0 || b.String() == "null" {
		return nil
	}
	return replaceLoneSurrogates(b.Bytes())
}

// replaceLoneSurrogates is JSON with lone surrogates replaced.
func replaceLoneSurrogates(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	return escapes().ReplaceAllFunc(text, func(escape []byte) []byte {
		if len(escape) == len(replacement) {
			return []byte(replacement)
		}
		return escape
	})
}

// checkURI accepts the URI of an item: any but the root.
func checkURI(p *Problems, uri string) {
	_, err := ParseURI(uri)
	invalid, is := errors.AsType[*Invalid](err)
	switch {
	case is:
		*p = append(*p, invalid.Problems...)
	case err != nil:
		p.Add("uri", "must not contain . or .. as a name, a backslash, or a drive")
	case URI(uri) == RootURI:
		p.Add("uri", "must name something")
	}
}

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
	switch {
	case !isValidText(p, field, s):
	case utf8.RuneCountInString(s) > characters:
		p.Add(field, "must have at most %d characters, has %d", characters, utf8.RuneCountInString(s))
	case strings.TrimSpace(s) != "" && IsBlank(s):
		p.Add(field, "must have characters that can be seen, or be left out")
	}
}

// IsBlank tells whether a text has no character that can be seen.
func IsBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		const brailleBlank = '\u2800'
		return r < utf8.RuneSelf && r > ' ' || !unicode.IsSpace(r) && r != brailleBlank &&
			!unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
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
