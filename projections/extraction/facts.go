package extraction //nolint:lll // expressions and lists of words are data

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
)

// fact is what people tell about themselves. A sentence fills it only with a value of its kind.
type fact struct {
	key        string
	single     bool // a person has one
	expression func() *regexp.Regexp
	kind       func(value string) bool // nil: the expression says enough
}

// Parts of the expressions: adverbs, and the name of a place, an organisation or a person with what may stand before.
const (
	often  = `(?: (?:now|currently|still|also|actually|really|just|mainly|mostly|presently|both|officially|already|always|originally))*`
	proper = `(?:["“']([^"“”'\n]{1,40})["”']|((?-i:\p{Lu}[\p{L}\d.&'-]*)(?: (?:(?:of|de|da|del|der|den|van|von|la|le|du|upon|am|an|the|&) )*(?-i:\p{Lu}[\p{L}\d.&'-]*))*))`
	within = `(?:(?:the|a|an|small|little|big|quiet|old|city|town|village|suburbs?|outskirts|heart|centre|center|north|south|east|west|northern|southern|eastern|western|of|in|near|outside|just|downtown|central|greater|beautiful|sunny) )*`
	han    = `([\p{Han}·]{1,16}|\p{Lu}[\w .&'-]*)`
	self   = `我(?:现在|目前|一直|还|也|就|其实|已经|刚刚?|们|全?家)*`
	role   = `(?:engineer|developer|programmer|designer|manager|teacher|doctor|nurse|student|writer|artist|analyst|scientist|lawyer|founder|consultant|architect|counsell?or|researcher|coach|chef|cook|pilot|accountant|electrician|plumber|journalist|musician|pharmacist|dentist|surgeon|librarian|farmer|driver|carpenter|baker|mechanic|translator|professor|physicist|chemist|biologist|economist|photographer|administrator|sysadmin|tester|intern|therapist|psychologist|editor|director|officer|assistant|technician|operator|specialist|recruiter|salesperson|paramedic|firefighter|soldier|veterinarian|vet|midwife|freelancer|contractor)`
	hanJob = `(?:工程师|程序员|开发|设计师|经理|老师|教师|医生|护士|学生|作家|分析师|律师|会计师?|厨师|司机|记者|研究员|科学家|架构师|顾问|教授|销售|运维|测试|总监|主管|助理|翻译|编辑|摄影师|药剂师|飞行员|公务员|警察|军人|教练)`
	eaten  = `(?:peanut|nut|tree nut|almond|walnut|cashew|hazelnut|milk|dairy|lactose|egg|soy|wheat|gluten|fish|seafood|shellfish|shrimp|prawn|crab|lobster|sesame|mustard|celery|lupin|strawberr(?:y|ie)|kiwi|banana|apple|tomatoe?|mango|pollen|birch|grass|ragweed|dust|dust mite|mould|mold|cat|dog|horse|animal|pet|feather|penicillin|amoxicillin|antibiotic|aspirin|ibuprofen|sulfa|latex|nickel|bee|bee sting|wasp|insect|iodine|perfume|chocolate)`
	eats   = `(?:vegan|vegetarian|pescatarian|flexitarian|lactose[- ]intolerant|gluten[- ]free|celiac|coeliac|diabetic|teetotal(?:l?er)?|keto|kosher|halal)`
)

