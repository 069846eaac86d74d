package scrub

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/annals-kb/annals/text"
)

// keyRule finds keys by how they begin.
type keyRule struct {
	begin  string                // of a word
	re     func() *regexp.Regexp // from there on, in at most longestBegin bytes
	rest   func(c byte) bool     // what may follow that; nil if nothing may
	random bool                  // whether it must look random too, since people write words like that
}

// Expressions have no end of their own. So a word is tried once, however long the key is that it may begin.
const longestBegin = 160

// keyRules are the forms of keys, by who gives them out.
var keyRules = []keyRule{
	keyed("sk-", `sk-[A-Za-z0-9_-]{20}`, isRun).mustLookRandom(), // OpenAI, Anthropic, and whoever followed them
	keyed("sess-", `sess-[A-Za-z0-9]{40}`, nil),
	keyed("AKIA", `AKIA[A-Z0-9]{16}`, nil), keyed("ASIA", `ASIA[A-Z0-9]{16}`, nil), // AWS
	keyed("ABIA", `ABIA[A-Z0-9]{16}`, nil), keyed("ACCA", `ACCA[A-Z0-9]{16}`, nil),
	keyed("ghp_", `ghp_[A-Za-z0-9]{36}`, isAlnum), keyed("gho_", `gho_[A-Za-z0-9]{36}`, isAlnum), // GitHub
	keyed("ghu_", `ghu_[A-Za-z0-9]{36}`, isAlnum), keyed("ghs_", `ghs_[A-Za-z0-9]{36}`, isAlnum), keyed("ghr_", `ghr_[A-Za-z0-9]{36}`, isAlnum),
	keyed("github_pat_", `github_pat_[A-Za-z0-9_]{36}`, isWord),
	keyed("gl", `gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_-]{20}`, isRun), // GitLab
	keyed("GR1348941", `GR1348941[A-Za-z0-9_-]{20}`, isRun),
	keyed("AIza", `AIza[A-Za-z0-9_-]{35}`, nil), keyed("ya29.", `ya29\.[A-Za-z0-9_-]{20}`, isRun), // Google
	keyed("GOCSPX-", `GOCSPX-[A-Za-z0-9_-]{28}`, nil),
	keyed("xox", `xox[abeoprs]-[A-Za-z0-9]{1,80}-[A-Za-z0-9]`, isRun), keyed("xapp-", `xapp-[0-9]-[A-Za-z0-9-]{20}`, isRun), // Slack
	keyed("hooks", `hooks\.slack\.com/services/T[A-Z0-9]{1,40}/B[A-Z0-9]{1,40}/[A-Za-z0-9]{16}`, isAlnum),
	keyed("sk_", `sk_(?:live|test)_[A-Za-z0-9]{16}`, isAlnum), keyed("rk_", `rk_(?:live|test)_[A-Za-z0-9]{16}`, isAlnum), // Stripe
	keyed("whsec_", `whsec_[A-Za-z0-9+/=]{24}`, isPadded),
	keyed("AKLT", `AKLT[A-Za-z0-9_-]{20}`, isRun), keyed("AKTP", `AKTP[A-Za-z0-9_-]{20}`, isRun), // Volcengine
	keyed("ark-", `ark-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-[0-9a-z]{1,64})?`, nil),
	keyed("LTAI", `LTAI[A-Za-z0-9]{12,26}`, nil), keyed("AKID", `AKID[A-Za-z0-9]{32}`, nil), // Alibaba, Tencent
	keyed("hf_", `hf_[A-Za-z0-9]{30}`, isAlnum), keyed("npm_", `npm_[A-Za-z0-9]{36}`, nil),
	keyed("pypi-", `pypi-[A-Za-z0-9_-]{50}`, isRun), keyed("dop_v1_", `dop_v1_[0-9a-f]{64}`, nil),
	keyed("SG.", `SG\.[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{16}`, isRun),
	keyed("annals_", `annals_[a-z2-7]{10}_[a-z2-7]{52}`, nil), // ours
}

func keyed(begin, form string, rest func(byte) bool) keyRule {
	return keyRule{begin: begin, re: text.Expression(`^` + form), rest: rest}
}

func (r keyRule) mustLookRandom() keyRule {
	r.random = true
	return r
}

// begins tells which pairs of bytes a key may begin with.
var begins = func() (pairs [1 << 16]bool) {
	for _, rule := range keyRules {
		pairs[int(rule.begin[0])<<8|int(rule.begin[1])] = true
	}
	for _, begin := range []string{jwtBegin, "be", "Be", "BE", "ba", "Ba", "BA"} {
		pairs[int(begin[0])<<8|int(begin[1])] = true
	}
	return pairs
}()

