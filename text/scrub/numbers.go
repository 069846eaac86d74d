package scrub

import (
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/text"
)

// longestNumber bounds how far a number may reach with what divides it.
const longestNumber = 32

// number finds a card or phone number that begins at i.
func (s *scanner) number(i int) span {
	text := s.text
	if !s.mayBegin(i) {
		return span{}
	}
	s.spend(longestNumber)
	window, digits := written(text[i:min(len(text), i+longestNumber)])
	if digits < fewestDigits || text[i] != '+' && digits < fewestNational || strings.Count(strings.TrimRight(window, " .-("), ".") >= 3 { // an IP address
		return span{}
	}
	if isDigit(text[i]) && digits >= 13 && !s.off[Card] {
		if length := card(window); length > 0 && mayEnd(text, i+length) && (strings.ContainsAny(window[:length], " -") || !isNumbered(text[:i])) {
			return span{i, i + length, Card}
		}
	}
	if s.off[Phone] {
		return span{}
	}
	for n := range phoneForms {
		form := &phoneForms[n]
		if strings.IndexByte(form.first, text[i]) < 0 {
			continue
		}
		found := form.re().FindString(window)
		if found == "" || !mayEnd(text, i+len(found)) {
			continue
		}
		if form.fits(found) && (form.sure || !isNumbered(text[:i]) && !isQuantity(text[i+len(found):])) && (!form.announced || isAnnounced(text[:i])) {
			return span{i, i + len(found), Phone}
		}
	}
	return span{}
}

// mayBegin refuses what is part of something longer: an identifier, a hash, a version, a path.
func (s *scanner) mayBegin(i int) bool {
	if i == s.from {
		return true
	}
	text := s.text
	switch c := text[i-1]; c {
	case '\\', '+', '#':
		return false
	case '-', '.', ':', ',':
		return !wordAt(text, i-2) || c == ':' && !isDigit(text[i-2])
	case '/':
		const longestPath = 256
		before := text[max(0, i-longestPath):i]
		s.spend(len(before))
		before = before[strings.LastIndexAny(before, " \t\n\"'<(=")+1:]
		return !strings.Contains(before, "://") && before[0] != '/'
	default:
		return !isWord(c) || i >= 2 && strings.IndexByte("ntr", c) >= 0 && text[i-2] == '\\'
	}
}

// mayEnd refuses what goes on.
func mayEnd(text string, i int) bool {
	if i >= len(text) {
		return true
	}
	switch c := text[i]; c {
	case '.', ',', '-', ':', '/':
		return !digitAt(text, i+1) && (c != '-' || !wordAt(text, i+1))
	default:
		return !isWord(c)
	}
}

// written is what can be one number, and how many digits it has.
func written(window string) (number string, digits int) {
	for j := range len(window) {
		switch c := window[j]; c {
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			digits++
		case ' ', '-', '.', '(', ')', '+':
		default:
			return window[:j], digits
		}
	}
	return window, digits
}

// Fewer digits are no number of anybody.
const fewestDigits, fewestNational = 9, 10

type phoneForm struct {
	first     string // the bytes that it may begin with
	re        func() *regexp.Regexp
	sure      bool // nothing else is written like that
	announced bool // only where a word before says that it is a phone number
	fits      func(number string) bool
}

