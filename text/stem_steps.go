package text

// ending is a suffix and what replaces it.
type ending struct{ suffix, by string }

// endings are those of a step, by their last letter: few share one. Longer suffixes stand before those they end with.
type endings [256][]ending

func byLastLetter(all []ending) (by endings) {
	for _, e := range all {
		last := e.suffix[len(e.suffix)-1]
		by[last] = append(by[last], e)
	}
	return by
}

var (
	step2 = byLastLetter([]ending{
		{"ational", "ate"},
		{"ization", "ize"},
		{"fulness", "ful"},
		{"ousness", "ous"},
		{"iveness", "ive"},
		{"tional", "tion"},
		{"biliti", "ble"},
		{"lessli", "less"},
		{"entli", "ent"},
		{"ation", "ate"},
		{"alism", "al"},
		{"aliti", "al"},
		{"ousli", "ous"},
		{"iviti", "ive"},
		{"fulli", "ful"},
		{"enci", "ence"},
		{"anci", "ance"},
		{"abli", "able"},
		{"izer", "ize"},
		{"ator", "ate"},
		{"alli", "al"},
		{"bli", "ble"},
		{"ogi", "og"},
		{"li", ""},
	})
	step3 = byLastLetter([]ending{
		{"ational", "ate"},
		{"tional", "tion"},
		{"alize", "al"},
		{"icate", "ic"},
		{"iciti", "ic"},
		{"ative", ""},
		{"ical", "ic"},
		{"ness", ""},
		{"ful", ""},
	})
	step4 = byLastLetter([]ending{
		{"ement", ""},
		{"ance", ""},
		{"ence", ""},
		{"able", ""},
		{"ible", ""},
		{"ment", ""},
		{"ant", ""},
		{"ent", ""},
		{"ism", ""},
		{"ate", ""},
		{"iti", ""},
		{"ous", ""},
		{"ive", ""},
		{"ize", ""},
		{"ion", ""},
		{"al", ""},
		{"er", ""},
		{"ic", ""},
	})
)

// longest is the longest ending that the word has, nil if it has none or if none may go from its region.
func (s *stemmer) longest(of *endings) *ending {
	const shortest = 2 // of all endings
	if s.n-s.r1 < shortest {
		return nil
	}
	alike := of[s.buffer[s.n-1]]
	for i := range alike {
		if s.ends(alike[i].suffix) {
			return &alike[i]
		}
	}
	return nil
}

func (s *stemmer) exchange(e *ending) { s.put(len(e.suffix), e.by) }

// before returns the letter in front of a suffix, 0 if there is none.
func (s *stemmer) before(suffix string) byte {
	if s.n == len(suffix) {
		return 0
	}
	return s.buffer[s.n-len(suffix)-1]
}

func (s *stemmer) step2Allows(suffix string) bool {
	if s.n-len(suffix) < s.r1 {
		return false
	}
	switch suffix {
	case "ogi":
		return s.before(suffix) == 'l'
	case "li":
		switch s.before(suffix) {
		case 'c', 'd', 'e', 'g', 'h', 'k', 'm', 'n', 'r', 't':
			return true
		}
		return false
	}
	return true
}

func (s *stemmer) step3Allows(suffix string) bool {
	region := s.r1
	if suffix == "ative" {
		region = s.r2
	}
	return s.n-len(suffix) >= region
}

func (s *stemmer) step4Allows(suffix string) bool {
	if s.n-len(suffix) < s.r2 {
		return false
	}
	return suffix != "ion" || s.before(suffix) == 's' || s.before(suffix) == 't'
}

// step1a takes the s of plurals and verbs.
func (s *stemmer) step1a() {
	if last := s.buffer[s.n-1]; last != 's' && last != 'd' {
		return
	}
	switch {
	case s.ends("sses"):
		s.put(2, "")
	case s.ends("ied"), s.ends("ies"):
		if s.n > 4 {
			s.put(2, "")
		} else {
			s.put(1, "")
		}
	case s.ends("us"), s.ends("ss"):
	case s.ends("s") && s.hasVowel(s.n-2):
		s.put(1, "")
	}
}

// settled names the words that later steps would spoil.
func (s *stemmer) settled() bool {
	switch string(s.buffer[:s.n]) {
	case "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed":
		return true
	}
	return false
}

// step1b takes -ed and -ing, and mends what is left.
func (s *stemmer) step1b() {
	if last := s.buffer[s.n-1]; last != 'd' && last != 'g' && last != 'y' {
		return
	}
	for _, suffix := range [...]string{"eedly", "eed"} {
		if s.ends(suffix) {
			if s.n-len(suffix) >= s.r1 {
				s.put(len(suffix), "ee")
			}
			return
		}
	}
	for _, suffix := range [...]string{"ingly", "edly", "ing", "ed"} {
		if !s.ends(suffix) {
			continue
		}
		if s.hasVowel(s.n - len(suffix)) {
			s.put(len(suffix), "")
			s.mend()
		}
		return
	}
}

func (s *stemmer) mend() {
	switch {
	case s.ends("at"), s.ends("bl"), s.ends("iz"):
		s.put(0, "e")
	case s.doubled():
		s.put(1, "")
	case s.r1 >= s.n && s.shortSyllable(s.n):
		s.put(0, "e")
	}
}

func (s *stemmer) doubled() bool {
	if s.n < 2 || s.buffer[s.n-1] != s.buffer[s.n-2] {
		return false
	}
	switch s.buffer[s.n-1] {
	case 'b', 'd', 'f', 'g', 'm', 'n', 'p', 'r', 't':
		return true
	}
	return false
}

// step1c writes a final y behind a consonant as i.
func (s *stemmer) step1c() {
	if last := s.buffer[s.n-1]; s.n > 2 && (last == 'y' || last == 'Y') && !s.vowel(s.n-2) {
		s.buffer[s.n-1] = 'i'
	}
}

// step5 takes a final e, and one l of two.
func (s *stemmer) step5() {
	switch end := s.n - 1; s.buffer[end] {
	case 'e':
		if end >= s.r2 || end >= s.r1 && !s.shortSyllable(end) {
			s.n--
		}
	case 'l':
		if end >= s.r2 && end > 0 && s.buffer[end-1] == 'l' {
			s.n--
		}
	}
}
