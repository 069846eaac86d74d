package domain

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

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
