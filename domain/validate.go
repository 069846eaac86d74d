package domain

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what one item may hold.
const (
	MaxContent  = 64 << 10 // bytes
	maxTask     = 2000     // characters, as all below unless they say bytes
	maxAbstract = 4000
	maxOverview = 16000
	maxReason   = 2000
	maxScopes   = 32
	maxTags     = 64       // values in all
	maxTag      = 256      // characters of a key or a value
	maxMeta     = 16 << 10 // bytes
	maxURI      = 1024     // bytes
	maxURLs     = 32
	maxURL      = 2048
	maxName     = 256
	maxHistory  = 50
)

var (
	knowledgeID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$`)
	vikingURI   = regexp.MustCompile(`^viking://[^\s\x00-\x1f\x7f]+$`)
)

func (c Remember) validate() error {
	var p Problems
	r := c.Knowledge
	checkID(&p, "id", c.ID)
	oneOf(&p, "type", r.Type, Types, true)
	oneOf(&p, "context_type", r.ContextType, ContextTypes, true)
	oneOf(&p, "category", r.Category, Categories, false)
	oneOf(&p, "polarity", r.Polarity, Polarities, true)
	oneOf(&p, "media", r.Media, MediaTypes, true)
	checkScopes(&p, r.Scopes)
	checkEntity(&p, "owner", r.Owner)
	checkVisibility(&p, c.Visibility, r.Scopes, r.Owner)
	checkSource(&p, r.Source)
	checkEval(&p, r.Baseline)
	checkTask(&p, r.Text.Task)
	checkContent(&p, r.Text.Content)
	atMost(&p, "abstract", r.Text.Abstract, maxAbstract)
	atMost(&p, "overview", r.Text.Overview, maxOverview)
	checkTags(&p, r.Text.Tags)
	checkMeta(&p, r.Text.Meta)
	checkURI(&p, r.Text.URI)
	return p.Err()
}

func (c Revise) validate() error {
	var p Problems
	r := c.Changes
	given(r.Type, func(v Type) { oneOf(&p, "type", v, Types, true) })
	given(r.Category, func(v Category) { oneOf(&p, "category", v, Categories, false) })
	given(r.Polarity, func(v Polarity) { oneOf(&p, "polarity", v, Polarities, true) })
	given(r.Task, func(v string) { checkTask(&p, v) })
	given(r.Content, func(v string) { checkContent(&p, v) })
	given(r.Abstract, func(v string) { atMost(&p, "abstract", v, maxAbstract) })
	given(r.Overview, func(v string) { atMost(&p, "overview", v, maxOverview) })
	given(r.Tags, func(v Tags) { checkTags(&p, v) })
	given(r.Meta, func(v json.RawMessage) { checkMeta(&p, v) })
	if c.Scopes != nil {
		checkScopes(&p, c.Scopes)
	}
	if c.Owner != "" {
		checkEntity(&p, "owner", c.Owner)
	}
	if c.URI != "" {
		checkURI(&p, c.URI)
	}
	oneOf(&p, "visibility", c.Visibility, visibilities, false)
	return p.Err()
}

func given[T any](value *T, check func(T)) {
	if value != nil {
		check(*value)
	}
}

func oneOf[T ~string](p *Problems, field string, value T, all []T, required bool) {
	if value == "" && !required || slices.Contains(all, value) {
		return
	}
	words := make([]string, len(all))
	for i, word := range all {
		words[i] = string(word)
	}
	p.Add(field, "must be one of %s", strings.Join(words, ", "))
}

// clean refuses text that a database or a reader would choke on.
func clean(p *Problems, field, s string) bool {
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
	if clean(p, field, s) && utf8.RuneCountInString(s) > characters {
		p.Add(field, "must have at most %d characters, has %d", characters, utf8.RuneCountInString(s))
	}
}

func checkID(p *Problems, field, id string) {
	if !knowledgeID.MatchString(id) {
		p.Add(field, "must be 1 to 128 of A-Z a-z 0-9 . _ ~ - and begin with a letter or digit")
	}
}

func checkTask(p *Problems, s string) { atMost(p, "task", s, maxTask) }

func checkContent(p *Problems, s string) {
	switch {
	case !clean(p, "content", s):
	case strings.TrimSpace(s) == "":
		p.Add("content", "must not be empty")
	case len(s) > MaxContent:
		p.Add("content", "must have at most %d bytes, has %d", MaxContent, len(s))
	}
}

func checkReason(s string) error {
	var p Problems
	atMost(&p, "reason", s, maxReason)
	return p.Err()
}

func checkTrace(p *Problems, field, s string) { atMost(p, field, s, maxName) }

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
		field := fmt.Sprintf("scopes[%d]", i)
		if _, err := ParseScope(string(scope)); err != nil {
			p.Add(field, "%s", err)
		} else if seen[scope] {
			p.Add(field, "is named twice")
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
	_, whole := time.Parse(time.RFC3339, s.Timestamp)
	_, date := time.Parse(time.DateOnly, s.Timestamp)
	if whole != nil && date != nil {
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

func checkTags(p *Problems, tags Tags) {
	values := 0
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if key == "" {
			p.Add("tags", "keys must not be empty")
		}
		atMost(p, "tags", key, maxTag)
		for _, value := range tags[key] {
			atMost(p, "tags", value, maxTag)
			values++
		}
	}
	if values > maxTags {
		p.Add("tags", "must have at most %d values in all, have %d", maxTags, values)
	}
}

func checkMeta(p *Problems, meta json.RawMessage) {
	if len(meta) == 0 {
		return
	}
	var object map[string]json.RawMessage
	switch {
	case !clean(p, "meta", string(meta)):
	case len(meta) > maxMeta:
		p.Add("meta", "must have at most %d bytes as JSON, has %d", maxMeta, len(meta))
	case json.Unmarshal(meta, &object) != nil:
		p.Add("meta", "must be a JSON object")
	case strings.Contains(string(meta), `\u0000`):
		p.Add("meta", "must not contain NUL characters")
	}
}

func checkURI(p *Problems, uri string) {
	switch {
	case !clean(p, "uri", uri):
	case len(uri) > maxURI:
		p.Add("uri", "must have at most %d bytes, has %d", maxURI, len(uri))
	case !vikingURI.MatchString(uri):
		p.Add("uri", "must begin with viking:// and contain no spaces")
	case slices.ContainsFunc(strings.Split(uri, "/"), func(s string) bool { return s == "." || s == ".." }):
		p.Add("uri", "must not contain . or .. as a segment")
	}
}
