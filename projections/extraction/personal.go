package extraction //nolint:lll // expressions and lists of words are data

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

var (
	firstPerson = text.Expression(`(?i)\b(?:i|i'm|i've|i'd|i'll|my|mine|me|myself)\b|我(?:[^们]|$)`)
	// favour is a first person who only asks: how do I …, show me …
	favour = text.Expression(`(?i)\b(?:do|can|could|should|would|must) i\b|\b(?:help|show|tell|give|let|remind|send|teach) me\b|[帮给让]我|告诉我|我(?:该|应该|要|能)?(?:怎么|如何)`)
	// told is what an assistant repeats about the user.
	told = text.Expression(`(?i)(?:^|since|because|given that|as) you(?:'re| are|'ve| have| told| said| mentioned| live| like| prefer| suffer| feel)\b|\bgiven your\b|\byour (?:doctor|wife|husband|partner|son|daughter|mother|father|mom|dad|family|kids?|health|boss|salary)\b|(?:因为|既然|由于)[你您]`)
	// technical begins a sentence about a tool, which is no person.
	technical = text.Expression(`^[A-Za-z]*(?:[\d_+:/]|\.[a-z]|[a-z]-[a-z]|[a-z][A-Z]|[A-Z]{2})|^\w+ \d`)
	// person is a title, a pronoun, a relation or the form of a name.
	person = text.Expression(`(?i:\b(?:dr|mrs?|ms|mx|prof|rev|st)\.|\b(?:mr|mrs|ms|miss|dr|prof|professor|doctor|nurse|sir|madam|herr|frau)\s+[a-z]|\b(?:he|him|his|she|hers?|himself|herself|someone's|mom|mum|dad|grandma|grandpa|granny|wife|husband|patients?|colleagues?|employees?|students?)\b)|\b(?:Mc|Mac|De|Di|Du|Fitz)\p{Lu}\p{Ll}+\b|\b\p{Lu}'\p{Lu}|\b\p{Lu}\.\s?\p{Lu}\p{Ll}|[他她]|先生|女士|小姐|太太|医生|大夫|护士|老师|教授|主任|经理|同事|老板|病人|患者|师傅|(?:问|找|联系|通知|告诉|让|给|向|叫|请|以|用)[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余杜叶程魏苏吕丁卢姚沈钟姜崔谭陆范汪廖][\p{Han}]|[小老][王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑]`)
	// capitalised is a word that may be a name.
	capitalised = text.Expression(`^\p{Lu}\p{Ll}+(?:'s?)?$`)
)

// products are names of no persons, and handled are words before other such names.
var (
	products = strings.Fields(`ansible android apache apple aws azure bash bazel bing bitbucket cargo chrome chromium clang confluence debian django docker eclipse edge elasticsearch electron excel express fedora firefox flask gerrit git github gitlab gmail go google gradle grafana grep groovy helm heroku homebrew istio java javascript jenkins jira kafka kibana kotlin kubernetes lambda linux logstash make maven mongo nginx node npm okta oracle outlook pandas perl php pip poetry postgres postman powershell prometheus pulumi puppet python pytorch rabbit rails react redis ruby rust safari sentry slack spark splunk spring sqlite stripe sudo swift teams tensorflow terraform travis ubuntu vagrant vault vim vue webpack windows word xcode yarn zoom zookeeper
		monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december english chinese failure task settings`)
	handled = strings.Fields(`the a an install start stop restart open close run use using upgrade update build configure launch download pin pinning enable disable deploy uninstall`)
)

// names reports whether a text may be about a person. It knows the names of products only, so that it errs towards
// persons.
func names(s string) bool {
	s = straight.Replace(s)
	if person().MatchString(s) {
		return true
	}
	all, opening := strings.Fields(s), true
	for i, w := range all {
		bare := strings.Trim(w, `.,;:!?()"*#-`)
		lower := strings.TrimSuffix(strings.ToLower(bare), "'s")
		subject := i+1 < len(all) && (plural(all[i+1]) && len(all[i+1]) > 3 || slices.Contains(linking, all[i+1]))
		if capitalised().MatchString(bare) && !slices.Contains(products, lower) && !slices.Contains(commanding, lower) &&
			!text.IsStopWord(lower) && (strings.HasSuffix(bare, "'s") || !opening &&
			!slices.Contains(handled, strings.ToLower(all[i-1])) || opening && subject) {
			return true
		}
		opening = strings.ContainsAny(w[len(w)-1:], ".:!?)*#>-")
	}
	return false
}

// personal reports whether a finding may be about a person, so that no rule of the tenant shares it: a peer said it, a
// sentence behind it is about its speaker, or its subject may be somebody's name.
func personal(c Conversation, f LessonDraft) bool {
	said := strings.Join([]string{f.Task, f.Content, f.Abstract}, "\n")
	if f.Counted != nil { // the task names the tool
		said = f.Content
	}
	if len(f.Tags[peerTag]) > 0 || names(said) {
		return true
	}
	written := words(said)
	for _, i := range f.Sources {
		user := c.Messages[i].Role == domain.RoleUser
		if f.Category == domain.CategoryTools && f.Counted == nil && !technical().MatchString(f.Content) &&
			(user || !strings.HasPrefix(f.Content, strings.ToLower(f.Content[:1]))) {
			return true // it may be about a person by that name
		}
		for _, s := range text.Sentences(c.Messages[i].Text()) {
			s = straight.Replace(s)
			draft, is := stated(s)
			about := user && (firstPerson().MatchString(favour().ReplaceAllString(s, "")) ||
				is && (draft.Category == domain.CategoryPreferences || draft.Category == domain.CategoryProfile) ||
				asserts(s, false) && !technical().MatchString(s)) // of a thing by its name, or perhaps of a person
			if !about && !person().MatchString(s) && !(!user && told().MatchString(s)) {
				continue
			}
			for word := range words(s) {
				if written[word] {
					return true
				}
			}
		}
	}
	return false
}