// identity are the facts about a person, the most certain first.
var identity = []fact{
	{"name", true, text.Expression(`(?i)(?:\bmy (?:full |first |given )?name(?: is|'s)|^(?:please |you can |just |everyone |friends )*calls? me)` + often + ` ` + proper), named},
	{"name", true, text.Expression(`(?:我的(?:名字|姓名)(?:是|叫)|` + self + `(?:叫做?|名叫)|^(?:请|以后|你可以|大家都?)*(?:叫|称呼)我)` + han), named},
	{"home", true, text.Expression(`(?i)\b(?:i|i'm|i am|we|we're|we are)` + often + ` (?:live(?: and work)?|living|based|reside|residing|settled) (?:in|near|at|outside) ` + within + proper), lived},
	{"home", true, text.Expression(self + `(?:(?:现居|居?住|定居)[在于]?|的?家[在住])` + han), lived},
	{"home", false, text.Expression(`(?i)\bi(?:'ve| have)?(?: just| recently| finally)* (?:moved|relocated)(?: back| over| house)?(?: from [\p{L} ]+?)? to ` + within + proper), lived},
	{"home", false, text.Expression(self + `搬(?:家|回|去)?(?:到|去|回)了?` + han), lived},
	{"work", false, text.Expression(`(?i)\bi(?:'ve| have)?(?: just| recently| finally)* (?:joined|started (?:working )?(?:at|for|with)|(?:got|started|accepted|have|found) an? (?:new )?job (?:at|with)) ` + proper), employing},
	{"origin", true, text.Expression(`(?i)\bi(?:'m| am| come)` + often + ` from ` + within + proper), lived},
	{"birthplace", true, text.Expression(`(?i)\bi was born in ` + within + proper), lived},
	{"origin", true, text.Expression(self + `(?:来自|老家(?:在|是))` + han), lived},
	{"birthplace", true, text.Expression(self + `出生[在于]` + han), lived},
	{"work", true, text.Expression(`(?i)\b(?:i(?:'m| am)?` + often + ` (?:work|working|employed)(?: remotely| full-time| part-time)? (?:at|for|by)|my (?:company|employer) is) (?:the |a company called )*` + proper), employing},
	{"work", true, text.Expression(`(?:` + self + `|[，,]现在)在` + han + `(?:工作|上班|任职|就职|实习)|` + self + `(?:就职|任职|供职)于` + han), employing},
	{"job", true, text.Expression(`(?i)\bi(?:'m| am)?` + often + ` (?:work|working|employed) as (an? (?:[\w-]+ ?){1,4})`), nil},
	{"job", true, text.Expression(`(?i)\bi(?:'m| am)` + often + ` (an? (?:[\w-]+ ){0,3}` + role + `)\b`), nil},
	{"job", true, text.Expression(`(?i)\bmy (?:job|job title|role|title|profession|occupation|career)` + often + ` is` + often + ` (an? [\w-]+|(?:[\w-]+ ){0,3}` + role + `)\b`), nil},
	{"job", true, text.Expression(self + `(?:是|当|做|担任)(?:了)?(?:一?[个名位])?([\p{Han}]{0,8}` + hanJob + `)(?:[，。！,.!]|$)|我的(?:职业|工作|岗位)是(?:一?[个名位])?([\p{Han}]{0,8}` + hanJob + `)`), nil},
	{"birthday", true, text.Expression(`(?i)\bmy birthday` + often + ` (?:is|falls)(?: on)? .*\d|\bi was born (?:on|in) .*\d|我的?生日是?在?.*[\d一二三四五六七八九十].*[月日号]|我出生于?.*\d`), nil},
	{"age", true, text.Expression(`(?i)\bi(?:'m| am)` + often + ` 1?\d?\d years old(?:[.,;!]| and| now|$)|我今年.{1,4}岁`), nil},
	{"diet", true, text.Expression(`(?i)\b(?:i(?:'m| am| became| turned| went)|i follow a|my diet is)` + often + `(?: an?)?(?: strict| lifelong)? (` + eats + `)(?:[ .,;!]|$)|` + self + `(?:是|吃)(?:个|一个)?(?:全|纯|严格)?(素|素食(?:主义)?者?|纯素)(?:[，。！,.!者]|$)`), nil},
	{"allergies", false, text.Expression(`(?i)\b(?:i(?:'m| am)` + often + ` (?:not )?(?:\w+ly )?allergic to|i` + often + ` have an? (?:\w+ )?allergy to|i` + often + ` have an?) (?:the |all |raw |tree |cow's |house |some |most )*` + eaten + `(?:e?s)?\b|` + self + `对(?:花生|坚果|核桃|杏仁|腰果|牛奶|奶制品|乳糖|鸡蛋|大豆|小麦|麸质|鱼|海鲜|贝类|虾|螃?蟹|芝麻|花粉|尘螨|灰尘|霉菌|猫毛?|狗毛?|动物|青霉素|头孢|阿司匹林|布洛芬|抗生素|乳胶|酒精|蜂|草莓|芒果|桃子?|巧克力)(?:不|并不|严重|有点|会|也)*过敏`), nil},
	{"native language", true, text.Expression(`(?i)\bmy (?:native|first|mother) (?:language|tongue) is ` + proper + `|我的母语是([\p{Han}]{1,6}[语文话])`), nil},
	{"languages", false, text.Expression(`(?i)\bi(?: can)?` + often + ` speak (?:(?:some|a little|fluent|good|basic) )*` + proper + `|` + self + `(?:会|能)?[说讲]([\p{Han}]{1,6}[语文话])`), nil},
	{"", false, text.Expression(`(?i)\bi(?:'m| am)?` + often + ` work(?:ing)? (?:in|on|with|from) (?:the )?(?:(?-i:\p{Lu})|(?:[\w-]+ ){0,4}(?:team|department|group|squad|unit|project|sector|industry|shifts?|marketing|sales|finance|engineering|hr|research|education|healthcare|support|operations|security|logistics|legal|product|design|accounting|law|medicine|home)\b)|` + self + `负责|我从事`), nil},
	{"studies", false, text.Expression(`(?i)\bi (?:studied|study|majored|have a degree|graduated)\b|我(?:毕业于|读的是|学的是)`), nil},
	{"family", false, text.Expression(`(?i)\bmy (?:wife|husband|partner|son|daughter|mother|father|mom|dad|brother|sister|grandma|grandmother|kids|children|family)(?:'s name|,? \w+,?)? (?:is|are|was|has|have|gave|made|loves?|likes?)\b|\b(?:i|we)(?:'ve got| have(?: got)?) (?:a|an|one|two|three|\d+) (?:\w+ )?(?:kids?|children|sons?|daughters?|dogs?|cats?|pup(?:py|pies|s)?|kitt(?:y|ens?|ies)|brothers?|sisters?|pets?)\b|我(?:的)?(?:妻子|丈夫|老婆|老公|儿子|女儿|孩子|父母|爸爸|妈妈|家人)|我家?养了?`), nil},
	{"person", false, text.Expression(`(?i)\bi(?:'m| am) (?:an?|the) ((?:[\w-]+ ?){1,3})|\bi(?:'ve| have) been (?:a|an|into|doing|working|playing|running|painting|living|married|together)\b|\bas an? \w+,? i\b|\bi grew up in\b|\bmy home country is\b|^我是`), apt},
}

