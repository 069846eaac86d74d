package scrub

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

var (
	domain = text.Expression(`^(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+([A-Za-z0-9][A-Za-z0-9-]*)`)
	top    = text.Expression(`^(?:xn--.*|[A-Za-z]{2,24})$`)
	entity = text.Expression(`\b(?:user|agent|project|team|org):$`) // an id follows, which may look like an address
)

// Endings of file and unit names, which look like domains.
var notDomains = strings.Fields(`
	png jpg jpeg gif svg webp ico css scss js mjs ts tsx jsx json yaml yml md txt html tgz gz zip tar go py rs java rb sh
	sql pdf service socket timer target mount slice scope path swap device automount`)

const (
	letters    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	localBytes = letters + "0123456789_.+-'"
)

// address finds an e-mail address around the @ at i, also where a URL has escaped it, or the password in a URL.
func (s *scanner) address(i int) span {
	const longestToken, longestLocal, longestDomain = 512, 64, 253
	after := i + 1
	if s.text[i] == '%' {
		if !strings.HasPrefix(s.text[i:], "%40") {
			return span{}
		}
		after = i + len("%40")
	}
	token := s.before(i, min(longestToken, i-s.from))
	if scheme := strings.LastIndex(token, "://"); scheme >= 0 && !strings.ContainsFunc(token[scheme:], dividesTokens) {
		login := token[scheme+len("://"):]
		if !strings.ContainsAny(login, "/?") {
			return passwordOf(login, i)
		}
		if strings.HasSuffix(token[:scheme], "viking") {
			return span{}
		}
	}
	local := token[max(0, len(token)-longestLocal):]
	local = strings.TrimLeft(local[len(strings.TrimRight(local, localBytes)):], ".+-'")
	kind := token[:len(token)-len(local)]
	kind = kind[max(0, len(kind)-len(".project:")):]
	if local == "" || entity().MatchString(kind) || slices.Contains([]string{"git", "hg", "svn"}, local) {
		return span{}
	}
	found := domain().FindStringSubmatchIndex(s.ahead(after, longestDomain))
	if found == nil {
		return span{}
	}
	end := after + found[1]
	last := strings.TrimRight(s.text[after+found[2]:end], "-")
	if strings.HasPrefix(s.text[end:], "_") || !top().MatchString(last) ||
		slices.Contains(notDomains, strings.ToLower(last)) {
		return span{}
	}
	return span{i - len(local), after + found[2] + len(last), Email}
}

func dividesTokens(r rune) bool {
	return r >= 0x80 || strings.ContainsRune(" \t\r\n\"'`<>()[]{},|", r)
}

// passwordOf finds the password in NAME:PASSWORD, the part of a URL that ends before i.
func passwordOf(login string, i int) span {
	_, password, _ := strings.Cut(login, ":")
	if password == "" || strings.IndexByte("$%*<{", password[0]) >= 0 ||
		strings.ToUpper(password) == password && !strings.ContainsAny(password, "0123456789") ||
		slices.Contains([]string{"password", "pass", "secret", "pw", "passwd"}, password) {
		return span{}
	}
	return span{i - len(password), i, APIKey}
}
