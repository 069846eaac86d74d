package scrub

import (
	"slices"
	"strings"
)

// Groups in which card numbers are written.
var cardGroups = [][]int{{4, 4, 4, 4, 3}, {4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {6, 13}}

// card is the length of the card number that the text begins with; 0 if there is none.
func card(text string) int {
	var room [8]int
	groups := room[:0]
	var divider byte
	p := 0
	for p < len(text) && len(groups) < len(room) {
		from := p
		for p < len(text) && isDigit(text[p]) {
			p++
		}
		if p == from {
			break
		}
		groups = append(groups, p-from)
		if p == len(text) || text[p] != ' ' && text[p] != '-' || divider != 0 && text[p] != divider {
			break
		}
		divider = text[p]
		p++
	}
	if len(groups) > 0 && groups[0] >= 13 {
		return cardOf(text[:groups[0]])
	}
	for _, form := range cardGroups {
		if len(groups) < len(form) || !slices.Equal(groups[:len(form)], form) {
			continue
		}
		length := len(form) - 1
		for _, n := range form {
			length += n
		}
		if found := cardOf(text[:length]); found > 0 {
			return found
		}
	}
	return 0
}

func cardOf(written string) int {
	if digits := digitsOf(written); isIssued(digits) && luhn(digits) {
		return len(written)
	}
	return 0
}

// isIssued tells whether somebody gives out numbers that begin so and are so long.
func isIssued(d string) bool {
	between := func(low, high string) bool { return d[:len(low)] >= low && d[:len(high)] <= high }
	n := len(d)
	switch {
	case n < 13 || n > 19:
		return false
	case d[0] == '4': // Visa
		return n == 13 || n == 16 || n == 19
	case between("51", "55"), between("2221", "2720"): // Mastercard
		return n == 16
	case between("34", "34"), between("37", "37"): // American Express
		return n == 15
	case between("300", "305"), between("36", "36"), between("38", "39"): // Diners Club
		return n == 14 || n == 16
	case strings.HasPrefix(d, "6011"), between("644", "649"), between("65", "65"): // Discover
		return n == 16 || n == 19
	case between("3528", "3589"): // JCB
		return n == 16 || n == 19
	case between("62", "62"), between("81", "81"): // UnionPay
		return n >= 16
	case between("50", "50"), between("56", "58"), strings.HasPrefix(d, "6304"), between("67", "67"): // Maestro
		return n >= 16
	}
	return false
}

// luhn is the check of ISO/IEC 7812-1, annex B. A number of one digit repeated is nobody's.
func luhn(digits string) bool {
	sum, same := 0, true
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		same = same && digits[i] == digits[0]
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0 && !same
}