// phoneForms: international, Chinese mobile, North American.
var phoneForms = []phoneForm{
	{first: "+", re: text.Expression(`^\+[ ]?(?:86|0086)?[ -]?1[3-9][0-9](?:[0-9]{8}|[ -][0-9]{4}[ -][0-9]{4})`), sure: true, fits: hasCountry},
	{first: "+", re: text.Expression(`^\+1[ .-]?\(?[2-9][0-9]{2}\)?[ .-]?[2-9][0-9]{2}[ .-]?[0-9]{4}`), sure: true, fits: always},
	{first: "+", re: text.Expression(`^\+[1-9][0-9]{7,14}`), sure: true, fits: hasCountry},
	{first: "+", re: text.Expression(`^\+[1-9][0-9]{0,2}(?:[ .-]?\(0?[0-9]{1,4}\))?(?:[ .-][0-9]{1,8}){1,5}`), sure: true, fits: hasCountry},
	{first: "108", re: text.Expression(`^(?:(?:86|0086)[ -])?1[3-9][0-9](?:[0-9]{8}|[ -][0-9]{4}[ -][0-9]{4})`), fits: always},
	{first: "0", re: text.Expression(`^00?86[ -]?1[3-9][0-9]{9}`), fits: always},
	{first: "1(", re: text.Expression(`^(?:1[ .-])?\([2-9][0-9]{2}\)[ ]?[2-9][0-9]{2}[ .-][0-9]{4}`), sure: true, fits: always},
	{first: "123456789", re: text.Expression(`^(?:1-)?[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}`), fits: northAmerican},
	{first: "123456789", re: text.Expression(`^(?:1\.)?[2-9][0-9]{2}\.[2-9][0-9]{2}\.[0-9]{4}`), fits: northAmerican},
	{first: "123456789", re: text.Expression(`^(?:1[ -]?)?[2-9][0-9]{2}[ -]?[2-9][0-9]{2}[ -]?[0-9]{4}`), announced: true, fits: northAmerican},
}

func always(string) bool { return true }

// northAmerican refuses area codes and exchanges such as 911.
func northAmerican(number string) bool {
	d := digitsOf(number)
	d = d[len(d)-10:]
	return d[1:3] != "11" && d[4:6] != "11"
}

// Country codes of one and two digits (ITU E.164); whatever else begins like that has three.
var countries = []string{
	"1", "7", "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49", "51", "52", "53", "54", "55", "56",
	"57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
}

func hasCountry(number string) bool {
	d := digitsOf(number)
	country := d[:min(3, len(d))]
	for _, c := range countries {
		if strings.HasPrefix(d, c) {
			country = c
			break
		}
	}
	national := len(d) - len(country)
	switch country {
	case "1", "7":
		return national == 10
	case "86":
		return national >= 9 && national <= 11
	}
	return national >= 6 && len(d) >= 9 && len(d) <= 15 && strings.IndexByte("23456789", d[0]) >= 0
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// isNumbered tells whether what stands before says that a number is none of a phone or card.
func isNumbered(before string) bool {
	return endsWithAny(before, "order", "orderno", "ordernumber", "orderid", "invoice", "id", "serial", "sku", "ticket", "tracking", "build",
		"timestamp", "size", "offset", "port", "pid", "seq", "position", "version", "订单", "订单号", "单号", "编号", "运单号", "流水号", "工单")
}

// isAnnounced tells whether what stands before says that it is a phone number.
func isAnnounced(before string) bool {
	return endsWithAny(before, "tel", "telephone", "phone", "phonenumber", "mobile", "cell", "fax", "call", "callme", "callmeat", "at", "sms", "whatsapp", "电话", "手机", "手机号", "联系方式")
}

func endsWithAny(before string, words ...string) bool {
	const nearby = 32
	before = strings.TrimRight(before[max(0, len(before)-nearby):], " \t\"':=#.(")
	before = strings.TrimSuffix(strings.TrimSuffix(before, wideColon), " ")
	var room [nearby]byte
	name := room[:0]
	for i := len(before) - 1; i >= 0; i-- {
		switch c := before[i]; {
		case isUpper(c):
			name = append(name, c|0x20)
		case isLower(c), isDigit(c), c >= 0x80:
			name = append(name, c)
		case c != '_' && c != '-' && c != ' ':
			i = 0
		}
	}
	slices.Reverse(name)
	word := lastWord(before)
	for _, w := range words {
		if w == word || len(w) > 4 && strings.HasSuffix(string(name), w) {
			return true
		}
	}
	return false
}

// lastWord is the last word, in lower case; of Chinese the last signs.
func lastWord(s string) string {
	start := len(s)
	for start > 0 && (isUpper(s[start-1]) || isLower(s[start-1])) {
		start--
	}
	return strings.ToLower(s[start:])
}

// isQuantity tells whether a unit follows.
func isQuantity(after string) bool {
	after = strings.TrimPrefix(after, " ")
	for _, unit := range []string{"bytes", "byte", "rows", "records", "ns", "ms", "µs", "us", "tokens", "requests", "events", "%", "字节", "行", "条", "次"} {
		if strings.HasPrefix(after, unit) && !wordAt(after, len(unit)) {
			return true
		}
	}
	return false
}

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
