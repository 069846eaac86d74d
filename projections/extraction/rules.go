package extraction //nolint:lll // expressions are data

import (
	"regexp"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// The rules are expressions over single sentences, in English and in Chinese. They find only explicit statements.
var (
	polarityMark = text.Expression(`(?i)\bpolarity:\s*negative\b`)
	justMarked   = text.Expression(`(?i)^polarity:\s*negative\b[ \t]*[—–-][^\n]*$`) // with a remark, as agents introduce their records
	markedLine   = text.Expression(`(?im)^[ \t*_(\[]*polarity:\s*negative\b[ \t*_)\].,;:—–-]*\n?`)
	markedAside  = text.Expression(`(?i)[ \t*_(\[]*\bpolarity:\s*negative\b[ \t*_)\].,;:—–-]*`)

	preferring        = text.Expression(`(?i)\b(?:i|we|the user|user)(?: really| strongly| always| usually| generally| also| personally| just| absolutely| still| do)*\s+(?:prefers?|likes?|loves?|enjoys?|favou?rs?|hates?|dislikes?|can't stand|cannot stand|(?:don't|do not|doesn't|never|can't|cannot) (?:like|want|use|eat|drink)|avoids?|always use|rather|(?:want|would like) you to (?:always|never))\b|\b(?:i|we)(?:'d| would)(?: really| strongly| always)? (?:prefer|like you to (?:always|never))\b|\bi(?:'m| am)(?: \w+){0,2} (?:into|fond of|(?:big |huge )?fan of)\b|^(?:(?:and|also|btw|by the way),? )?i (?:mostly |mainly |only |usually )?use [\w.+-]+(?:,? not\b|[.!]?$)|\bi'd rather\b|\bplease (?:always|never|don't ever|do not ever)\b|\bfrom now on\b|\bmy (?:favou?rite|go-to|preferred)\b|^(?:always|never) [a-z]+ |^(?:no,? )?(?:please )?(?:don't|do not) (?:ever )?(?:use|touch|edit|change|modify|commit|push|delete|remove|install|run|add|write|create|ask)\b|\bby default,? use\b`)
	preferringChinese = text.Expression(`(?:我|我们|用户)(?:们|一般|比较|更|最|一直|总是|通常|特别|非常|很|也|还是|平时|一向|都)*(?:喜欢|偏好|偏爱|习惯|讨厌|倾向|爱用|不喜欢|不想|不爱|不用)|请(?:始终|总是|永远|一律|务必|都)|以后.{0,12}(?:请|都|不要|别|一律|先)|以后用|(?:千万|一律|永远)(?:不要|别)|默认(?:使用|用|采用)|我的(?:偏好|习惯|最爱)`)

	correcting        = text.Expression(`(?i)^(?:no|nope|wrong|actually|correction)\b[,:. ]|\bthat(?:'s| is| was) (?:wrong|not right|incorrect|not correct|not what i)|\bno longer\b|\bnot any ?more\b|\b(?:changed|change) my mind\b|\bnot [\w."'-]+(?: [\w."'-]+)?,? but\b|\bswitched (?:from .+ )?to\b|\binstead of what\b|\bused to\b.*\bnow\b|\bturn(?:s|ed) out\b|\bafter all\b`)
	correctingChinese = text.Expression(`^(?:不对|错了|不是这样|更正|纠正)|不是.+(?:而是|是)|是.+[，,]\s*不是|其实(?:是|应该)|原来|才发现|后来发现|结果发现|搞错|(?:改成|改用|改为)|不再|应该是`)

	// mending begins a statement that takes back what was just said.
	mending = text.Expression(`(?i)^(?:(?:sorry|oops|no|my mistake|my bad|scratch that|wait|抱歉|对不起|不好意思|口误|我?说错了)\s*[,，.:!。—-]*\s*)?(?:i (?:actually )?mean(?:t)?(?: to say)?(?: that)?[\s,:]+|我(?:是说|的意思是|说的是|想说的是)[,，:：]?)|^(?:sorry|oops|my mistake|my bad|scratch that|wait|抱歉|对不起|不好意思|口误|我?说错了)\s*[,，.:!。—-]+\s*`)

	retracting        = text.Expression(`(?i)\bno longer\b|(?:\bnot|n't)\b.*\bany ?(?:more|longer)\b|\b(?:stopped|quit|gave up|given up) using\b|\b(?:i|we)(?:'ve| have)? (?:stopped|quit|gave up|given up)\b|\bdecided (?:not to|against)\b|(?:^|[^'\w])(?:i|we|they|he|she|(?:my|our) \w+)(?: also| always| still| all)? used to [a-z]+`)
	retractingChinese = text.Expression(`我们?不.{1,20}了|(?:我们?|公司|团队)(?:以前|过去|曾经?)|不再|已经?不.*了|不用了|停止使用|停用了|决定不|放弃了|戒(?:掉?了|[烟酒])`)

	// factual is a statement that can be right or wrong; a plain "no" is not.
	factual = text.Expression(`(?i)\b(?:is|isn't|are|aren't|was|were|should|uses?|runs?|lives?|works?|means?|called|it's|i'm|has|have|\d+)\b|\p{Han}`)

	remembering        = text.Expression(`(?i)(?:^|\b(?:please|and|also|but|so|ok(?:ay)?|can you|could you)[,:]? )(?:please )?(?:remember|note|keep in mind|don't forget|for the record)\b|\b(?:remember|note|keep in mind) that\b`)
	rememberingChinese = text.Expression(`(?:请)?(?:记住|记得|记一下|记下|别忘了|备注)[:：,，]?`)

	deciding        = text.Expression(`(?i)\b(?:passed away|died)\b|\b(?:we|i|they|he|she|team)(?:'ve|'d| have| has| had| just| also| finally| recently| already| both| all)*\s+(?:decided|agreed|chose|picked|settled on|switched|migrated|relocated|went with|shipped|released|launched|deployed|signed up|signed|finished|completed|started|began|moved|joined|left|quit|bought|got|adopted|attended|visited|traveled|travelled|went|won|lost|graduated|married|passed|met|made|took|ran|built|opened|set up|volunteered|applied|painted|read|saw|watched|tried|found|learned|learnt|helped|gave|saw|celebrated|created|hosted|organi[sz]ed|participated|received|wrote|published|broke|tore|adopted|cooked|planted|camped|hiked|performed|played)\b|\bdecision:|\blet's (?:go with|use|stick with|switch to|stay with)\b|\b(?:i'm|i am|we're|we are) (?:going to|planning|thinking of|thinking about|starting|moving|getting|joining|taking|working on|looking for|researching|considering)\b|\b(?:will|going to) (?:use|deploy|release|ship|launch|migrate)\b`)
	decidingChinese = text.Expression(`(?:换到|迁移到|切换到|去世|过世|卖了|卖掉|离职|离婚|分手|死了|决定|商定|敲定|选择了|选定|发布了|上线了|完成了|搬到|搬家|加入了|买了|参加了|去了|离开了|辞职|毕业|结婚|获得了|签了|启动了|打算|计划)|那?就(?:用|选|按).+吧|结论[:：]|决策[:：]`)

	// dated is a statement about oneself with a time. doing is one about a current activity.
	dated = text.Expression(`(?i)\b(?:i|we|my|our|me|us)\b.*\b(?:yesterday|tonight|last (?:night|week|weekend|month|year|summer|winter|spring|fall|autumn|\w+day)|(?:this|next) (?:week|weekend|month|year|summer|winter|spring|fall|autumn|\w+day)|tomorrow|\w+ (?:days?|weeks?|months?|years?) (?:ago|now|old)|since (?:\d{4}|i|we|last|then)|in (?:19|20)\d\d|in (?:january|february|march|april|may|june|july|august|september|october|november|december)|for (?:\w+ )?(?:days|weeks|months|years)|every (?:day|week|month|year|morning|\w+day)|recently|the other day)\b|\b(?:yesterday|last (?:night|week|weekend|month|year|\w+day))\b.*\b(?:i|we|my)\b`)
	doing = text.Expression(`(?i)\b(?:i|we)(?:'m| am|'re| are|'ve been| have been)(?: also| currently| now| still| really| always)* [a-z]{3,}ing\b|\bi(?:'ve| have) (?:\w+ )?(?:had|started|learned|got|gotten|made|met|done|been to|seen|read|known|joined|become|found|decided|created|written|run|taken|tried)\b|\bi (?:can't wait to|plan to|hope to|want to|need to|'d love to|would love to|used to|do|run|teach|play|paint|write|own|have) `)

	problem        = text.Expression(`(?i)\b(?:errors?|fails?|failed|failing|failure|bug|broken|crash(?:es|ed)?|exception|time[sd]? ?out|timeout|mismatch|(?:doesn't|does not|didn't|don't|isn't|not) work(?:ing)?|issue|problem|stuck|refused|denied|cannot (?:connect|find|open|start))\b`)
	problemChinese = text.Expression(`报错|错误|失败|异常|崩溃|超时(?:了|[，。！,.!]|$|失败|报错|错误)|出问题|故障|不匹配|无法|卡住|连不上`)
	cause          = text.Expression(`(?i)\b(?:because|caused by|due to|root cause|turned out|turns out|the reason|the cause)\b`)
	causeChinese   = text.Expression(`原因(?:是|在于)|因为|由于|根因|导致`)
	fix            = text.Expression(`(?i)\b(?:fixed|solved|resolved|works now|working now|the fix|the solution|workaround|upgrad(?:e|ed|ing) (?:\w+ )?to|downgrad(?:e|ed|ing)|pinn(?:ed|ing)|installing|after (?:setting|adding|changing|removing|restarting|clearing))\b`)
	fixChinese     = text.Expression(`解决(?:了|方案|办法|方法)?|修复|修好|换成|升级(?:到|了)?|降级|重启(?:后|了)|加上|设置为`)

	namedProblem = text.Expression(`(?i)^\W*(?:problem|issue|symptom|error)\s*[:：]|^\W*the (?:problem|issue) (?:was|is)\b|^\W*(?:问题|现象|症状)(?:是)?\s*[:：]`)
	namedCause   = text.Expression(`(?i)^\W*(?:root )?(?:cause|reason)\s*[:：]|^\W*(?:根本)?(?:原因|根因)(?:是)?\s*[:：]`)
	namedFix     = text.Expression(`(?i)^\W*(?:fix|solution|resolution|workaround)\s*[:：]|^\W*(?:解决|解决方案|解决办法|解决方法|修复|办法)\s*[:：]`)

	behaving        = text.Expression(`^([@A-Za-z][\w.:+/-]{1,40}(?: v?\d[\w.]*)?)(?: \w+)? (?:requires|needs|only (?:works|supports|accepts)|works (?:only|best|with|for)|does not support|doesn't support|supports|fails (?:on|for|with)|returns)\b`)
	behavingChinese = text.Expression(`^([@A-Za-z][\w.:+/-]{1,40}(?: v?\d[\w.]*)?) ?(?:需要|要求|依赖|只支持|仅支持|不支持|支持|对 .+ (?:有效|失败)|在.+失败)`)

	// passing are polite or momentary words, which will not matter tomorrow.
	passing = text.Expression(`(?i)\bi have (?:a|an|some|one more|another) (?:quick )?(?:question|request|idea|favou?r)s?\b|\bi(?:'ll| will) (?:try|check|look|see|test|do (?:it|that))\b|^never mind\b|\b(?:likes?|loves?|hates?|enjoys?|loved|liked) (?:it|this|that|them|these|those|you|how|what)\b[^,;]{0,16}$|\bi(?:'m going to| am going to|'ll| will| want to| need to| have to|'d like to)(?: \w+)? (?:give|show|send|tell|ask|paste|share|explain)\b.*\b(?:you|it here|this|below)\b|\b(?:good ?bye|bye|gotta go|need to (?:go|leave|run) now|talk (?:to you )?(?:soon|later)|see you|take care|good ?night)\b[\s.!]*$|^(?:no|nope),? (?:problem|worries|need|thanks|thank you|idea|way|doubt|wonder)\b`)
	// requesting is a request for an immediate action of the agent.
	requesting = text.Expression(`(?i)^(?:请|麻烦|你)?(?:再)?帮(?:我|忙)|^(?:请|麻烦你?)?把.+(?:改成|改为|换成|转成)|^(?:please |now |ok(?:ay)?,? )?(?:can|could|would|will) you\b`)

	asking = text.Expression(`[?？]["'”’)）]*$`)

	facet        = text.Expression(`(?i)\b(?:for|when|in) (?:my |our |the |all )?([a-z][\w -]{1,38}?)[.!]?$`)
	facetChinese = text.Expression(`(?:在|写|做|对于?)(.{1,12}?)(?:时|方面|里|中|上)`)
)

func either(s string, english, chinese func() *regexp.Regexp) bool {
	return english().MatchString(s) || chinese().MatchString(s)
}

// tagsOf are the tags of a lesson: its kind and its topic. It omits what would be a guess.
func tagsOf(kind, key string) domain.Tags {
	tags := domain.Tags{}
	if kind != "" {
		tags["category"] = []string{kind}
	}
	if key != "" {
		tags["key"] = []string{key}
	}
	return tags
}

// facetOf is the explicit topic of a preference: "tabs for indentation" is about indentation.
func facetOf(s string) string {
	for _, expression := range []func() *regexp.Regexp{facet, facetChinese} {
		if found := expression().FindStringSubmatch(s); found != nil {
			return strings.ToLower(strings.TrimSpace(found[1]))
		}
	}
	return ""
}

// isChinese reports the language of a sentence, for the words that are added to it.
func isChinese(s string) bool {
	han, others := 0, 0
	for _, r := range s {
		if r >= 0x4e00 && r <= 0x9fff {
			han++
		} else if r > ' ' {
			others++
		}
	}
	return 4*han > others
}

// in is a phrase in the language of a sentence.
func in(sentence, english, chinese string) string {
	if isChinese(sentence) {
		return chinese
	}
	return english
}

var (
	step        = text.Expression(`(?im)^(?:[\s*#>-]|\[x\])*(?:[①-⑳]|step\s*\d+[.:)]?|\d{1,2}(?:[.)、]|\p{M}+)|第[一二三四五六七八九十]步[:：,，]?)\s*\S`)
	inOrder     = text.Expression(`(?is)\bfirst(?:ly)?\b.+\b(?:then|next|second(?:ly)?)\b.+\b(?:finally|lastly|at the end)\b`)
	inOrderHan  = text.Expression(`(?s)首先.+(?:然后|接着|其次).+最后`)
	fewestSteps = 3
)

// patterns are procedures that a person or an agent described step by step. Steps in a user's message may be pasted,
// so they are for the owner alone.
func patterns(c Conversation) []LessonDraft {
	var found []LessonDraft
	for i, m := range c.Messages {
		reports := reporting().FindStringSubmatch(m.Text())
		prose := strings.TrimSpace(reporting().ReplaceAllString(m.Prose(), ""))
		steps := step().FindAllStringIndex(prose, -1)
		if !m.speaks() || reports != nil && reports[1] == "" ||
			len(steps) < fewestSteps && !either(prose, inOrder, inOrderHan) {
			continue
		}
		f := LessonDraft{Category: domain.CategoryPatterns, Sources: []int{i}, Tags: tagsOf("", "")}
		if m.Role == domain.RoleUser {
			f.Private = maybePasted
		}
		f.Content = reporting().ReplaceAllString(strings.TrimSpace(quoted().ReplaceAllString(m.Text(), "")), "")
		f.Content = cut(f.Content, domain.MaxContent/2)
		heading := firstLine(prose)
		if len(steps) >= fewestSteps {
			heading = firstLine(prose[:steps[0][0]])
		}
		f.Task = heading
		if request := before(c, i); request >= 0 && m.Role != domain.RoleUser {
			f.Sources = append(f.Sources, request)
			if f.Task = requested(c.Messages[request].Text()); f.Task != "" {
				heading = firstLine(f.Task)
			}
		}
		f.Task = cut(f.Task, longestTask)
		told := strings.Join(strings.Fields(prose), " ")
		if !strings.HasPrefix(told, heading) { // a question alone does not contain the answer
			told = heading + " " + told
		}
		f.Abstract = text.Abstract(told, text.AbstractTokens)
		found = append(found, f)
	}
	return found
}

// before is the index of the last user's message before another message; -1 if there is none.
func before(c Conversation, i int) int {
	for i--; i >= 0; i-- {
		if c.Messages[i].Role == domain.RoleUser {
			return i
		}
	}
	return -1
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.Trim(line, "#*: ：")
}
