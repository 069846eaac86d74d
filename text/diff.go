package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Op says what became of a part of a text.
type Op string

// What became of it.
const (
	Same    Op = "same"
	Removed Op = "removed"
	Added   Op = "added"
)

// Edit is a part of a text, or of the one that took its place.
type Edit struct {
	Op   Op
	Text string
}

// maxEdits bounds the work of one difference. Texts that differ in more words are shown as one that was
// replaced by another.
const maxEdits = 600

// Diff says how one text became another, word by word; in scripts without spaces character by character.
// The parts that are the same or removed make up before, those that are the same or added make up after.
// It is the shortest script of Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986);
// what stands between two changes and is no word goes with them, so that people can read it.
func Diff(before, after string) []Edit {
	a, b := diffTokens(before), diffTokens(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var s edits
	s.add(Same, a[:head]...)
	s.join(shortest(a[head:len(a)-tail], b[head:len(b)-tail]))
	s.add(Same, a[len(a)-tail:]...)
	return s.flushed()
}

// diffTokens cuts a text into words, characters of scripts without spaces, and what stands between them.
func diffTokens(s string) []string {
	var tokens []string
	for i := 0; i < len(s); {
		kind, size := classAt(s, i)
		end := i + size
		switch kind {
		case classWord:
			for end < len(s) {
				next, size := classAt(s, end)
				if next != classWord {
					break
				}
				end += size
			}
		case classSpace:
			if blank(s[i]) {
				for end < len(s) && blank(s[end]) {
					end++
				}
			}
		}
		tokens = append(tokens, s[i:end])
		i = end
	}
	return tokens
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// step is what becomes of one token.
type step struct {
	op    Op
	token string
}

// shortest is the shortest script from a to b.
func shortest(a, b []string) []step {
	most := min(len(a)+len(b), maxEdits)
	// reach[k+most] is how far the furthest path on diagonal k (place in a less place in b) has come in a.
	reach := make([]int32, 2*most+2)
	var trace [][]int32 // reach before each round, of the diagonals that the round could see
	for d := 0; d <= most; d++ {
		trace = append(trace, append([]int32(nil), reach[most-d:most+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := nextReach(reach[most-d:], d, k)
			for y := x - k; x < len(a) && y < len(b) && a[x] == b[y]; y++ {
				x++
			}
			reach[most+k] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return backwards(a, b, trace)
			}
		}
	}
	steps := make([]step, 0, len(a)+len(b))
	for _, token := range a {
		steps = append(steps, step{Removed, token})
	}
	for _, token := range b {
		steps = append(steps, step{Added, token})
	}
	return steps
}

// nextReach is where a path with d edits begins on diagonal k: reach has those of d-1, from diagonal -d.
func nextReach(reach []int32, d, k int) int {
	down := k == -d || k != d && reach[k-1+d] < reach[k+1+d]
	if down {
		return int(reach[k+1+d])
	}
	return int(reach[k-1+d]) + 1
}

// backwards reads the script off the rounds.
func backwards(a, b []string, trace [][]int32) []step {
	var reversed []step
	x, y := len(a), len(b)
	for d, reach := range slices.Backward(trace) {
		k := x - y
		begin := 0
		if d > 0 {
			begin = nextReach(reach, d, k)
		}
		for x > begin {
			x, y = x-1, y-1
			reversed = append(reversed, step{Same, a[x]})
		}
		if d == 0 {
			break
		}
		if down := k == -d || k != d && reach[k-1+d] < reach[k+1+d]; down {
			y--
			reversed = append(reversed, step{Added, b[y]})
		} else {
			x--
			reversed = append(reversed, step{Removed, a[x]})
		}
	}
	steps := make([]step, len(reversed))
	for i, s := range reversed {
		steps[len(reversed)-1-i] = s
	}
	return steps
}

// edits joins steps into parts: what was removed at a place comes before what was added there.
type edits struct {
	done           []Edit
	removed, added strings.Builder
	between        []string // tokens that are the same, are no words, and follow a change
}

func (s *edits) join(steps []step) {
	for _, step := range steps {
		s.add(step.op, step.token)
	}
}

func (s *edits) add(op Op, tokens ...string) {
	for _, token := range tokens {
		switch {
		case op == Same && s.changing() && !isWord(token):
			s.between = append(s.between, token)
			continue
		case op == Same:
			s.settle()
			s.append(Same, token)
			continue
		}
		for _, b := range s.between {
			s.removed.WriteString(b)
			s.added.WriteString(b)
		}
		s.between = nil
		if op == Removed {
			s.removed.WriteString(token)
		} else {
			s.added.WriteString(token)
		}
	}
}

func (s *edits) changing() bool { return s.removed.Len()+s.added.Len() > 0 }

// settle ends a change.
func (s *edits) settle() {
	s.append(Removed, s.removed.String())
	s.append(Added, s.added.String())
	s.removed.Reset()
	s.added.Reset()
	for _, token := range s.between {
		s.append(Same, token)
	}
	s.between = nil
}

func (s *edits) append(op Op, text string) {
	last := len(s.done) - 1
	switch {
	case text == "":
	case last >= 0 && s.done[last].Op == op:
		s.done[last].Text += text
	default:
		s.done = append(s.done, Edit{op, text})
	}
}

func (s *edits) flushed() []Edit {
	s.settle()
	return s.done
}

func isWord(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return classOf(r) != classSpace
}
