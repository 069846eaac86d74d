package viking

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// line is a line that matches a pattern.
type line struct {
	Line    int    `json:"line"`
	URI     string `json:"uri"`
	Content string `json:"content"`
}

// grep finds lines below an address.
func (s *Server) grep(ctx context.Context, q *query) (any, error) {
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
	err = s.walkReadings(ctx, q, a, true, func(at address, leaf domain.Leaf) (more bool) {
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
func limitOr(given *int, otherwise int) int {
	if given == nil || *given < 0 {
		return otherwise
	}
	return *given
}

// glob finds names below an address.
func (s *Server) glob(ctx context.Context, q *query) (any, error) {
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
	err = s.walkReadings(ctx, q, a, false, func(at address, leaf domain.Leaf) (more bool) {
		names := leaf.URI.Names()[len(at.uri.Names()):]
		for depth := 1; depth <= len(names); depth++ { // includes the directories of the path
			path := strings.Join(names[:depth], "/")
			if !seen[path] && len(matches) < limit && wanted.MatchString(path) {
				matches = append(matches, a.format(at.uri.Join(names[:depth]...)))
			}
			if depth < len(names) || wanted.MatchString(path) {
				seen[path] = true
			}
		}
		return len(matches) < limit
	})
	slices.Sort(matches)
	return found(matches, false, err)
}

// globPattern turns a pattern into a regular expression. * and ? stay within a name, [a-z] and [!a-z] match one
// character, and ** crosses directories. A pattern matches at every level, unless it begins with a slash.
func globPattern(pattern string) *regexp.Regexp {
	var b strings.Builder
	rest, anchored := strings.CutPrefix(pattern, "/")
	if b.WriteString("^"); !anchored {
		b.WriteString("(?:.*/)?")
	}
	for rest != "" {
		class, size := classOf(rest)
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '?':
			b.WriteString("[^/]")
			rest = rest[1:]
		case size > 0:
			b.WriteString(class)
			rest = rest[size:]
		default:
			r := []rune(rest)[0]
			b.WriteString(regexp.QuoteMeta(string(r)))
			rest = rest[len(string(r)):]
		}
	}
	b.WriteString("$")
	compiled, err := regexp.Compile(b.String())
	if err != nil { // only a pattern that is not valid UTF-8 could fail, and the caller has checked that
		return regexp.MustCompile(`^\b\B$`)
	}
	return compiled
}

// classOf parses the character class at the start of a pattern. It returns the regular expression and the size in the
// pattern; 0 if there is none. A class never matches a slash.
func classOf(pattern string) (class string, size int) {
	inside, is := strings.CutPrefix(pattern, "[")
	inside, negated := strings.CutPrefix(inside, "!")
	if !is || inside == "" {
		return "", 0
	}
	end := strings.Index(inside[1:], "]") // a leading ] is a character of the class
	if end < 0 {
		return "", 0
	}
	members := []rune(inside[:end+1])
	var b strings.Builder
	for i := 0; i < len(members); i++ {
		from, to := members[i], members[i]
		if i+2 < len(members) && members[i+1] == '-' {
			to, i = members[i+2], i+2
		}
		for _, part := range [][2]rune{{from, min(to, '/'-1)}, {max(from, '/'+1), to}} {
			if part[0] <= part[1] {
				b.WriteString(`\x{` + strconv.FormatInt(int64(part[0]), 16) + `}-\x{` + strconv.FormatInt(int64(part[1]), 16) + `}`)
			}
		}
	}
	size = len(pattern) - len(inside) + end + 2
	switch {
	case negated:
		return "[^/" + b.String() + "]", size
	case b.Len() == 0: // the class is empty
		return `[^\x00-\x{10FFFF}]`, size
	}
	return "[" + b.String() + "]", size
}
