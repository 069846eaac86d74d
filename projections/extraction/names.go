package extraction //nolint:lll // expressions and lists of words are data

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/embedding/lexicon"
)

// surnames are the first characters of Chinese names.
const surnames = `[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余杜叶程魏苏吕丁卢姚沈钟姜崔谭陆范汪廖]`

var (
	// technical begins a sentence about a tool, which is no person.
	technical = text.Expression(`^[A-Za-z]*(?:[\d_+:/]|\.[a-z]|[a-z]-[a-z]|[a-z][A-Z]|[A-Z]{2})|^\w+ \d`)
	// person is a title, a pronoun, a relation or the form of a name.
	person = text.Expression(`(?i:\b(?:dr|mrs?|ms|mx|prof|rev|st)\.|\b(?:mr|mrs|dr|prof|professor|doctor|nurse|sir|madam|herr|frau)\s+[a-z]|\b(?:he|him|his|she|hers?|himself|herself|someone's|mom|mum|dad|grandma|grandpa|granny|wife|husband|patients?|colleagues?|employees?|students?|diabet\w+|insulin|asthma|pregnan\w+|(?:sick|parental|maternity|medical) leave|(?:was|were|got|been) (?:fired|dismissed|laid off|arrested|diagnosed))\b)|\bMark (?:has|is|was|needs)\b|\b(?:Ms|Miss)\s\p{Lu}|\b(?:(?:Mc|De|Di|Du|Fitz)\p{Lu}|Mac(?:[AC-Z]|B[^o\W]))\p{Ll}+\b|\b\p{Lu}'\p{Lu}|\b\p{Lu}\.\s?\p{Lu}\p{Ll}|(?:^|[^其])他|她|先生|女士|小姐|太太|医生|大夫|护士|老师|教授|主任|经理|同事|老板|病人|患者|师傅|病假|怀孕|糖尿病|胰岛素|离婚|被解雇|被开除|[小老][王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑]`)
	// surnamed is what may be a Chinese name: after a verb, or as a subject.
	surnamed = text.Expression(`(?:问|找|联系|通知|告诉|让|给|向|叫|请|以|用)(` + surnames + `\p{Han})|(?:^|[^\p{Han}]|因为|由于|由|和|与|跟|替|被|但|是)(` + surnames + `\p{Han})`)
	// capitalised is a word that may be a name, and versioned what follows the name of a product.
	capitalised = text.Expression(`^\p{Lu}\p{Ll}+(?:'s?)?$`)
	versioned   = text.Expression(`^v?\d+(?:\.\d|[+,;:)]|\.?$| (?:requires|needs|supports|works|fails|returns|is|has|does|and|or|on|in|with)\b)`)
	// written divides Chinese from other words, enumerating begins a line that lists tools or systems, and behaved is
	// what follows the name of a program.
	written     = text.Expression(`[\p{Han}，。；：、（）「」“”！？【】]+`)
	enumerating = text.Expression(`(?i)^\W*(?:tools?(?: sequence| used)?|environment|platform|system|工具\p{Han}*|\p{Han}*环境)\W*[:：=]`)
	glued       = text.Expression(`(\p{So}|(?:\b|["'>)\]}])[,;=|<])(\S)|((?:\b|["'>)\]}])[:&+/({\[])(["'\p{Lu}])`)
	// holding is the label of a person.
	holding    = text.Expression(`(?i)^(?:full[_-]?)?(?:name|who|to|from|cc|user|username|owner|assignee|author|reviewer|reporter|approver|requester|customer|client|applicant|contact|recipient|manager|member|guest|tenant|candidate)$`)
	derived    = text.Expression(`(?:ing|ed|tion|sion|ment|ness|ity|[ai]ble)s?$`)
	behaved    = text.Expression(`^(?:returns|returned|throws|threw|supports|crashe[sd]|hangs|depends|[只仅不]?支持|返回|依赖|报错|抛出|崩溃|超时|缺少)`)
	handledHan = text.Expression(`(?:安装|使用|升级|启动|重启|运行|打开|调用|更新|卸载|配置|下载)$`)
)

