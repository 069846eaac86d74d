package extraction //nolint:lll // expressions are data

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

// What a user writes is not always what the user says of themselves. It may be somebody else's words, a text to work
// on, fiction, or a case that is only imagined.
var (
	quotation = text.Expression("\"[^\"\\n]+\"|“[^”\\n]+”|«[^»\\n]+»|「[^」\\n]+」|『[^』\\n]+』|‘[^’\\n]+’|`[^`\\n]+`|(?:^|[\\s(:：,])'[^\\s'][^\\n]*?'(?:$|[\\s.,;:!?)])")
	sentences = text.Expression(`[.!?。！？]["'”’」』»]?.*\S`)
	request   = `(?:(?:please|now|ok(?:ay)?|so|then|hey|hi|also|can you|could you|would you|will you|let's|let us|just|i (?:want|need|'d like|would like) you to|help me(?: to)?|try to|here,?)[, ]+)*`

	// reworking is a task on a text that is in the same message.
	reworking = text.Expression(`(?i)^\W*` + request + `(?:translate|proofread|rephrase|paraphrase|reword|rewrite|polish|spell-?check|transcribe|summari[sz]e|shorten|transliterate|conjugate)\b|^\W*` + request + `(?:correct|check|fix|improve|edit)(?: \w+){0,3} (?:grammar|spelling|english|sentences?|wording|text|paragraph|translation|punctuation)\b|\bhow (?:do|would|can|to)(?: (?:i|you|we|one))? say\b|\b(?:translate|rephrase|proofread|rewrite) (?:this|that|it|the following)\b|翻译|译[成为]|润色|改写|病句|语法错误|怎么说|(?:用|以)[英中德法日韩]?[语文](?:怎么|来?说|表达)|校对|缩写|扩写|仿写`)
	// inventing begins fiction or an example.
	inventing = text.Expression(`(?i)^\W*` + request + `(?:imagine|pretend|suppos(?:e|ing)|assum(?:e|ing)|say|role-?play|act (?:as|like)|play (?:the|a)\b|you(?:'re| are) (?:now )?(?:an?|the|acting|playing|(?-i:\p{Lu}\p{Ll}+))\b|simulate|hypothetically|for (?:example|instance)|e\.g\.|once upon)\b|^\W*` + request + `(?:write|compose|draft|create|generate|invent|make up|make|continue|complete|finish|tell(?: me)?|give(?: me)?|print|produce|prepare|design|add|use|insert|put|set|fill)\b.{0,60}\b(?:story|stories|poem|haiku|novel|tale|song|lyrics|essay|letter|e-?mail|message|dialog(?:ue)?|conversation|script|monologue|scene|character|persona|bio|biography|tweet|post|speech|intro(?:duction)?|sentence|paragraph|text|joke|diary|blog|résumé|resume|cv|sample|example|test data|fixture|placeholder|mock|prompt|template|greeting|profile|readme|line|string|caption|review|article|testimonial|summary)s?\b|\b(?:in|from) (?:the|a|my|this|her|his|our) (?:\w+ )?(?:story|novel|poem|song|game|movie|film|book|dream|play|lyrics|simulation|scenario|exercise|textbook)\b|^(?:请|帮我|给我|麻烦|你来?|现在|我们来?|先|再)*(?:(?:想象|假装|假设|假如|设想|扮演|例句|比如|例如|举个?例|从前)|(?:写|编|创作|续写|造|生成|起草|拟|讲|来|画|做)(?:一下|[个一段首篇封句条出下份]|自我介绍|故事))|(?:小说|故事|歌词|剧本|游戏|梦|电影|课文|台词|例句)[里中]`)
	// hearsay says who says, thinks or writes what follows.
	hearsay = text.Expression(`(?i)\b(?:says?|said|saying|tells?|told|asks?|asked|claim(?:s|ed|ing)?|thinks?|thought|believes?|believed|writes?|wrote|written|reads?|heard|hears?|means?|meant|quotes?|quoted|according|insists?|insisted|repl(?:y|ies|ied)|joke[sd]?|joking|lied|lie|pretend\w*|imagin\w+|assum\w+|suppos\w+|wish(?:es)?|hopes?|dream\w*|feels? like|felt like|people like|someone like|as if|as though|would|could|should|might|maybe|perhaps|possibly|ideally|hypothetically|example|e\.g|story|novel|poem|song|lyrics?|character|persona|sentence|phrase|translat\w+|form|bio|profile|badge|why|how|what|who|nobody|doubt\w*)\b|说|讲|告诉|认为|以为|觉得|表示|声称|自称|写[着道]|听说|据说|问道|梦|故事|小说|角色|扮演|例句|句子|希望|但愿|也许|可能|好像|仿佛|似乎|要求|骗|假装|谁|为什么|怎么`)
	// conditional is a case that need not be so, or a time that need not be now.
	conditional = text.Expression(`(?i)\b(?:if|when|whenever|unless|until|once|whether|in case|before|after|by the time|provided|assuming|someday|one day|next)\b|如果|假如|假设|要是|倘若|万一|即使|的话|除非|等到|当|以前|从前|曾`)
	// claiming is what users say of their own words.
	claiming = text.Expression(`(?i)^(?:as )?i(?:'ve| have)?(?: already| just)? (?:said|told you|mentioned|wrote|meant|mean|think|guess|believe|feel|know)(?: to say)?(?: before| earlier)?,?(?: that)? |^我(?:之前|刚才|已经|上次)*(?:说过|告诉过你?|提到过|提过|是说)[，,]?`)
	author   = text.Expression(`(?i)\b(?:i|i'm|i've|i'd|my|mine)\b|我(?:[^们]|$)`)
	// speaker is a name before what is said; titled are labels of one's own.
	speaker = text.Expression(`^(?:[-*•]\s*|\[[^\]]*\]\s*|\d{1,2}:\d\d\s*)*<?(\p{Lu}[\p{L}.'-]*(?: \p{Lu}[\p{L}.'-]*)?|[A-Za-z]+ ?\d+|[\p{Han}]{1,4})[:：>]\s*\S`)
	titled  = text.Expression(`(?i)^(?:note|remember|update|edit|correction|fyi|ps|p\.s\.|btw|context|background|preferences?|name|home|location|address|job|work|employer|important|reminder|facts?|me|info|profile|diet|allerg(?:y|ies)|languages?|注意|备注|补充|更正|记住|请记住|另外|偏好|背景|关于我|说明|提醒|住址|姓名|职业)[:：]`)
	heading = text.Expression(`(?i)^([^:：]{1,60})(?:：|:(?:\s|$|["“「『']))`)
	textual = text.Expression(`(?i)\b(?:text|sentences?|paragraph|following|example|sample|lyrics|e-?mail|message|letter|bio|readme|post|tweet|log|chat|transcript|output|input|prompt|dialog(?:ue)?|story|poem|quote|caption|snippet|essay|script|subject)\b|^from$|原文|以下|下面|例[子如句]|歌词|邮件|聊天记录|对话|台词|内容`)
)

