package markdown

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// months are how the names of months begin in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish,
// Russian and the languages of Scandinavia.
var months = [][]string{
	{"jan", "ene", "gen", "sty", "янв"},
	{"feb", "fév", "fev", "lut", "фев"},
	{"mar", "mär", "maa", "mrt", "мар"},
	{"apr", "avr", "abr", "kwi", "апр"},
	{"may", "mai", "maj", "mei", "mag", "май", "мая"},
	{"jun", "juin", "giu", "cze", "июн"},
	{"jul", "juil", "lug", "lip", "июл"},
	{"aug", "aoû", "aou", "ago", "sie", "авг"},
	{"sep", "set", "wrz", "сен"},
	{"oct", "okt", "out", "ott", "paź", "окт"},
	{"nov", "lis", "ноя"},
	{"dec", "dez", "déc", "dic", "gru", "дек"},
}

// dates are the forms of dates, with the parts y, m and d.
var dates = []*regexp.Regexp{
	regexp.MustCompile(`(?P<y>(?:19|20)\d\d)(?:[-./_]|\s?[年년]\s?)(?P<m>\d{1,2})` +
		`(?:[-./_]|\s?[月월]\s?)(?P<d>\d{1,2})(?:[日일]|\b|_|T)`),
	regexp.MustCompile(`^(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?:\d{4}|\d{6})?(?:\D|$)`),
	regexp.MustCompile(`\b(?P<d>\d{1,2})(?P<s>[-./])(?P<m>\d{1,2})[-./](?P<y>(?:19|20)\d\d)\b`),
	regexp.MustCompile(`\b(?P<d>\d{1,2})(?:[\p{L}º]{1,2})?[-.\s]+(?:de\s+)?(?P<m>\p{L}{3,})[-.,\s]+` +
		`(?:de\s+)?(?P<y>(?:19|20)\d\d)\b`),
	regexp.MustCompile(`(?P<m>\p{L}{3,})\.?\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y>(?:19|20)\d\d)\b`),
}

var clock = regexp.MustCompile(`(?i)^[\s,T]*(?:at\s+)?(\d{1,2}:\d\d)(:\d\d)?(?:\.\d+)?\s*([ap]m\b)?`)

// ParseDate is a time in one of the usual forms, in any text; nil for another text, or for a time to come.
func ParseDate(text string) *time.Time {
	at, _, _ := dateIn(text)
	return at
}

// dateIn is the first date in a text, and where it stands.
func dateIn(text string) (at *time.Time, from, to int) {
	text = strings.TrimSpace(text)
	if exact, err := time.Parse(time.RFC3339Nano, text); err == nil {
		exact = exact.UTC()
		return past(exact), 0, len(text)
	}
	for _, form := range dates {
		found := form.FindStringSubmatchIndex(text)
		if found == nil {
			continue
		}
		part := func(name string) string {
			if i := 2 * form.SubexpIndex(name); i > 0 && found[i] >= 0 {
				return text[found[i]:found[i+1]]
			}
			return ""
		}
		year, month, day := number(part("y")), number(part("m")), number(part("d"))
		if month == 0 {
			month = 1 + slices.IndexFunc(months, func(names []string) bool {
				return slices.ContainsFunc(names, func(name string) bool {
					return strings.HasPrefix(strings.ToLower(part("m")), name)
				})
			})
		}
		if part("s") == "/" && month != day { // as written in America, or elsewhere
			if day <= 12 && month <= 12 {
				continue
			} else if month > 12 {
				month, day = day, month
			}
		}
		date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
		if date.Day() != day || date.Month() != time.Month(month) {
			continue
		}
		if c := clock.FindStringSubmatch(text[found[1]:]); c != nil {
			for _, layout := range []string{"15:04", "15:04:05", "3:04pm", "3:04:05pm"} {
				if hour, err := time.Parse(layout, strings.ToLower(c[1]+c[2]+c[3])); err == nil {
					date = date.Add(hour.Sub(hour.Truncate(24 * time.Hour)))
				}
			}
		}
		return past(date), found[0], found[1]
	}
	return nil, 0, 0
}

func past(at time.Time) *time.Time {
	if at.After(time.Now()) {
		return nil
	}
	return &at
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // else it is a name
	return n
}

// dateOf is when a note was written, by its fields or by its name.
func dateOf(fields map[string]any, name string) *time.Time {
	short := map[string]any{}
	for key, value := range fields {
		short[strings.NewReplacer(" ", "", "_", "", "-", "").Replace(key)] = value
	}
	first := func(keys ...string) *time.Time {
		for _, key := range keys {
			if at := ParseDate(First(short, key)); at != nil {
				return at
			}
		}
		return nil
	}
	at := first("date", "created", "createdat", "datecreated", "creationdate", "published", "generated.at", "timestamp",
		"日期", "创建时间", "作成日")
	if at != nil {
		return at
	}
	if at, from, to := dateIn(name); at != nil && (from == 0 || to == len(name)) {
		return at
	}
	return first("modified", "metadata.modified", "datemodified", "lastmodified", "lastmod", "updated", "updatedat",
		"dateupdated")
}
