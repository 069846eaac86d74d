package text

// Stem reduces a lower-case English word to the form its relatives share: irregular forms to the form they come from,
// and then by the rules of Porter's second English stemmer (snowballstem.org/algorithms/english). It is our own code for
// its speed alone: a test holds it to a stemmer that is not.
func Stem(word string) string {
	if known, ok := exceptions[word]; ok {
		if known.isStem {
			return known.form
		}
		word = known.form
	}
	if len(word) <= 2 || len(word) > MaxTermBytes {
		return word
	}
	var s stemmer
	s.load(word)
	s.step1a()
	if !s.settled() {
		s.step1b()
		s.step1c()
		// The longest ending that a word has may go or not; no shorter one is tried.
		if e := s.longest(&step2); e != nil && s.step2Allows(e.suffix) {
			s.exchange(e)
		}
		if e := s.longest(&step3); e != nil && s.step3Allows(e.suffix) {
			s.exchange(e)
		}
		if e := s.longest(&step4); e != nil && s.step4Allows(e.suffix) {
			s.exchange(e)
		}
		s.step5()
	}
	return s.result(word)
}

// stemmer works on one word. A y that stands for a consonant is written Y.
type stemmer struct {
	buffer [MaxTermBytes + 1]byte
	n      int
	r1, r2 int // where the regions begin in which endings may go
}

func (s *stemmer) load(word string) {
	s.n = copy(s.buffer[:], word)
	for i, c := range s.buffer[:s.n] {
		if c == 'y' && (i == 0 || s.vowel(i-1)) {
			s.buffer[i] = 'Y'
		}
	}
	s.r1 = s.firstRegion()
	s.r2 = s.region(s.r1)
}

func (s *stemmer) firstRegion() int {
	for _, prefix := range [...]string{"gener", "commun", "arsen"} {
		if s.n >= len(prefix) && string(s.buffer[:len(prefix)]) == prefix {
			return len(prefix)
		}
	}
	return s.region(0)
}

// region begins behind the first consonant that follows a vowel at or behind i.
func (s *stemmer) region(i int) int {
	for i++; i < s.n; i++ {
		if !s.vowel(i) && s.vowel(i-1) {
			return i + 1
		}
	}
	return s.n
}

func (s *stemmer) vowel(i int) bool {
	switch s.buffer[i] {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// hasVowel tells whether there is a vowel before i.
func (s *stemmer) hasVowel(i int) bool {
	for j := range i {
		if s.vowel(j) {
			return true
		}
	}
	return false
}

// shortSyllable tells whether the letters before end close with a syllable such as the "op" of "hop".
func (s *stemmer) shortSyllable(end int) bool {
	switch {
	case end < 2:
		return false
	case end == 2:
		return s.vowel(0) && !s.vowel(1)
	}
	last := s.buffer[end-1]
	return !s.vowel(end-1) && last != 'w' && last != 'x' && last != 'Y' && s.vowel(end-2) && !s.vowel(end-3)
}

func (s *stemmer) ends(suffix string) bool {
	return s.n >= len(suffix) && string(s.buffer[s.n-len(suffix):s.n]) == suffix
}

// put replaces the last cut letters.
func (s *stemmer) put(cut int, ending string) {
	s.n += copy(s.buffer[s.n-cut:], ending) - cut
}

// result avoids a new string where the stem begins the word.
func (s *stemmer) result(word string) string {
	for i, c := range s.buffer[:s.n] {
		if c == 'Y' {
			s.buffer[i] = 'y'
		}
	}
	if s.n <= len(word) && string(s.buffer[:s.n]) == word[:s.n] {
		return word[:s.n]
	}
	return string(s.buffer[:s.n])
}
