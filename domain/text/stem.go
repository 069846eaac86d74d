package text

import (
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

// Stem is the common form of an English word in lower case: the base of an irregular form, or else the stem of
// Porter's second English stemmer (snowballstem.org/algorithms/english).
func Stem(word string) string {
	seen := stemCaches.Get().(map[string]string)
	defer stemCaches.Put(seen)
	return stemSeen(word, seen)
}

// TermOf is the term of a folded word.
func TermOf(folded string) string {
	if isEnglish(folded) {
		return Stem(folded)
	}
	return folded
}

func isEnglish(folded string) bool {
	return strings.IndexFunc(folded, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// maxSeen bounds how many stems a tokenizer keeps.
const maxSeen = 4096

// stemCaches are stems of words that tokenizers have seen. A look-up is seven times as fast as stemming.
var stemCaches = sync.Pool{New: func() any { return map[string]string{} }}

// stemSeen is [Stem] with a cache.
func stemSeen(word string, seen map[string]string) string {
	if stem, found := seen[word]; found {
		return stem
	}
	form := word
	if base, irregular := irregularForms()[word]; irregular {
		form = base
	}
	if len(form) > 2 && len(form) <= MaxTermBytes {
		form = english.Stem(form, true)
	}
	if len(seen) >= maxSeen {
		clear(seen)
	}
	seen[strings.Clone(word)] = strings.Clone(form)
	return form
}

// irregularForms are the bases of irregular forms.
var irregularForms = sync.OnceValue(func() map[string]string {
	bases := map[string]string{}
	for line := range strings.Lines(irregular) {
		words := strings.Fields(line)
		for i, form := range words {
			if i > 0 {
				bases[form] = words[0]
			}
		}
	}
	return bases
})

// irregular has a verb or noun on each line, before its irregular forms.
const irregular = `
	arise arose arisen
	awake awoke awoken
	be am is are was were been
	bear bore borne
	beat beaten
	become became
	begin began begun
	bend bent
	bite bit bitten
	bleed bled
	blow blew blown
	break broke broken
	breed bred
	bring brought
	build built
	burn burnt
	buy bought
	catch caught
	child children
	choose chose chosen
	cling clung
	come came
	creep crept
	deal dealt
	dig dug
	do did done does
	draw drew drawn
	dream dreamt
	drink drank drunk
	drive drove driven
	eat ate eaten
	fall fell fallen
	feed fed
	feel felt
	fight fought
	find found
	flee fled
	fling flung
	fly flew flown
	foot feet
	forbid forbade forbidden
	forget forgot forgotten
	forgive forgave forgiven
	freeze froze frozen
	get got gotten
	give gave given
	go went gone goes
	goose geese
	grow grew grown
	hang hung
	have has had
	hear heard
	hide hid hidden
	hold held
	keep kept
	kneel knelt
	know knew known
	lay laid
	lead led
	lean leant
	leap leapt
	learn learnt
	leave left
	lend lent
	life lives
	light lit
	lose lost
	make made
	man men
	mean meant
	meet met
	mouse mice
	overcome overcame
	pay paid
	person people
	ride rode ridden
	ring rang rung
	rise rose risen
	run ran
	say said
	see saw seen
	seek sought
	sell sold
	send sent
	sew sewn
	shake shook shaken
	shine shone
	shoot shot
	show shown
	shrink shrank shrunk
	sing sang sung
	sink sank sunk
	sit sat
	sleep slept
	slide slid
	sling slung
	speak spoke spoken
	speed sped
	spell spelt
	spend spent
	spill spilt
	spin spun
	spring sprang sprung
	stand stood
	steal stole stolen
	stick stuck
	sting stung
	strike struck stricken
	strive strove striven
	swear swore sworn
	sweep swept
	swell swollen
	swim swam swum
	swing swung
	take took taken
	teach taught
	tear tore torn
	tell told
	think thought
	throw threw thrown
	tooth teeth
	understand understood
	undertake undertook undertaken
	undo undid undone
	upset upsets
	wake woke woken
	wear wore worn
	weave wove woven
	weep wept
	win won
	wife wives
	wind wound
	withdraw withdrew withdrawn
	woman women
	write wrote written
`

// stopWords are the terms of function words, which say nothing about a subject.
var stopWords = sync.OnceValue(func() map[string]bool { return termSet(stopWordList) })

const stopWordList = `
	a an the this that these those such
	i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
	we us our ours ourselves they them their theirs themselves one
	who whom whose which what when where why how
	be am is are was were been being do does did done doing have has had having
	will would shall should can could may might must ought
	and or but nor so if then than because while although though as until unless
	of at by for with about into onto to from in on out off over under up down through during before after above below
	between again further once here there all any both each few more most other another some no not only own same too very
	just also
	ever never now still yet else
	get got let s t d m ll re ve dont
	的 了 是 在 和 与 及 或 就 都 而 也 着 吗 呢 吧 啊 把 被 从 对 于 个 之 其 这 那 我 你 您 他 她 它 们 有 为 以 到 要 会 可 上 下 中 不 没 很 还 又 再
	什么 怎么 怎样 如何 为什 为何 哪些 哪个 哪里 是否 多少 我们 你们 他们 她们 它们 可以 这个 那个 这些 那些 一个 没有 就是 但是 因为 所以 如果 以及 或者 还是 不是
	です ます した する して いる ある この その これ それ から まで
`

// IsStopWord reports whether a term (a stem, not a word) is too common in its language to say anything about a
// subject. A search may omit it only if the query has other terms.
func IsStopWord(term string) bool { return stopWords()[term] }

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