// products and ordinary words are no names of persons, and handled are words before other names of products.
var (
	products = strings.Fields(`airflow alpine amazon android angular ansible apache apple argo azure babel bash bazel bing bitbucket bookworm cargo cassandra celery ceph chrome chromium clang confluence consul cypress dart darwin debian discord django docker dropbox eclipse edge elasticsearch electron emacs excel express fedora figma firefox flask flutter gerrit git github gitlab gmail go google gradle grafana grep groovy hadoop helm heroku hibernate homebrew intel istio java javascript jenkins jest jira julia kafka keycloak kibana kotlin kubelet kubernetes lambda laravel linux logstash make maven mongo mysql netlify nexus nginx node notion npm numpy okta opera oracle outlook pandas parquet perl photoshop php pip pipenv playwright podman poetry postgres postman powershell prettier prometheus pulumi puppet puppeteer pytest python pytorch rabbit rails react redis rocky rollup rosetta ruby rust safari scala selenium sentry silicon slack snowflake solr sonar spark splunk spring sqlite storybook stripe sudo svelte swift tailwind teams tensorflow terraform thunderbird tomcat traefik travis trino ubuntu unity vagrant vault vercel vim vite vue webpack windows word xcode yarn zoom zookeeper`)
	ordinary = strings.Fields(`saturday august english chinese german french japanese spanish korean russian arch await boolean breakpoint cells cloud commit entity field finding forbidden formulas goal group guest headless job large learned lint many metal observation path pinned policy record role runner secret skills stage string style theme watch workaround works`)
	handled  = strings.Fields(`the a an install start stop restart open close run use using upgrade update build configure launch download pin pinning enable disable deploy uninstall requires supports tried via`)
)

// Words are in clusters by what they mean, and so are names by where they are from.
var (
	reports = meanings(
		"software browser server linux windows python database version install driver script module command library",
		"error file page login download button form cell column header table spreadsheet",
		"chrome firefox java ubuntu oracle google microsoft excel photoshop",
		"element session failure timeout missing parsing restart retry network process memory disk thread",
		"reason cause impact result issue environment region field record condition symptom severity sequence skill summary",
		"use build check run add keep make create set change open close move avoid merge split wait",
		"migration export import backup upload installation update delivery access support",
	)
	peoples = meanings(
		"bob alice john mary peter anna tom susan kevin laura james",
		"miller smith johnson jones brown taylor davis wilson",
		"mohammed ahmed omar yusuf hassan ali fatima khalid",
		"ivan olga dmitri boris sergei natasha vladimir",
		"raj priya patel sharma singh gupta kumar",
		"wang li zhang chen liu yang wei ming",
		"hans klaus jürgen schmidt müller fischer wagner becker",
		"pierre jean luc marie claude françois",
		"carlos maria garcia juan jose luis fernandez rodriguez",
		"tanaka suzuki yuki hiro kenji sakura takahashi",
		"sven lars ingrid erik olsen andersson",
		"rossi marco giovanni luca giuseppe paolo",
	)
)

// meanings are the mean vectors of clusters of words.
func meanings(clusters ...string) func() [][]float32 {
	return sync.OnceValue(func() [][]float32 {
		vectors, _ := embedding.Builtin{}.Embed(context.Background(), clusters, embedding.Document) // never fails
		return vectors
	})
}

// Of 455 names, two are more likely things than this, and 410 are less likely things than any product.
const (
	likelyThing  = 0.02
	likelyPerson = -0.18
	software     = 0.3 // nearness to words of software, which words about persons do not have
)