// assertion is a sentence of a message.
type assertion struct {
	said string
	own  string // the same, with the words of others blanked
}

// assertions are the sentences in which the author of a message speaks: not those of a text to work on, of fiction or
// of an example.
func assertions(prose string) (all []assertion) {
	others := func(quote string) string {
		if firstPerson().MatchString(straight.Replace(quote)) || sentences().MatchString(quote) {
			return strings.Repeat("_", len(quote))
		}
		return quote
	}
	masked, at := quotation().ReplaceAllStringFunc(prose, others), 0
	for _, own := range text.Sentences(masked) {
		at += strings.Index(masked[at:], own)
		s := assertion{prose[at : at+len(own)], own}
		plain := straight.Replace(own)
		if reworking().MatchString(plain) {
			return nil
		}
		if inventing().MatchString(plain) || introduces(plain) {
			break
		}
		all = append(all, s)
	}
	return all
}

// introduces reports whether a sentence says before a colon that another text follows.
func introduces(s string) bool {
	label := heading().FindStringSubmatch(s)
	return label != nil && !either(s, remembering, rememberingChinese) && !titled().MatchString(s) &&
		(textual().MatchString(label[1]) || orders(label[1]))
}

// orders reports whether a text begins with the verb of a request.
func orders(s string) bool {
	words := strings.Fields(strings.ToLower(lead().ReplaceAllString(s, "")))
	return len(words) > 0 && slices.Contains(acting, strings.Trim(words[0], ",:")) &&
		!either(s, remembering, rememberingChinese)
}

// voiced reports whether the author says what follows a text in the same sentence, rather than somebody whom they
// report on.
func voiced(before string) bool {
	before = claiming().ReplaceAllString(lead().ReplaceAllString(before, ""), "")
	return !hearsay().MatchString(before) && !orders(before)
}

// borrowed reports whether a sentence about a first person is not about its author.
func borrowed(s string) bool {
	first := author().FindStringIndex(s)
	if first == nil || either(s, remembering, rememberingChinese) {
		return false
	}
	return !voiced(s[:first[0]]) || speaker().MatchString(s) && !titled().MatchString(s)
}
