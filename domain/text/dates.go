package text

import (
	"fmt"
	"strings"
	"time"
)

// relative are words for a day or a time that depends on when they are said.
var relative = Expression(`(?i)\b(?:yesterday|today|tomorrow|tonight|(?:last|next|this|coming)\s+` +
	`(?:night|morning|evening|week|weekend|month|quarter|year|spring|summer|autumn|fall|winter|` +
	`(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:\w+\s+)?(?:minutes?|hours?|days?|weeks?|months?|years?)\s+ago)\b|` +
	`昨天|今天|明天|前天|后天|昨晚|今晚|今早|明早|[上下本这]个?(?:周|星期|礼拜|月|季度)|[去今明前后]年|刚刚|刚才|` +
	`[几两数半一二三四五六七八九十\d]+个?(?:分钟|小时|天|周|星期|月|年)(?:之|以)?[前后]`)

// AsOf is the date of a text in words, or empty if readers do not need it: when it became true or, for a text about a
// time such as yesterday, when it was written.
func AsOf(s string, occurred, written time.Time) string {
	if occurred.IsZero() && relative().MatchString(s) {
		occurred = written
	}
	day := occurred.UTC().Format(time.DateOnly)
	if occurred.IsZero() || strings.Contains(s, day) {
		return ""
	}
	return "as of " + day
}

// Dated adds the date to a text about a time such as yesterday.
func Dated(s string, at time.Time) string {
	if asOf := AsOf(s, time.Time{}, at); asOf != "" {
		s += " (" + asOf + ")"
	}
	return s
}

// Asides are what readers must know of a hit beside its text: its date, and how many others say the same.
func Asides(s string, occurred, written time.Time, copies int) (asides []string) {
	if asOf := AsOf(s, occurred, written); asOf != "" {
		asides = append(asides, asOf)
	}
	if copies > 0 {
		asides = append(asides, fmt.Sprintf("and %d more", copies))
	}
	return asides
}
