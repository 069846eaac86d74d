package text

import "strings"

// exception is a word that no rule gets right.
type exception struct {
	form   string // that it comes from
	isStem bool   // and no rule changes
}

// exceptions are looked up for every word there is: in one place, therefore.
var exceptions = exceptionsOf(spoilt, irregular)

// spoilt are words that the rules would spoil, with their stems.
var spoilt = map[string]string{
	"skis": "ski", "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl",
	"gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}

// irregular forms, which no rule explains, stand behind the form they come from.
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

// exceptionsOf takes stems by their words, and lines of a base and its irregular forms.
func exceptionsOf(stems map[string]string, lines string) map[string]exception {
	all := map[string]exception{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for i, form := range words {
			if i > 0 {
				all[form] = exception{form: words[0]}
			}
		}
	}
	for word, stem := range stems {
		all[word] = exception{form: stem, isStem: true}
	}
	return all
}
