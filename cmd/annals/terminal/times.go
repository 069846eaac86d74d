package terminal

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// shownTime is the format of printed times, in the local zone with its offset. Every command that takes a time
// accepts it.
const shownTime = "2006-01-02 15:04:05Z07:00"

// Moment formats a time in the local zone.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "—"
	}
	return t.Local().Format(shownTime)
}

// Timed formats a server's time like any other. Other text, such as a date, stays unchanged.
func Timed(written string) string {
	at, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return written
	}
	return Moment(at)
}

// writtenTime matches times in the server's messages.
var writtenTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// backward matches a relative time that looks like a flag.
var backward = regexp.MustCompile(`^-\d+(\.\d+)?[a-z]+$`)

// TimesAsValues joins a time such as -2d to the flag before it, since the parser would take it for a flag.
func TimesAsValues(args []string) []string {
	var joined []string
	for i, arg := range args {
		if i > 0 && backward.MatchString(arg) && strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "=") {
			joined[len(joined)-1] += "=" + arg
			continue
		}
		joined = append(joined, arg)
	}
	return joined
}

// readTime reads a time; without a zone, in the local one.
func readTime(value string) (time.Time, error) {
	at, _, err := domain.ParseTime(value, time.Now())
	return at, err
}

// asIn shows a flag with examples.
func asIn(flag string, examples ...string) string {
	last := len(examples) - 1
	for i, example := range examples {
		examples[i] = "--" + flag + " " + example
	}
	return "as in " + strings.Join(examples[:last], ", ") + " or " + examples[last]
}

// TimeOf parses a flag's time for the server; empty if the flag is not set.
func TimeOf(flag, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	at, err := readTime(value)
	if err != nil {
		return "", Wrong(asIn(flag, "2026-03-01", "'2026-03-01 09:30:00' (here)", "2026-03-01T09:30:00Z", "yesterday", "-2d"),
			"--%s must be a time or a date", flag)
	}
	return at.UTC().Format(time.RFC3339Nano), nil
}

// ThroughOf parses a flag's time, date or position that ends a period. A printed time stands for its whole second, so
// that everything shown with that time is included.
func ThroughOf(flag, value string) (string, error) {
	for _, layout := range []string{shownTime, time.DateTime} {
		at, err := time.ParseInLocation(layout, value, time.Local)
		if err != nil {
			continue
		}
		end := at.Add(time.Second - time.Microsecond)
		if now := time.Now(); at.Before(now) && end.After(now) {
			end = now
		}
		return end.UTC().Format(time.RFC3339Nano), nil
	}
	return SinceOf(flag, value)
}

// SinceOf parses a flag's time, date or position that begins a period.
func SinceOf(flag, value string) (string, error) {
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value, nil
	}
	at, err := TimeOf(flag, value)
	if err != nil {
		return "", Wrong(asIn(flag, "2026-03-01", "'2026-03-01 09:30:00' (here)", "2026-03-01T09:30:00Z", "4711"),
			"--%s must be a time, a date or a position of the log", flag)
	}
	return at, nil
}

// PutTimes sets parameters to the times of the flags with the same names.
func PutTimes(query url.Values, times map[string]string) error {
	for flag, value := range times {
		at, err := TimeOf(flag, value)
		if err != nil {
			return err
		}
		Put(query, strings.ReplaceAll(flag, "-", "_"), at)
	}
	return nil
}

// WhenOf parses a future time: a time, a date, or a duration from now.
func WhenOf(flag, value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	at, err := domain.ParseTimeAhead(value, now)
	if err != nil {
		return at, Wrong(asIn(flag, "90d", "12h", "2026-03-01"), "--%s must be a time, a date or a while", flag)
	}
	return at, nil
}

// OrZero is the value of an optional field.
func OrZero[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}

// IfSet is an optional field; nil for the zero value.
func IfSet[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
