package extraction //nolint:lll // expressions and lists of words are data

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

// The forms of a statement in English: words that may begin its subject, and words that end the search for its verb.
var (
	owning     = strings.Fields(`my our his her their`)
	naming     = strings.Fields(`the a an every each all both no most many only`)
	people     = strings.Fields(`we they everyone everybody nobody`)
	linking    = strings.Fields(`is are was were has have had must may can cannot will shall isn't aren't wasn't weren't hasn't haven't can't won't doesn't don't never always only does do`)
	breaking   = strings.Fields(`that which who if whether because when where while so but then and or than how what why to it them you me us please i the a an this these those sure nothing everything`)
	perceiving = strings.Fields(`looks seems feels sounds appears shows says means makes helps`)
	// notNow are what people want, think and see in a conversation, after we or I.
	notNow = strings.Fields(`need want should could would might must've see saw get got think guess hope wish dream know mean wonder understand agree believe feel suggest expect assume suppose can can't will won't may didn't did tried ran am do don't'll let`)
	// commanding are verbs that begin a request, and other words that begin no statement.
	commanding = strings.Fields(`add adjust allow answer append apply archive ask assign assume avoid back be begin benchmark build bump bring call cancel catch change check choose clean clear click clone close combine come commit compare compile compress compute configure confirm connect consider continue convert copy correct count create cut debug declare define delete deploy describe design detect disable discard document do don't double download draft draw drop dump edit enable ensure estimate evaluate examine exclude execute expand explain export extend extract fetch fill filter find finish fix focus follow force format generate get give go group guess handle help hide hold ignore implement import improve include increase indent initialize inline insert inspect install investigate invoke join jump keep kill launch leave let let's limit lint list load lock log look lower make mark match measure merge migrate minimize mock modify monitor move name never note now open optimise optimize organize output parse paste patch perform pick pin ping plan plot post prepare print profile propose prove provide prune publish pull push put raise rate read rebase rebuild recommend record reduce refactor refer regenerate reject release reload remember remind remove rename render reopen reorder repeat rephrase replace reply report request require rerun reset resolve restart restore restructure retry return revert review revise rewrite roll run save say scan schedule search see select send separate set share shorten show simplify skip solve sort speed split squash stage start stash stay stick stop store strip style submit suggest summarise summarize swap switch sync take talk tell test throw tidy translate trim try turn type undo uninstall unify update upgrade upload use validate verify view wait walk watch wire wrap write
		analyse analyze automate backfill calculate classify collect compile crawl decode decompress decrypt deduplicate
		diagnose encode encrypt enumerate gather ingest localize normalize parallelize parse predict reconcile render
		resize rotate sanitize scaffold scrape train transcode transcribe transform transpose unzip vectorize warm
		thanks thank thx ok okay yes yeah yep no nope sure great good nice cool perfect awesome hi hello hey bye sorry please well hmm wow looks sounds works seems makes same still not just maybe perhaps what who whom whose where when why how which is are was were am do does did can could would should will shall may might must has have had it it's its this that that's these those there there's here here's you you're your i i'm i'll i've i'd he she he's she's let's if so and but or any some another one two in on at for from with without before after by as to of about`)
	fleeting = strings.Fields(`green red done ready fine ok okay good great broken stuck down up wrong correct right missing fixed slow weird strange perfect nice cool awesome clear true false empty finished complete available online offline back here passing failing running back working useful helpful interesting better worse enough unclear confusing ugly annoying`)
	filling  = strings.Fields(`not very so too quite really all now still already almost finally just also again totally completely pretty a bit much usually generally currently often`)
)

var (
	lead      = text.Expression(`(?i)^(?:(?:and|also|so|but|btw|by the way|fyi|note|just so you know|for (?:your )?(?:info|information|reference|the record)|hi|hello|hey|well|actually|yes|remember)(?: that)?[,:]? |(?:另外|还有|对了|顺便说一下|顺便|注意|补充一下|备注|其实)[，,：: ]?)+`)
	labelled  = text.Expression(`^[\w \p{Han}-]{2,40}[:：=] ?[^/\s]`)
	momentary = text.Expression(`(?i)\b(?:again|yet|right now|at the moment|today|tonight|just now)\b|有问题|正在|刚|现在|今天|马上|了[。.!！]*$`)
	measured  = text.Expression(`(?i)\d ?(?:s|ms|secs?|seconds?|min|minutes?|hours?|h|days?|%|[kmgt]i?b|times)\b|[\d一二三四五六七八九十百千] ?(?:毫?秒|分钟|小时|天|次|%)`)

	askingHan     = text.Expression(`[吗呢么吧][。！!]?$|什么|怎么|怎样|为何|哪[个些里儿天]|谁|几[个点时天次]|多少|如何|是否|能不能|可不可以|有没有|是不是|要不要|会不会|行不行|对不对|好不好`)
	requestingHan = text.Expression(`^(?:请|麻烦|帮|把|将|给|让|替|先|再|快|别|不要|不用|来|去|看|查|试|跑|写|改|加|删|修|找|搜|列|点击|按下|抓取|爬取|采集|收集|渲染|转换|登录|解析|提取|训练|计算|统计|绘制|迁移|编译|扫描|识别|预测|发送|制作|换|用|打开|打印|关闭|继续|检查|运行|执行|生成|创建|新建|添加|增加|启动|重启|停止|提交|推送|拉取|合并|升级|安装|卸载|解释|说明|总结|翻译|告诉|确认|优化|重构|实现|完成|调整|设置|配置|移动|复制|拆分|压缩|下载|上传|导出|导入|格式化|回滚|撤销|恢复|清理|整理|对比|比较|分析|评估|画|做|按照|参考|忽略|保留|保存|记录|补充|简化|统一|处理|验证|回答|等)|^(?:测试|部署|发布|更新|构建|备份|监控)(?:一下|所有|全部|这|新|最新|登录|[\p{Han}]{0,8}(?:并|然后|到|为|给))|一下|先.*(?:再|然后)|之前先|后再|告诉我|给我|帮我|发给|让我|让它|让他`)
	politeHan     = text.Expression(`^(?:好[的吧啊，,。！!]|行|可以|谢|多谢|感谢|辛苦|不错|太|很好|真|没问题|没事|没关系|收到|明白|了解|知道|嗯|哦|哈|你|您|早|晚安|再见|拜拜|对不起|抱歉|算了|对|不对|是的|没错|厉害|棒|完美|[这那](?:是|正|就|样|不|也|可|太|很|里|边|么|下|些?都)|它|我(?:觉得|想|要|认为|看|试|再|先|去|来|知道|明白|同意|不|希望|猜|也|会|马上))`)
	statingHan    = text.Expression(`^[^，,。；;]{1,24}?(?:是|叫|在|用|以|对|由|有|为|按|位于|属于|归|使用|采用|需要|要求|依赖|支持|要|会|只|都|必须|不能|不会|禁止|每|最|能|住|不|负责|维护|超时|到期|过期|默认|存|放|等于|运行|保留|限)`)
	compoundHan   = text.Expression(`用[户例途法]|存[储档]|[缓内库]存|对[象话账比齐]|有效|会[话员议]|在线|不同|权限|限[流制]|按[钮键]|最[新大小]|归[档并]|为空|放大`)
	habitHan      = text.Expression(`^我(?:们|的|家|每|平时|通常|一般|总|从|对)`)
	statingEach   = text.Expression(`^(?:每|所有|任何|凡是)`)
)

