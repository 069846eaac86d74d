package text

import "strings"

// stopWords hold a sentence together and say nothing about its subject, as terms.
var stopWords = termSet(`
	a an the this that these those such
	i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
	we us our ours ourselves they them their theirs themselves one
	who whom whose which what when where why how
	be am is are was were been being do does did done doing have has had having
	will would shall should can could may might must ought
	and or but nor so if then than because while although though as until unless
	of at by for with about into onto to from in on out off over under up down through during before after above below between
	again further once here there all any both each few more most other another some no not only own same too very just also
	ever never now still yet else
	get got let s t d m ll re ve dont
	的 了 是 在 和 与 及 或 就 都 而 也 着 吗 呢 吧 啊 把 被 从 对 于 个 之 其 这 那 我 你 您 他 她 它 们 有 为 以 到 要 会 可 上 下 中 不 没 很 还 又 再
	什么 怎么 怎样 如何 为什 为何 哪些 哪个 哪里 是否 多少 我们 你们 他们 她们 它们 可以 这个 那个 这些 那些 一个 没有 就是 但是 因为 所以 如果 以及 或者 还是 不是
	です ます した する して いる ある この その これ それ から まで
`)

// IsStopWord tells whether a term (not a word: terms are stems) is so common in its language that it says nothing about
// the subject. A search that has other terms may leave it out; one that has none must not.
func IsStopWord(term string) bool { return stopWords[term] }

func termSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
		if isASCII(word) {
			set[Stem(word)] = true
		}
	}
	return set
}
