package domain

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

var escapedNUL = expression(`(^|[^\\])(\\\\)*\\u0000`) // the backslash itself not escaped

func checkTask(p *Problems, s string) { atMost(p, "task", s, maxTask) }

func checkContent(p *Problems, s string, mayBeEmpty bool) {
	switch {
	case !isValidText(p, "content", s):
	case strings.TrimSpace(s) == "" && !mayBeEmpty:
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
		if key == "" {
			p.Add("tags", "keys must not be empty")
		}
		atMost(p, "tags", key, maxTag)
		for _, value := range tags[key] {
			if value == "" {
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
	case json.Unmarshal(meta, &object) != nil:
		p.Add("meta", "must be a JSON object")
	case escapedNUL().Match(meta):
		p.Add("meta", "must not contain NUL characters")
	}
}

// escapes are a surrogate pair, half of one, and any other escape.
var escapes = expression(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// replacement stands for half a surrogate pair, as it does where JSON is read into strings.
const replacement = `\ufffd`

// compactJSON is the form in which meta is kept and compared: without white space and half characters, which PostgreSQL
// refuses to read, nil for none. What is not JSON stays as it is.
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

// replaceLoneSurrogates is JSON without half characters.
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

// checkURI wants a place for an item: any but the root.
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