// beginning finds a key that begins with the word at i.
func (s *scanner) beginning(i int) span {
	if i+8 > len(s.text) || !begins[int(s.text[i])<<8|int(s.text[i+1])] {
		return span{}
	}
	if strings.HasPrefix(s.text[i:], jwtBegin) && !s.off[JWT] {
		return s.jwt(i)
	}
	if s.off[APIKey] {
		return span{}
	}
	if c := s.text[i] | 0x20; c == 'b' && (s.text[i+1]|0x20 == 'e' || s.text[i+1]|0x20 == 'a') {
		return s.authorized(i)
	}
	for n := range keyRules {
		if end := s.key(&keyRules[n], i); end > i {
			return span{i, end, APIKey}
		}
	}
	return span{}
}

// key is where the key of a rule ends that begins at i; i if there is none.
func (s *scanner) key(rule *keyRule, i int) int {
	if !strings.HasPrefix(s.text[i:], rule.begin) {
		return i
	}
	window := s.text[i:min(len(s.text), i+longestBegin)]
	s.spend(len(window))
	found := rule.re().FindStringIndex(window)
	if found == nil {
		return i
	}
	end := i + found[1]
	switch {
	case rule.random:
		end = s.runEnd(i)
		s.spend(min(judged, end-i))
		if !looksRandom(s.text[i:min(end, i+judged)]) {
			return i
		}
	case rule.rest != nil:
		end = s.end(end, len(s.text), rule.rest)
	}
	if wordAt(s.text, end) {
		return i
	}
	return i + len(strings.TrimRight(s.text[i:end], "-"))
}

const jwtBegin = "eyJ"

// jwt finds a token that begins at i: header.payload.signature, of an encrypted one two parts more.
func (s *scanner) jwt(i int) span {
	if i < s.noJWT {
		return span{}
	}
	header := s.runEnd(i)
	end, is := jwtEnd(s.text, i, header)
	if is {
		s.spend(end - i)
		return span{i, i + len(strings.TrimRight(s.text[i:end], "-")), JWT}
	}
	s.spend(end - header)
	s.noJWT = header // what follows is the same for every beginning in the header
	return span{}
}

// jwtEnd is where a token ends that begins at i and whose header ends at end, or how far it was read if it is none.
func jwtEnd(text string, i, end int) (int, bool) {
	const shortest, most = 8, 5
	begin := i + len(jwtBegin)
	for part := 0; ; part++ {
		switch length := end - begin; {
		case part < 2 && length < shortest:
			return end, false
		case part > 2 && length == 0:
			return begin - 1, true // a full stop
		}
		if part == most-1 || end == len(text) || text[end] != '.' {
			return end, part >= 2
		}
		begin = end + 1
		for end = begin; end < len(text) && isRun(text[end]); {
			end++
		}
	}
}

// isJWT tells whether a value begins as a token does.
func isJWT(value string) bool {
	if !strings.HasPrefix(value, jwtBegin) {
		return false
	}
	header := len(jwtBegin)
	for header < len(value) && isRun(value[header]) {
		header++
	}
	_, is := jwtEnd(value, 0, header)
	return is
}

// authorized finds what follows the words Bearer and Basic in a header.
func (s *scanner) authorized(i int) span {
	word := s.wordEnd(i)
	begin := s.end(word, len(s.text), isBlank)
	if begin == word {
		return span{}
	}
	switch {
	case strings.EqualFold(s.text[i:word], "bearer"):
		end := s.end(begin, len(s.text), isToken)
		token := strings.TrimRight(s.text[begin:s.end(end, len(s.text), isPadding)], ".")
		if end-begin >= shortestSecret && looksRandom(token) && !isJWT(token) {
			return span{begin, begin + len(token), APIKey}
		}
	case strings.EqualFold(s.text[i:word], "basic"):
		const shortest = 8
		end := s.end(begin, len(s.text), isBase64)
		end = s.end(end, min(len(s.text), end+2), isPadding)
		given, err := base64.StdEncoding.DecodeString(s.text[begin:end])
		if end-begin >= shortest && err == nil && strings.IndexByte(string(given), ':') > 0 && printableASCII(given) {
			return span{begin, end, APIKey}
		}
	}
	return span{}
}

func isAlnum(c byte) bool   { return isWord(c) && c != '_' }
func isBase64(c byte) bool  { return isAlnum(c) || c == '+' || c == '/' }
func isToken(c byte) bool   { return isRun(c) || strings.IndexByte(".~+/", c) >= 0 }
func isPadding(c byte) bool { return c == '=' }
func isPadded(c byte) bool  { return isBase64(c) || isPadding(c) }
func isBlank(c byte) bool   { return c == ' ' || c == '\t' }

func printableASCII(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
