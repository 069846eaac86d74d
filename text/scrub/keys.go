package scrub

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// keyRule finds keys by how they begin.
type keyRule struct {
	class  Class
	begin  string         // of a word
	re     *regexp.Regexp // from there on
	random bool           // whether it must look random too, since people write words like that
}

// keyRules are the forms of keys, by who gives them out.
var keyRules = []keyRule{
	keyed("sk-", `sk-[A-Za-z0-9_-]{20,}`).mustLookRandom(), // OpenAI, Anthropic, and whoever followed them
	keyed("sess-", `sess-[A-Za-z0-9]{40}`),
	keyed("AKIA", `AKIA[A-Z0-9]{16}`), keyed("ASIA", `ASIA[A-Z0-9]{16}`), // AWS
	keyed("ABIA", `ABIA[A-Z0-9]{16}`), keyed("ACCA", `ACCA[A-Z0-9]{16}`),
	keyed("ghp_", `ghp_[A-Za-z0-9]{36,}`), keyed("gho_", `gho_[A-Za-z0-9]{36,}`), // GitHub
	keyed("ghu_", `ghu_[A-Za-z0-9]{36,}`), keyed("ghs_", `ghs_[A-Za-z0-9]{36,}`), keyed("ghr_", `ghr_[A-Za-z0-9]{36,}`),
	keyed("github_pat_", `github_pat_[A-Za-z0-9_]{36,}`),
	keyed("gl", `gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_-]{20,}`), // GitLab
	keyed("GR1348941", `GR1348941[A-Za-z0-9_-]{20,}`),
	keyed("AIza", `AIza[A-Za-z0-9_-]{35}`), keyed("ya29.", `ya29\.[A-Za-z0-9_-]{20,}`), // Google
	keyed("GOCSPX-", `GOCSPX-[A-Za-z0-9_-]{28}`),
	keyed("xox", `xox[abeoprs](?:-[A-Za-z0-9]+){2,}`), keyed("xapp-", `xapp-[0-9]-[A-Za-z0-9-]{20,}`), // Slack
	keyed("hooks", `hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,}`),
	keyed("sk_", `sk_(?:live|test)_[A-Za-z0-9]{16,}`), keyed("rk_", `rk_(?:live|test)_[A-Za-z0-9]{16,}`), // Stripe
	keyed("whsec_", `whsec_[A-Za-z0-9+/=]{24,}`),
	keyed("AKLT", `AKLT[A-Za-z0-9_-]{20,}`), keyed("AKTP", `AKTP[A-Za-z0-9_-]{20,}`), // Volcengine
	keyed("ark-", `ark-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-[0-9a-z]+)?`),
	keyed("LTAI", `LTAI[A-Za-z0-9]{12,26}`), keyed("AKID", `AKID[A-Za-z0-9]{32}`), // Alibaba, Tencent
	keyed("hf_", `hf_[A-Za-z0-9]{30,}`), keyed("npm_", `npm_[A-Za-z0-9]{36}`),
	keyed("pypi-", `pypi-[A-Za-z0-9_-]{50,}`), keyed("dop_v1_", `dop_v1_[0-9a-f]{64}`),
	keyed("SG.", `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
	keyed("annals_", `annals_[a-z2-7]{10}_[a-z2-7]{52}`), // ours
	{class: JWT, begin: "eyJ", re: regexp.MustCompile(`^` + jwtForm)},
}

const jwtForm = `eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}`

func keyed(begin, form string) keyRule {
	return keyRule{class: APIKey, begin: begin, re: regexp.MustCompile(`^` + form)}
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
	for _, scheme := range []string{"be", "Be", "BE", "ba", "Ba", "BA"} {
		pairs[int(scheme[0])<<8|int(scheme[1])] = true
	}
	return pairs
}()

// beginning finds a key that begins with the word at i.
func beginning(text string, i int) span {
	if i+8 > len(text) || !begins[int(text[i])<<8|int(text[i+1])] {
		return span{}
	}
	if c := text[i] | 0x20; c == 'b' && (text[i+1]|0x20 == 'e' || text[i+1]|0x20 == 'a') {
		return authorized(text, i)
	}
	for n := range keyRules {
		rule := &keyRules[n]
		if !strings.HasPrefix(text[i:], rule.begin) {
			continue
		}
		found := rule.re.FindStringIndex(text[i:])
		if found == nil || wordAt(text, i+found[1]) {
			continue
		}
		if key := text[i : i+found[1]]; !rule.random || looksRandom(key) {
			return span{i, i + len(strings.TrimRight(key, "-")), rule.class}
		}
	}
	return span{}
}

var (
	bearer = regexp.MustCompile(`^(?i:bearer)[ \t]+([A-Za-z0-9_.~+/-]{16,}=*)`)
	basic  = regexp.MustCompile(`^(?i:basic)[ \t]+([A-Za-z0-9+/]{8,}={0,2})`)
	isJWT  = regexp.MustCompile(`^` + jwtForm)
)

// authorized finds what follows the words Bearer and Basic in a header.
func authorized(text string, i int) span {
	if !isScheme(text[i:], "bearer") && !isScheme(text[i:], "basic") {
		return span{}
	}
	if found := bearer.FindStringSubmatchIndex(text[i:]); found != nil {
		token := strings.TrimRight(text[i+found[2]:i+found[3]], ".")
		if looksRandom(token) && !isJWT.MatchString(token) {
			return span{i + found[2], i + found[2] + len(token), APIKey}
		}
	}
	if found := basic.FindStringSubmatchIndex(text[i:]); found != nil {
		given, err := base64.StdEncoding.DecodeString(text[i+found[2] : i+found[3]])
		if err == nil && strings.IndexByte(string(given), ':') > 0 && printableASCII(given) {
			return span{i + found[2], i + found[3], APIKey}
		}
	}
	return span{}
}

func isScheme(text, scheme string) bool {
	return len(text) > len(scheme) && (text[len(scheme)] == ' ' || text[len(scheme)] == '\t') && strings.EqualFold(text[:len(scheme)], scheme)
}

func printableASCII(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
