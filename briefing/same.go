package briefing

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
)

// archived tells conversations that were kept, which lie in their sessions, from lessons.
func archived(k *domain.Knowledge) bool {
	names := domain.URI(k.Text.URI).Names()
	return len(names) > 3 && names[0] == "session" && names[3] == "history"
}

// repeats tells whether all that an item says is said by another one, too. That something failed does not say that
// it works, nor the other way round, unless the words are the same.
func repeats(item, other picked) bool {
	said, all := normal(item.line), normal(other.line)
	if said == all {
		return true
	}
	return (item.Aspect == domain.Failures) == (other.Aspect == domain.Failures) && states(all, said)
}

// normal is a line without what makes no difference: capitals, and a full stop at the end.
func normal(line string) string {
	return strings.TrimRight(strings.ToLower(line), " .。!！;；")
}

// states tells whether a text has a statement in it that stands by itself: "do not use curl" has no "use curl" in it.
func states(all, statement string) bool {
	if statement == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(all[from:], statement)
		if at < 0 {
			return false
		}
		begin, end := from+at, from+at+len(statement)
		if ends(strings.TrimRight(all[:begin], " -*\"")) && begins(all[end:]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(all[begin:])
		from = begin + size
	}
}

const marks = ".。!！?？:：;；"

// ends tells whether a statement can follow.
func ends(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune(marks, last)
}

// begins tells whether a statement can have ended: "1.5" has no "1" in it.
func begins(after string) bool {
	first, size := utf8.DecodeRuneInString(after)
	if after == "" || !strings.ContainsRune(marks, first) {
		return after == ""
	}
	next, _ := utf8.DecodeRuneInString(after[size:])
	return first > unicode.MaxASCII || after[size:] == "" || unicode.IsSpace(next)
}
