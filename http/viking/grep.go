package viking

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// patterns finds lines and names.
type patterns struct{ tree tree }

func (s patterns) routes(on route) {
	on("POST /api/v1/search/grep", s.grep)
	on("POST /api/v1/search/glob", s.glob)
}

// line is a line that matches a pattern.
type line struct {
	Line    int    `json:"line"`
	URI     string `json:"uri"`
	Content string `json:"content"`
}

// grep finds lines below an address.
func (s patterns) grep(ctx context.Context, q *query) (any, error) {
	var in struct {
		URI        string `json:"uri"`
		Pattern    string `json:"pattern"`
		IgnoreCase bool   `json:"case_insensitive"`
		Limit      *int   `json:"node_limit"`
		Exclude    string `json:"exclude_uri"`
		Levels     *int   `json:"level_limit"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	q.required("pattern", in.Pattern)
	q.required("uri", in.URI)
	pattern := in.Pattern
	if in.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		q.found.Add("pattern", "is no regular expression")
	}
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	a, err := q.caller.address("uri", in.URI)
	if err != nil {
		return nil, err
	}
	exclude := address{}
	if in.Exclude != "" {
		if exclude, err = q.caller.address("exclude_uri", in.Exclude); err != nil {
			return nil, err
		}
	}
	limit, levels := limitOr(in.Limit, 256), limitOr(in.Levels, 10)
	matches, beyond := []line{}, false
	err = s.tree.walkReadings(ctx, q, a, true, func(at address, leaf domain.Leaf) (more bool) {
		if in.Exclude != "" && leaf.URI.Within(exclude.uri) || len(leaf.URI.Names())-len(at.uri.Names()) > levels {
			return true
		}
		number := 0
		for text := range strings.Lines(leaf.Content) {
			number++
			if text = strings.TrimRight(text, "\r\n"); !wanted.MatchString(text) {
				continue
			}
			if beyond = len(matches) == limit; beyond {
				return false
			}
			matches = append(matches, line{Line: number, URI: a.format(leaf.URI), Content: text})
		}
		return true
	})
	return found(matches, beyond, err)
}

// found answers with matches, whether there are more, and whether the search was truncated.
func found[T any](matches []T, more bool, err error) (any, error) {
	far := errors.Is(err, errTruncated)
	if far {
		err = nil
	}
	answer := map[string]any{"matches": matches, "count": len(matches)}
	if more {
		answer["more"] = true
	}
	if far {
		answer["incomplete"] = true
	}
	return answer, err
}

// limitOr is the given limit or the default.
func limitOr(limit *int, otherwise int) int {
	if limit == nil || *limit < 0 {
		return otherwise
	}
	return *limit
}

// glob finds names below an address.
func (s patterns) glob(ctx context.Context, q *query) (any, error) {
	in := struct {
		Pattern string `json:"pattern"`
		URI     string `json:"uri"`
		Limit   *int   `json:"node_limit"`
	}{URI: string(domain.RootURI)}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	q.required("pattern", in.Pattern)
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	a, err := q.caller.address("uri", in.URI)
	if err != nil {
		return nil, err
	}
	const most = 10_000
	wanted, limit := globPattern(in.Pattern), min(limitOr(in.Limit, most), most)
	matches := []string{}
	seen := map[string]bool{}
	err = s.tree.walkReadings(ctx, q, a, false, func(at address, leaf domain.Leaf) (more bool) {
		names := leaf.URI.Names()[len(at.uri.Names()):]
		for depth := 1; depth <= len(names); depth++ { // includes the directories of the path
			inside := strings.Join(names[:depth], "/")
			if !seen[inside] && len(matches) < limit && matchNames(wanted, names[:depth]) {
				matches = append(matches, a.format(at.uri.Join(names[:depth]...)))
			}
			seen[inside] = true
		}
		return len(matches) < limit
	})
	slices.Sort(matches)
	return found(matches, false, err)
}

// escapes turn a pattern into one of [path.Match], where ! negates a class.
var escapes = strings.NewReplacer(`\`, `\\`, "[!", "[^", "[^", `[\^`)

// globPattern splits a pattern into patterns of names. * and ? stay within a name, [a-z] and [!a-z] match one
// character, and ** matches any number of directories. A pattern matches at every level, unless it begins with a
// slash.
func globPattern(pattern string) []string {
	rest, anchored := strings.CutPrefix(escapes.Replace(pattern), "/")
	names := strings.Split(rest, "/")
	if !anchored {
		names = append([]string{"**"}, names...)
	}
	if names[len(names)-1] == "**" { // which matches what lies in a directory
		names = append(names, "*")
	}
	return names
}

// matchNames tells whether a path matches a pattern. If a name does not match, the last ** takes another directory.
func matchNames(pattern, names []string) bool {
	at, crossing, taken := 0, -1, 0
	for i := 0; i < len(names); {
		if at < len(pattern) && pattern[at] == "**" {
			at, crossing, taken = at+1, at, i
			continue
		}
		if at < len(pattern) {
			if is, _ := path.Match(pattern[at], names[i]); is { // a bad pattern matches nothing
				at, i = at+1, i+1
				continue
			}
		}
		if crossing < 0 {
			return false
		}
		taken++
		at, i = crossing+1, taken
	}
	return at == len(pattern)
}
