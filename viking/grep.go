package viking

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// line is one that matches a pattern.
type line struct {
	Line    int    `json:"line"`
	URI     string `json:"uri"`
	Content string `json:"content"`
}

// grep looks for lines below a place.
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
	limit, levels := orSo(in.Limit, 256), orSo(in.Levels, 10)
	matches := []line{}
	err = s.walk(ctx, q, a, true, func(leaf domain.Leaf) (more bool) {
		if in.Exclude != "" && leaf.URI.Within(exclude.uri) || len(leaf.URI.Names())-len(a.uri.Names()) > levels {
			return true
		}
		number := 0
		for text := range strings.Lines(leaf.Content) {
			number++
			if text = strings.TrimRight(text, "\r\n"); wanted.MatchString(text) && len(matches) < limit {
				matches = append(matches, line{Line: number, URI: a.spell(leaf.URI), Content: text})
			}
		}
		return len(matches) < limit
	})
	return found(matches, err)
}

// found is what matched; that more was there than was looked through is said beside it.
func found[T any](matches []T, err error) (any, error) {
	far := errors.Is(err, errFar)
	if far {
		err = nil
	}
	answer := map[string]any{"matches": matches, "count": len(matches)}
	if far {
		answer["incomplete"] = true
	}
	return answer, err
}

// orSo is a limit, or what it is if nobody said.
func orSo(given *int, otherwise int) int {
	if given == nil || *given < 0 {
		return otherwise
	}
	return *given
}

// glob looks for names below a place.
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
	wanted, limit := globbed(in.Pattern), min(orSo(in.Limit, most), most)
	matches := []string{}
	seen := map[string]bool{}
	err = s.walk(ctx, q, a, false, func(leaf domain.Leaf) (more bool) {
		names := leaf.URI.Names()[len(a.uri.Names()):]
		for depth := 1; depth <= len(names); depth++ { // the directories on the way, too
			path := strings.Join(names[:depth], "/")
			if !seen[path] && len(matches) < limit && wanted.MatchString(path) {
				matches = append(matches, a.spell(a.uri.Join(names[:depth]...)))
			}
			if depth < len(names) || wanted.MatchString(path) {
				seen[path] = true
			}
		}
		return len(matches) < limit
	})
	slices.Sort(matches)
	return found(matches, err)
}

// globbed is a pattern as a regular expression: * and ? stay within a name, ** goes through directories.
func globbed(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for rest := strings.TrimPrefix(pattern, "/"); rest != ""; {
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
		default:
			r := []rune(rest)[0]
			b.WriteString(regexp.QuoteMeta(string(r)))
			rest = rest[len(string(r)):]
		}
	}
	b.WriteString("$")
	compiled, err := regexp.Compile(b.String())
	if err != nil { // every part above is one, unless the pattern is not valid UTF-8, which was looked at
		return regexp.MustCompile(`^\b\B$`)
	}
	return compiled
}
