package scrub

import (
	"slices"
	"strings"
)

// Endings of file and unit names, which look like domains.
var notDomains = []string{
	"png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "scss", "js", "mjs", "ts", "tsx", "jsx", "json", "yaml", "yml", "md", "txt",
	"html", "tgz", "gz", "zip", "tar", "go", "py", "rs", "java", "rb", "sh", "sql", "pdf", "service", "socket", "timer", "target", "mount", "slice",
	"scope", "path", "swap", "device", "automount",
}

// address finds an e-mail address around the @ at i, also where a URL has escaped it, or the password in a URL.
func (s *scanner) address(i int) span {
	text, after := s.text, i+1
	if text[i] == '%' {
		if !strings.HasPrefix(text[i:], "%40") {
			return span{}
		}
		after = i + 3
	}
	const longestLocal, longestToken = 64, 512
	start := i
	for start > s.from && i-start < longestLocal && (isWord(text[start-1]) || strings.IndexByte(".+-'", text[start-1]) >= 0) {
		start--
	}
	s.spend(i - start)
	if token := s.tokenStart(i); s.scheme >= max(token, s.from, i-longestToken) {
		s.spend(i - s.scheme)
		if login := text[s.scheme+3 : i]; strings.IndexByte(login, '/') < 0 && strings.IndexByte(login, '?') < 0 {
			return passwordOf(login, i)
		}
		if strings.HasSuffix(text[token:s.scheme], "viking") {
			return span{}
		}
	}
	for start < i && strings.IndexByte(".+-'", text[start]) >= 0 {
		start++
	}
	if start == i || isEntity(text[:start]) || slices.Contains([]string{"git", "hg", "svn"}, text[start:i]) {
		return span{}
	}
	end, read := domainEnd(text, after)
	s.spend(read - after)
	if end > after {
		return span{start, end, Email}
	}
	return span{}
}

// tokenStart is where what is written without a space or bracket begins that the @ at i is part of.
func (s *scanner) tokenStart(i int) int {
	start := i
	for start > s.tokenTo && strings.IndexByte(" \t\r\n\"'`<>()[]{},|", s.text[start-1]) < 0 && s.text[start-1] < 0x80 {
		start--
	}
	s.spend(i - start)
	if start > s.tokenTo {
		s.token = start
	}
	s.tokenTo = i
	return s.token
}

// passwordOf finds the password in NAME:PASSWORD, the part of a URL that ends before i.
func passwordOf(login string, i int) span {
	_, password, found := strings.Cut(login, ":")
	if !found || password == "" || strings.IndexByte("$%*<{", password[0]) >= 0 || strings.ToUpper(password) == password && !strings.ContainsAny(password, "0123456789") ||
		slices.Contains([]string{"password", "pass", "secret", "pw", "passwd"}, password) {
		return span{}
	}
	return span{i - len(password), i, APIKey}
}

// isEntity tells whether an entity's id follows, which is no address though it may look like one.
func isEntity(before string) bool {
	for _, kind := range []string{"user:", "agent:", "project:", "team:", "org:"} {
		if strings.HasSuffix(before, kind) && !wordAt(before, len(before)-len(kind)-1) {
			return true
		}
	}
	return false
}

// domainEnd is where the domain that begins at i ends, i if there is none, and how far it was read.
func domainEnd(text string, i int) (end, p int) {
	const longest, longestTop = 253, 24
	label, dots := i, 0
	end = i
	for p = i; p <= len(text) && p-i <= longest; p++ {
		if p < len(text) && (isUpper(text[p]) || isLower(text[p]) || isDigit(text[p]) || text[p] == '-') {
			continue
		}
		if p == label || text[label] == '-' {
			break
		}
		if dots > 0 {
			if top := strings.TrimRight(text[label:p], "-"); isTop(top) && len(top) <= longestTop {
				end = label + len(top)
			} else {
				end = i
			}
		}
		if p == len(text) || text[p] != '.' {
			if p < len(text) && text[p] == '_' {
				return i, p
			}
			break
		}
		dots++
		label = p + 1
	}
	return end, p
}

func isTop(label string) bool {
	if strings.HasPrefix(label, "xn--") {
		return true
	}
	return len(label) >= 2 && !strings.ContainsFunc(label, func(r rune) bool { return !isUpper(byte(r)) && !isLower(byte(r)) }) &&
		!slices.Contains(notDomains, strings.ToLower(label))
}
