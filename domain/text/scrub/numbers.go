package scrub

import (
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

// The context of a number.
var (
	// Before: the number is part of an identifier, a hash or a version.
	continued = text.Expression(`[\\+#]$|\w[-.,]$|[0-9]:$|(?:^|[^\\])\w$|\\[^ntr\W]$`)
	// After: the number continues.
	goesOn = text.Expression(`^(?:[.,:/-]?[0-9]|-?\w)`)
	unit   = text.Expression(`^ ?(?:(?:bytes?|rows|records|[nmu]s|tokens|requests|events)(?:\W|$)|%|µs|字节|行|条|次)`)
)

// names are words that say what a number is, as the last word or at the end of the last words.
type names struct{ words, ends []string }

var (
	otherNumbers = names{
		strings.Fields(`id sku size port pid seq`),
		strings.Fields(`order orderno ordernumber orderid invoice serial ticket tracking build timestamp offset position
			version 订单 订单号 单号 编号 流水号 工单`),
	}
	phoneNumbers = names{
		strings.Fields(`tel cell fax call at sms`),
		strings.Fields(`telephone phone phonenumber mobile callme callmeat whatsapp 电话 手机 手机号 联系方式`),
	}
)

// end reports whether a text ends with one of the names.
func (n names) end(text string) bool {
	text = strings.TrimRight(text, " \t\"':=#.(：")
	word := text[len(strings.TrimRight(text, letters)):]
	var room [24]byte
	return endsWith(lastWords(room[:0], text), n.ends) || slices.Contains(n.words, strings.ToLower(word))
}

// number finds a card or phone number that begins at i.
func (s *scanner) number(i int) span {
	const longest, shortest, shortestNational, shortestCard = 32, 9, 10, 13
	window, count := numberOf(s.ahead(i, longest))
	if count < shortest || window[0] != '+' && count < shortestNational {
		return span{}
	}
	isAddress := strings.Count(strings.TrimRight(window, " .-("), ".") >= 3 // of a machine
	if isAddress || i > s.from && continued().MatchString(s.before(i, 2)) || s.inPath(i) {
		return span{}
	}
	const nearby = 32
	before := s.before(i, nearby)
	if count >= shortestCard && isDigit(window[0]) && !s.off[Card] {
		if found := s.cardOf(window, i); found != "" && (strings.ContainsAny(found, " -") || !otherNumbers.end(before)) {
			return span{i, i + len(found), Card}
		}
	}
	if isIdentity(s.ahead(i, 20)) && !s.off[Identity] {
		return span{i, i + 18, Identity}
	}
	if found := s.phoneOf(window, before, i); found != "" && !s.off[Phone] {
		return span{i, i + len(found), Phone}
	}
	return span{}
}

// numberOf is the part of a window that may be one number, with the number of its digits.
func numberOf(window string) (number string, count int) {
	for j := range len(window) {
		switch window[j] {
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			count++
		case ' ', '-', '.', '(', ')', '+':
		default:
			return window[:j], count
		}
	}
	return window, count
}

// inPath reports whether i is within a path or a URL.
func (s *scanner) inPath(i int) bool {
	const longest = 256
	if i == s.from || s.text[i-1] != '/' {
		return false
	}
	path := s.before(i, longest)
	path = path[strings.LastIndexAny(path, " \t\n\"'<(=")+1:]
	return strings.Contains(path, "://") || path[0] == '/'
}

type phoneForm struct {
	form      func() *regexp.Regexp
	sure      bool // no other kind of number is written like that
	announced bool // it counts only after a word for a phone number
}

const (
	mobile = `1[3-9][0-9](?:[0-9]{8}|[ -][0-9]{4}[ -][0-9]{4})` // of China
	area   = `[2-9](?:[02-9][0-9]|1[02-9])`                     // or exchange of North America, which 911 is not
)

var international = []phoneForm{
	{form: text.Expression(`^\+[ ]?(?:86|0086)?[ -]?` + mobile), sure: true},
	{form: text.Expression(`^\+1[ .-]?\(?[2-9][0-9]{2}\)?[ .-]?[2-9][0-9]{2}[ .-]?[0-9]{4}`), sure: true},
	{form: text.Expression(`^\+[1-9][0-9]{7,14}`), sure: true},
	{form: text.Expression(`^\+[1-9][0-9]{0,2}(?:[ .-]?\(0?[0-9]{1,4}\))?(?:[ .-][0-9]{1,8}){1,5}`), sure: true},
}

var national = []phoneForm{
	{form: text.Expression(`^(?:(?:86|0086)[ -])?` + mobile)},
	{form: text.Expression(`^00?86[ -]?1[3-9][0-9]{9}`)},
	{form: text.Expression(`^(?:1[ .-])?\([2-9][0-9]{2}\)[ ]?[2-9][0-9]{2}[ .-][0-9]{4}`), sure: true},
	{form: text.Expression(`^(?:1-)?` + area + `-` + area + `-[0-9]{4}`)},
	{form: text.Expression(`^(?:1\.)?` + area + `\.` + area + `\.[0-9]{4}`)},
	{form: text.Expression(`^(?:1[ -]?)?` + area + `[ -]?` + area + `[ -]?[0-9]{4}`), announced: true},
}

// Lengths of the numbers of a country (ITU E.164).
var country = text.Expression(`^(?:[17][0-9]{10}|86[0-9]{9,11}|(?:[2-69][0-9]|8[0-57-9])[0-9]{7,13})$`)

// phoneOf is the phone number at the beginning of a window, which is at i.
func (s *scanner) phoneOf(window, before string, i int) string {
	forms, isInternational := national, window[0] == '+'
	if isInternational {
		forms = international
	}
	for n := range forms {
		form := &forms[n]
		found := form.form().FindString(window)
		after := s.text[i+len(found):]
		switch {
		case found == "", goesOn().MatchString(after[:min(len(after), 2)]):
		case isInternational && !country().MatchString(digitsOf(found)):
		case !form.sure && (otherNumbers.end(before) || unit().MatchString(after[:min(len(after), 12)])):
		case form.announced && !phoneNumbers.end(before):
		default:
			return found
		}
	}
	return ""
}

func digitsOf(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}

// How card numbers are written.
var cardForms = []func() *regexp.Regexp{
	text.Expression(`^[0-9]{13,}`),
	text.Expression(`^[0-9]{4}(?:[ -][0-9]{4}){3}[ -][0-9]{3}`), text.Expression(`^[0-9]{4}(?:[ -][0-9]{4}){3}`),
	text.Expression(`^[0-9]{4}[ -][0-9]{6}[ -][0-9]{4,5}`), text.Expression(`^[0-9]{6}[ -][0-9]{13}`),
}

// issued has the beginnings and lengths of the numbers of each issuer.
var issued = text.Expression(`^(?:` +
	`4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|` + // Visa
	`(?:5[1-5][0-9]{2}|22(?:2[1-9]|[3-9][0-9])|2[3-6][0-9]{2}|27(?:[01][0-9]|20))[0-9]{12}|` + // Mastercard
	`3[47][0-9]{13}|` + // American Express
	`3(?:0[0-5]|[689][0-9])(?:[0-9]{11}|[0-9]{13})|` + // Diners Club
	`6(?:011|4[4-9][0-9]|5[0-9]{2})(?:[0-9]{12}|[0-9]{15})|` + // Discover
	`35(?:2[89]|[3-8][0-9])(?:[0-9]{12}|[0-9]{15})|` + // JCB
	`(?:62|81)[0-9]{14,17}|` + // UnionPay
	`(?:50|5[6-8]|67)[0-9]{14,17}|6304[0-9]{12,15})$`) // Maestro

// cardOf is the card number at the beginning of a window, which is at i.
func (s *scanner) cardOf(window string, i int) string {
	for _, form := range cardForms {
		found := form().FindString(window)
		after := s.text[i+len(found):]
		isMixed := strings.Contains(found, " ") && strings.Contains(found, "-")
		if found == "" || isMixed || goesOn().MatchString(after[:min(len(after), 2)]) {
			continue
		}
		if digits := digitsOf(found); issued().MatchString(digits) && luhn(digits) {
			return found
		}
	}
	return ""
}

// identityForm has the district, the date of birth and the serial number of a Chinese identity number (GB 11643).
var identityForm = text.Expression(
	`^[1-9][0-9]{5}(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx](?:\W|$)`)

// isIdentity tells whether a window begins with an identity number, by its check digit (ISO 7064, MOD 11-2).
func isIdentity(window string) bool {
	if !identityForm().MatchString(window) {
		return false
	}
	sum := 0
	for _, digit := range window[:17] {
		sum = (sum + int(digit-'0')) * 2 % 11
	}
	return "10X98765432"[sum] == strings.ToUpper(window[17:18])[0]
}

// ibanLengths are the lengths of IBANs by country (ISO 13616).
const ibanLengths = `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29
	ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21
	LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24
	SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20`

// iban finds an IBAN that begins at i, with or without a space after every four characters.
func (s *scanner) iban(i int) span {
	const shortest, longest = 15, 45
	window := s.text[i:min(len(s.text), i+longest)]
	if len(window) < shortest || !isUpper(window[0]) || !isUpper(window[1]) || !isDigit(window[2]) {
		return span{}
	}
	_, rest, known := strings.Cut(ibanLengths, s.ahead(i, longest)[:2])
	if !known {
		return span{}
	}
	var code []byte
	end, count := 0, 10*int(rest[0]-'0')+int(rest[1]-'0')
	for ; len(code) < count && end < len(window); end++ {
		switch c := window[end]; {
		case isDigit(c), isUpper(c):
			code = append(code, c)
		case c != ' ' || len(code)%4 != 0 || window[end-1] == ' ':
			return span{}
		}
	}
	if len(code) < count || end < len(window) && isWord(window[end]) {
		return span{}
	}
	remainder := 0 // ISO 7064, MOD 97-10
	for _, c := range append(code[4:], code[:4]...) {
		if isDigit(c) {
			remainder = (remainder*10 + int(c-'0')) % 97
		} else {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		}
	}
	if remainder != 1 {
		return span{}
	}
	return span{i, i + end, IBAN}
}

// luhn is the check of ISO/IEC 7812-1, annex B. It rejects a repeated digit, which is no card number.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0 && strings.Trim(digits, digits[:1]) != ""
}
