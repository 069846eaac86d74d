package scrub

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

// keyRule finds keys by their prefixes.
type keyRule struct {
	begin  string // of a word
	form   func() *regexp.Regexp
	random bool // the key must also look random, since there are words with this prefix
}

// keyRules are the forms of keys, by their issuers.
var keyRules = func() (rules []keyRule) {
	for _, issuer := range [][2]string{
		{"sk-", `[A-Za-z0-9_-]{20,}`}, // OpenAI, Anthropic and others
		{"sess-", `[A-Za-z0-9]{40}`},
		{"AKIA ASIA ABIA ACCA", `[A-Z0-9]{16}`}, // AWS
		{"ghp_ gho_ ghu_ ghs_ ghr_", `[A-Za-z0-9]{36,}`},
		{"github_pat_", `[A-Za-z0-9_]{36,}`},
		// GitLab
		{"glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941", `[A-Za-z0-9_-]{20,}`},
		{"AIza", `[A-Za-z0-9_-]{35}`},
		{"ya29.", `[A-Za-z0-9_-]{20,}`},
		{"GOCSPX-", `[A-Za-z0-9_-]{28}`},                                 // Google
		{"xox", `[abeoprs]-[A-Za-z0-9]{1,80}-[A-Za-z0-9][A-Za-z0-9_-]*`}, // Slack
		{"xapp-", `[0-9]-[A-Za-z0-9-]{20}[A-Za-z0-9_-]*`},
		{"hooks.slack.com/services/", `T[A-Z0-9]{1,40}/B[A-Z0-9]{1,40}/[A-Za-z0-9]{16,}`},
		{"sk_live_ sk_test_ rk_live_ rk_test_", `[A-Za-z0-9]{16,}`},
		{"whsec_", `[A-Za-z0-9+/=]{24,}`},   // Stripe
		{"AKLT AKTP", `[A-Za-z0-9_-]{20,}`}, // Volcengine
		{"ark-", `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-[0-9a-z]{1,64})?`},
		{"LTAI", `[A-Za-z0-9]{12,26}`},
		{"AKID", `[A-Za-z0-9]{32}`}, // Alibaba, Tencent
		{"hf_", `[A-Za-z0-9]{30,}`},
		{"npm_", `[A-Za-z0-9]{36}`},
		{"pypi-", `[A-Za-z0-9_-]{50,}`},
		{"dop_v1_", `[0-9a-f]{64}`},
		{"SG.", `[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{16,}`},
		{"annals_", `[a-z2-7]{10}_[a-z2-7]{52}`},
	} {
		for begin := range strings.FieldsSeq(issuer[0]) {
			rules = append(rules, keyRule{begin, text.Expression(`^` + regexp.QuoteMeta(begin) + issuer[1]), begin == "sk-"})
		}
	}
	return rules
}()

// begins are the pairs of bytes with which a key may begin.
var begins = func() (pairs [1 << 16]bool) {
	for _, rule := range keyRules {
		pairs[pair(rule.begin)] = true
	}
	for _, begin := range []string{jwtBegin, "be", "Be", "BE", "ba", "Ba", "BA"} {
		pairs[pair(begin)] = true
	}
	return pairs
}()

// shortestKey is the length of the shortest prefix of a key with something after it.
const shortestKey = 8

// beginning finds a key that begins with the word at i.
func (s *scanner) beginning(i int) span {
	if strings.HasPrefix(s.text[i:], jwtBegin) {
		return s.jwt(i)
	}
	if s.off[APIKey] {
		return span{}
	}
	rest := s.text[i:]
	if strings.EqualFold(rest[:len("bearer")], "bearer") || strings.EqualFold(rest[:len("basic")], "basic") {
		return s.authorized(i)
	}
	for n := range keyRules {
		if rule := &keyRules[n]; rule.begin[2] == rest[2] && strings.HasPrefix(rest, rule.begin) {
			return s.key(rule, i)
		}
	}
	return span{}
}

// key finds the key of a rule that begins at i. It includes the rest of a key that is longer than the window.
func (s *scanner) key(rule *keyRule, i int) span {
	const longest = 160
	window := s.ahead(i, longest)
	key := rule.form().FindString(window)
	if key == "" || rule.random && !looksRandom(key[:min(len(key), judged)]) {
		return span{}
	}
	end := i + len(key)
	if len(key) == longest {
		end = s.end(end, isRun)
	}
	if end < len(s.text) && isWord(s.text[end]) {
		return span{}
	}
	return span{i, i + len(strings.TrimRight(s.text[i:end], "-")), APIKey}
}

const jwtBegin = "eyJ"

var jwtForm = text.Expression(`^eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.`)

// isJWT reports whether a value begins like a JWT.
func isJWT(value string) bool {
	return strings.HasPrefix(value, jwtBegin) && jwtForm().MatchString(value)
}

// jwt finds a JWT that begins at i: header.payload.signature, or five parts if it is encrypted.
func (s *scanner) jwt(i int) span {
	const shortest = 8
	if i < s.noJWT {
		return span{}
	}
	header := s.end(i, isRun)
	s.noJWT = header // another beginning within this header has the same payload
	payload := s.jwtPart(header)
	end := s.jwtPart(payload)
	if header-i < len(jwtBegin)+shortest || payload-header <= shortest || end == payload {
		return span{}
	}
	for range 2 {
		if next := s.jwtPart(end); next > end+1 { // not a full stop
			end = next
		}
	}
	return span{i, i + len(strings.TrimRight(s.text[i:end], "-")), JWT}
}

// jwtPart is the end of the JWT part that begins with the dot at i; i if there is no dot.
func (s *scanner) jwtPart(i int) int {
	if i == len(s.text) || s.text[i] != '.' {
		return i
	}
	return s.end(i+1, isRun)
}

var (
	bearer = text.Expression(`^(?i:bearer)[ \t]+([A-Za-z0-9_.~+/-]+=*)`)
	basic  = text.Expression(`^(?i:basic)[ \t]+([A-Za-z0-9+/]{8,}={0,2})`)
)

// authorized finds the secret after the word Bearer or Basic at i.
func (s *scanner) authorized(i int) span {
	window := s.ahead(i, longestValue)
	if found := basic().FindStringSubmatchIndex(window); found != nil {
		login, err := base64.StdEncoding.DecodeString(window[found[2]:found[3]])
		isPrintable := !strings.ContainsFunc(string(login), func(r rune) bool { return r < ' ' || r > '~' })
		if err == nil && isPrintable && strings.IndexByte(string(login), ':') > 0 {
			return span{i + found[2], i + found[3], APIKey}
		}
	}
	found := bearer().FindStringSubmatchIndex(window)
	if found == nil {
		return span{}
	}
	begin, end := i+found[2], i+found[3]
	if found[3] == len(window) {
		end = s.end(end, isToken)
	}
	if token := strings.TrimRight(s.text[begin:end], "."); looksRandom(token[:min(len(token), judged)]) && !isJWT(token) {
		return span{begin, begin + len(token), APIKey}
	}
	return span{}
}

func isToken(c byte) bool { return isRun(c) || strings.IndexByte(".~+/=", c) >= 0 }