// nearness is that of a word to the nearest of some clusters; zero if the word is unknown.
func nearness(word string, clusters [][]float32) float64 {
	nearest, vector := -1.0, meanings(word)()[0][:lexicon.Dims]
	for _, cluster := range clusters {
		nearest = max(nearest, embedding.Cosine(vector, cluster[:lexicon.Dims]))
	}
	return nearest
}

// likeness says how much nearer a word is to words of reports than to names.
func likeness(word string) float64 { return nearness(word, reports()) - nearness(word, peoples()) }

// isThing reports whether a word in lower case is no name of a person.
func isThing(word string) bool {
	like := likeness(word)
	return like > likelyThing || like > likelyPerson && derived().MatchString(word) || text.IsStopWord(word) ||
		slices.Contains(products, word) || slices.Contains(ordinary, word) || slices.Contains(commanding, word) ||
		slices.Contains(commanding, strings.TrimSuffix(word, "s"))
}

// isSoftware reports whether a word in lower case names a tool or a part of a program.
func isSoftware(word string) bool {
	return slices.Contains(products, word) || nearness(word, reports()[:3]) > software
}

// ofThing reports whether the subject of a sentence is a tool or a part of a program, whatever the speaker says of it.
func ofThing(s string) bool {
	if technical().MatchString(s) {
		return true
	}
	for word := range strings.FieldsSeq(strings.ToLower(written().ReplaceAllString(s, " $0 "))) {
		if !slices.Contains(naming, word) {
			return isSoftware(word)
		}
	}
	return false
}

// names reports whether a text may be about a person. It knows things better than names, so that it errs towards
// persons.
func names(s string) bool {
	for line := range strings.SplitSeq(straight.Replace(s), "\n") {
		if person().MatchString(line) || named(line) {
			return true
		}
		for _, found := range surnamed().FindAllStringSubmatch(line, -1) {
			who := []rune(found[1] + found[2])
			if _, word := lexicon.Find(string(who)); !word && who[0] != '高' &&
				(found[1] != "" || !strings.ContainsRune("何曾叶", who[0])) {
				return true
			}
		}
	}
	return false
}

// named reports whether a line may have somebody's name in another script than Chinese.
func named(line string) bool {
	all := strings.Fields(glued().ReplaceAllString(written().ReplaceAllString(line, " $0 "), "$1$3 $2$4"))
	opening, held := true, false
	ends := ".:!?)*#-/;—•·：。；！？，、（「“【"
	if enumerating().MatchString(line) {
		ends += ","
	}
	bare := func(i int) string {
		if i < 0 || i >= len(all) {
			return ""
		}
		return strings.Trim(all[i], ".,;:!?()[]{}\"'`*#=|@~<>→-")
	}
	for i, w := range all {
		word, before, next := bare(i), strings.ToLower(bare(i-1)), strings.ToLower(bare(i+1))
		lower := strings.TrimSuffix(strings.ToLower(word), "'s")
		opening = opening || strings.ContainsAny(w[:1], "\"'`") && !held
		if upper := capitalised().MatchString(word); (upper || opening && likeness(lower) < likelyPerson) && !isThing(lower) {
			version := !strings.HasSuffix(w, ",") && versioned().MatchString(strings.Join(all[i+1:min(i+3, len(all))], " "))
			subject := !behaved().MatchString(next) && (plural(next) && len(next) > 3 || slices.Contains(linking, next) ||
				written().MatchString(next))
			product := version || slices.Contains(handled, before) || handledHan().MatchString(before) ||
				slices.Contains(products, before) || isSoftware(next) || strings.Trim(before, "0123456789") == "" && before != ""
			if strings.HasSuffix(word, "'s") || upper && likeness(lower) < likelyPerson && !version ||
				opening && subject || !opening && !product {
				return true
			}
		}
		last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(w, "\"'`"))
		held = holding().MatchString(word) || held && word == ""
		opening = !held && (strings.ContainsRune(ends, last) || unicode.IsSymbol(last) || unicode.IsMark(last))
	}
	return false
}