var (
	// asks are the beginnings of facts. A sentence that begins so and has no value of the kind tells nothing.
	framed = text.Expression(`(?i)\bmy name(?:'s| is)\b|^(?:please |just )?call me\b|\b(?:i|i'm|i am)` + often + ` (?:live|living|based|reside) (?:in|at|near|on|under|by|through|for|off|as|proof)\b|\bi(?:'m| am)?` + often + ` work(?:ing)? (?:at|for|as|in|on|like|under|with|best|through)\b|\bmy (?:job|role|title|profession|occupation|career|company|employer|birthday|diet) is\b|\bi(?:'m| am| come)` + often + ` (?:from|allergic)\b|\bi` + often + ` speak (?-i:[a-z])|^(?:请|不要|别|以后|快)*叫我|我(?:现在|也|就)*(?:叫|住|在.*(?:工作|上班))|我的(?:名字|(?:生日|职业|工作|岗位)是)|我对.*过敏`)
	// after is what may follow a value in English.
	after = text.Expression(`(?i)^["”']?(?:$|[.,;:!()—–。，！；、-]|\s+(?:and|but|so|now|since|with|for|near|in|at|on|these|this|today|currently|again|because|where|which|who|until|from|as|by|area|region|city|too|instead|permanently|temporarily|full|part|after|while|please|or|btw|last|a|two|three|\d)\b|\s*[(—–-]|\s*\p{Han})`)
	// several is another name after a value.
	several = text.Expression(`^["”']?(?:,? (?:and|or) \p{Lu}\p{Ll}|(?:, \p{Lu}[\p{L} ]*){2}|, \p{Lu}[\p{L}]+,? (?:and|or) \p{Lu}|[、和与及或]|\s*/)`)
	// retold names a speaker after what they said.
	retold = text.Expression(`(?i)^.{0,30}\b(?:(?:he|she|they) (?:said|says|wrote|asked|replied)|(?:said|says|wrote) (?:he|she|the|(?-i:\p{Lu})))|\b(?:is|was) (?:a|the|my) (?:quote|line|sentence|lyric|example|lie|test|song|title)\b`)

	unnamed = strings.Fields(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays january february march april june july august september october november december christmas easter the i not misspelt back`)
	unlived = strings.Fields(`vs ci cd it ide ides emacs notion figma terminal code http css html sql json yaml api crud todo tickets meetings datadog`)

	surnames = `王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温庄葛章季司康施阮倪安乔牛洪樊易柳殷詹齐梅尚小老阿大`
	hanName  = text.Expression(`^(?:(?:欧阳|诸葛|司马|上官|慕容|夏侯|东方|皇甫|令狐|端木)[\p{Han}]{1,2}|[` + surnames + `][\p{Han}]{1,2}|[\p{Han}]{1,5}·[\p{Han}]{1,5})$`)
	hanVerbs = text.Expression(`[来去走开做停看说帮吃喝了吧你我他她它们的就别不没]$|[你我他她它们不没]|起床|回家|过去|名字|外卖|快递|出租|滚|先生`)
	hanPlace = text.Expression(`^[\p{Han}]{2,12}$`)
	nowhere  = text.Expression(`^(?:这|那|哪|我|你|您|他|她|它|很|太|最|朋友|父母|同事|别人|自己|大家|不|没|同一|恐惧|压力|焦虑|希望|痛苦|幸福|[一二三四五六七八九十两几\d]+(?:[楼层栋号个间套家]|单元))|[这那哪的]|[里中内外旁边近家楼层处房屋店校舍云端代码网梦队组宿]$|(?:[^海]上|[^天]下|这儿|那儿|面|之间|时候?|过去|未来|当下|回忆|公司|酒店|学校|办公室|阶段|状态)$`)
	hanOrg   = text.Expression(`.(?:公司|集团|银行|大学|医院|学校|中学|小学|学院|研究院|研究所|局|科技|工作室|工厂|出版社|报社|法院|机构|实验室|基金会?|政府|电视台|保险|证券|汽车|网络|软件|电子|律所|事务所|博物馆|图书馆)$|^(?:阿里巴?巴?|腾讯|百度|字节(?:跳动)?|华为|美团|京东|滴滴|小米|网易|拼多多|快手|谷歌|微软|苹果|亚马逊|蚂蚁|联想|携程|哔哩哔哩|知乎|微博|顺丰|大疆|比亚迪|特斯拉|中兴|三星|英特尔|英伟达|甲骨文|脸书|奈飞|优步|思科|西门子|博世|宝马|奔驰|蔚来|理想|小鹏|新浪|搜狐|饿了么|淘宝|抖音)$`)
	noOrg    = text.Expression(`^(?:[一这那哪某几两]|家|努力|认真|安静)|[的我你他她]|里$`)

	figures = strings.Fields(`bit little lot tad mess wreck zombie slave prisoner ghost robot machine monster idiot fool sucker only one same best worst first last loser genius`)
)

// named, lived and employing report whether a value is of the kind: a person's name, a place, an organisation.
func named(value string) bool {
	if isChinese(value) {
		return hanName().MatchString(value) && !hanVerbs().MatchString(value)
	}
	first := beginning(value)
	return len(strings.Fields(value)) < 5 && !slices.Contains(unnamed, first) && !slices.Contains(products, first)
}

func lived(value string) bool {
	if isChinese(value) {
		return hanPlace().MatchString(value) && !nowhere().MatchString(value)
	}
	first := beginning(value)
	return !slices.Contains(unnamed, first) && !slices.Contains(unlived, first) && !slices.Contains(products, first)
}

func employing(value string) bool {
	if isChinese(value) {
		return hanOrg().MatchString(value) && !noOrg().MatchString(value)
	}
	return !slices.Contains(unnamed, beginning(value))
}

// apt reports whether a word after "I'm a" is no figure of speech.
func apt(value string) bool {
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(value)), func(w string) bool {
		return slices.Contains(figures, w)
	})
}

// beginning is the first word of a value, in lower case.
func beginning(value string) string {
	first, _, _ := strings.Cut(strings.ToLower(value), " ")
	return strings.TrimSuffix(strings.Trim(first, `."'`), "'s")
}

// claim is the fact that a sentence fills.
type claim struct {
	fact
	value  string
	unsure bool // the value may be another one than it seems
}

// factOf finds the fact that the author of a sentence tells about themselves now.
func factOf(s string) (claim, bool) {
	for _, f := range identity {
		at := f.expression().FindStringSubmatchIndex(s)
		if at == nil || !voiced(s[:at[0]]) || conditional().MatchString(s[:at[0]]) {
			continue
		}
		found, rest := claim{fact: f, value: s[at[0]:at[1]]}, s[at[1]:]
		if i := slices.IndexFunc(at[2:], func(place int) bool { return place >= 0 }); i >= 0 {
			found.value = strings.Trim(s[at[2+i]:at[3+i]], ` .,'"-`)
		}
		if utf8.RuneCountInString(found.value) > 1 && isChinese(found.value) {
			found.value = strings.TrimRight(found.value, "了的呢啊哦呀啦吧")
		}
		proper := f.kind != nil && f.key != "person" // the value is a name
		if f.kind != nil && found.value != "" && !f.kind(found.value) || retold().MatchString(rest) ||
			proper && !isChinese(found.value) && !after().MatchString(rest) {
			continue
		}
		found.unsure = proper && !f.single || proper && several().MatchString(rest)
		if found.unsure && f.key == "name" {
			continue // of a list
		}
		return found, true
	}
	return claim{}, false
}