// asserts reports whether a sentence has the form of a statement: a subject, then a verb, then something about the
// subject. A lasting one is not about this conversation, nor about how things are just now.
func asserts(s string, lasting bool) bool {
	s = strings.TrimSpace(lead().ReplaceAllString(straight.Replace(s), ""))
	troubled := either(s, problem, problemChinese) && !measured().MatchString(s)
	switch {
	case asking().MatchString(s), requesting().MatchString(s), passing().MatchString(s),
		strings.Contains(strings.ToLower(s), "please"),
		lasting && (troubled || momentary().MatchString(s)):
		return false
	case isChinese(s):
		return !askingHan().MatchString(s) && !requestingHan().MatchString(s) && !politeHan().MatchString(s) &&
			(statingHan().MatchString(compoundHan().ReplaceAllString(s, "其")) || statingEach().MatchString(s) ||
				!lasting && labelled().MatchString(s)) &&
			(!lasting || !strings.HasPrefix(s, "我") || habitHan().MatchString(s))
	}
	words := strings.Fields(strings.ToLower(strings.TrimRight(s, ".!")))
	for i := range words {
		words[i] = strings.Trim(words[i], `,;:"()`)
	}
	if len(words) < 3 {
		return !lasting && labelled().MatchString(s) && len(words) > 1
	}
	first, from, loose := words[0], 1, false
	switch {
	case slices.Contains(people, first):
		return !slices.Contains(notNow, words[1]) && (words[1] != "are" || !strings.HasSuffix(words[2], "ing"))
	case slices.Contains(owning, first), strings.HasSuffix(first, "s'"),
		strings.HasSuffix(first, "'s") && !slices.Contains(commanding, first):
		from, loose = 2, true
	case slices.Contains(naming, first):
		from = 2
	case first == "i" || first == "i'm":
		passes := func(w string) bool { return slices.Contains(notNow, w) || slices.Contains(fleeting, w) }
		return !slices.ContainsFunc(words[1:3], passes) && !(lasting && (strings.HasSuffix(words[1], "ed") ||
			strings.HasSuffix(words[1], "ing") || slices.Contains(filling, words[1])))
	case !lasting && slices.Contains(strings.Fields("it it's this that there there's he she"), first):
		return len(words) > 4
	case slices.Contains(commanding, first):
		return false
	}
	for i := from; i < len(words)-1 && i < from+6; i++ {
		w, before := words[i], words[i-1]
		third := plural(w) && len(w) > 3 && !slices.Contains(modifying, before) &&
			(i == 1 || !strings.HasSuffix(before, "ing"))
		switch {
		case slices.Contains(linking, w):
			return !lasting || predicates(words[i+1:])
		case slices.Contains(perceiving, w):
			return !lasting
		case third && (i > from || !plural(words[i+1])),
			loose && strings.HasSuffix(w, "ed"),
			plural(before) && i+1 < len(words) && slices.Contains(following, words[i+1]) && !slices.Contains(following, w):
			return true
		case slices.Contains(breaking, w):
			return !lasting && labelled().MatchString(s)
		}
	}
	return !lasting && labelled().MatchString(s)
}

// following are words that follow a verb, rather than a noun.
var following = strings.Fields(`on in at to the a an every only for from with by after before until via as our my into about`)

// modifying are words after which a noun follows.
var modifying = strings.Fields(`two three four five ten few several same other new old last next first second following`)

// plural reports whether a word ends like a noun in the plural, or like a verb in the third person.
func plural(w string) bool {
	return strings.HasSuffix(w, "s") && !slices.ContainsFunc([]string{"ss", "us", "is", "'s"}, func(end string) bool {
		return strings.HasSuffix(w, end)
	})
}

// predicates reports whether the words after a verb say more than how something is just now.
func predicates(words []string) bool {
	for len(words) > 0 && slices.Contains(filling, words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && !(len(words) < 3 && slices.Contains(fleeting, words[0])) &&
		!(strings.HasSuffix(words[0], "ing") && len(words) < 3)
}
