package domain

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Change is what an event changed in one field.
type Change struct {
	Field  string
	Before any // nil if there was nothing
	After  any // nil if nothing is left
}

// HistoryItem is an event of an item with what it changed.
type HistoryItem struct {
	Event      Event
	Changes    []Change
	Confidence float64 // after the event
	Policy     string  // the confidence policy behind Confidence and its changes
	Revision   int64   // after the event
}

// History folds the events of one item's stream, oldest first, and notes what each changed. The
// errors are those of [Knowledge.Evolve].
func History(id string, events []Event, policy ConfidencePolicy) ([]HistoryItem, error) {
	items := make([]HistoryItem, 0, len(events))
	k := &Knowledge{ID: id}
	before := snapshot(k)
	for _, event := range events {
		if err := k.Evolve(event.Fact, event.Metadata(), policy); err != nil {
			return nil, err
		}
		after := snapshot(k)
		items = append(items, HistoryItem{
			Event: event, Changes: differences(before, after),
			Confidence: k.Confidence, Policy: policy.Name, Revision: k.Revision,
		})
		before = after
	}
	return items, nil
}

// ItemState is the state of an item at a moment of the past.
type ItemState struct {
	Position     int64 // of the log
	Revision     int64 // 0 before the item was remembered
	Confidence   float64
	TextErased   bool // a text that was recorded by then was destroyed
	TextRedacted bool // a later redaction replaced a text that was recorded by then
}

// Comparison is an item at two moments, and what changed in between.
type Comparison struct {
	From, To ItemState
	Changes  []Change
	Policy   string // the confidence policy behind both confidences
}

// Compare folds the events of one item's stream, oldest first, and compares the item at two moments, of which it needs
// the positions and the times. The errors are those of [Knowledge.Evolve].
func Compare(id string, events []Event, policy ConfidencePolicy, from, to AsOf) (Comparison, error) {
	k, erased, redacted := &Knowledge{ID: id}, false, false
	fold := func(until AsOf) (ItemState, []field, error) {
		for ; len(events) > 0 && events[0].Position <= until.Position; events = events[1:] {
			if err := k.Evolve(events[0].Fact, events[0].Metadata(), policy); err != nil {
				return ItemState{}, nil, err
			}
			erased, redacted = erased || events[0].TextErased, redacted || events[0].TextRedacted
		}
		then := k.At(until.Time)
		return ItemState{until.Position, then.Revision, then.Confidence, erased, redacted}, snapshot(then), nil
	}
	first, before, err := fold(from)
	if err != nil {
		return Comparison{}, err
	}
	last, after, err := fold(to)
	return Comparison{From: first, To: last, Changes: differences(before, after), Policy: policy.Name}, err
}

// field is a named value of an item; a value of nil is absent.
type field struct {
	name  string
	value any
}

// differences are the fields whose values changed.
func differences(before, after []field) []Change {
	var changes []Change
	for i, now := range after {
		if was := before[i]; !reflect.DeepEqual(was.value, now.value) {
			changes = append(changes, Change{Field: now.name, Before: was.value, After: now.value})
		}
	}
	return changes
}

// MaxUses limits the helpful and the harmful uses that an item shows, each.
const MaxUses = 50

// Feedback are the newest [MaxUses] votes for and against an item, those of its baseline included. All votes of the
// item must be loaded.
func (k *Knowledge) Feedback() Feedback {
	return Feedback{
		Helpful: k.uses(Helpful, k.Baseline.HelpfulHistory),
		Harmful: k.uses(Harmful, k.Baseline.HarmfulHistory),
	}
}

func (k *Knowledge) uses(verdict Verdict, older []Use) []Use {
	var votes []Vote
	for _, vote := range k.Votes {
		if vote.Verdict == verdict {
			votes = append(votes, vote)
		}
	}
	slices.SortFunc(votes, func(a, b Vote) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.EventID, a.EventID))
	})
	list := make([]Use, 0, len(votes)+len(older))
	for _, v := range votes {
		list = append(list, Use{Query: v.Query, TraceID: v.TraceID, Outcome: v.Outcome, By: v.Voter, At: v.At})
	}
	list = append(list, older...)
	return list[:min(len(list), MaxUses)]
}

// AsOf is the time of a query: a position of the log, or a time. The zero value is the present.
type AsOf struct {
	Position int64
	Time     time.Time
}

// IsNow tells whether a query is about the present.
func (a AsOf) IsNow() bool { return a.Position == 0 && a.Time.IsZero() }

// IsDate tells whether a caller can name t: its year in UTC has four digits and is not 1. The zero time, which is in
// year 1, means that no time was named.
func IsDate(t time.Time) bool {
	year := t.UTC().Year()
	return 1 < year && year <= 9999
}

// ParseAsOf reads a position or what [ParseTime] reads. The error lists these forms and does not repeat the input.
func ParseAsOf(s string, now time.Time) (AsOf, error) {
	if position, err := strconv.ParseInt(s, 10, 64); err == nil && position > 0 {
		return AsOf{Position: position}, nil
	}
	if t, _, err := ParseTime(s, now); err == nil {
		return AsOf{Time: t.UTC()}, nil
	}
	return AsOf{}, errors.New("must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17")
}

// timeForms are the forms of times besides RFC 3339. Their zone is that of now, unless they name one.
var timeForms = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04",
	"2006-01-02T15:04", time.DateOnly,
}

// daysFromNow are the days that have a name.
var daysFromNow = map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}

// ParseTime reads a time, a date (its midnight), today, yesterday, tomorrow, now, or a time before now such as
// "5 minutes ago" or -2d. Every door reads times with it. The error does not repeat the input.
func ParseTime(s string, now time.Time) (at time.Time, isDate bool, err error) {
	for _, layout := range timeForms {
		if at, err = time.ParseInLocation(layout, s, now.Location()); err == nil && IsDate(at) {
			return at, layout == time.DateOnly, nil
		}
	}
	s = strings.ToLower(strings.TrimSpace(s))
	if days, is := daysFromNow[s]; is {
		year, month, day := now.Date()
		return time.Date(year, month, day+days, 0, 0, 0, 0, now.Location()), true, nil
	}
	length, isAgo := strings.CutSuffix(s, " ago")
	if !isAgo {
		length, isAgo = strings.CutPrefix(s, "-")
	}
	if s == "now" {
		return now, false, nil
	}
	if at, err = before(now, length); isAgo && err == nil && IsDate(at) {
		return at, false, nil
	}
	return time.Time{}, false, errors.New("must be a time such as 2026-03-01T12:00:00Z, a date, or 5 minutes ago")
}

// ParseTimeAhead reads what [ParseTime] reads, or a period from now such as 90d.
func ParseTimeAhead(s string, now time.Time) (time.Time, error) {
	if past, err := before(now, s); err == nil {
		if at := now.Add(now.Sub(past)); IsDate(at) {
			return at, nil
		}
	}
	at, _, err := ParseTime(s, now)
	return at, err
}

var periods = expression(`^(an?|\d{1,6}(?:\.\d+)?) ?([smhdw]|(?:sec|second|min|minute|hour|day|week|month|year)s?)$`)

// before is the time of a period before now, such as 5 minutes, 2d or 1h30m.
func before(now time.Time, period string) (time.Time, error) {
	parts := periods().FindStringSubmatch(period)
	if parts == nil {
		while, err := time.ParseDuration(period)
		if err == nil && while < 0 {
			err = strconv.ErrRange
		}
		return now.Add(-while), err
	}
	count, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		count = 1
	}
	switch unit := parts[2]; unit {
	case "month", "months":
		return now.AddDate(0, -int(count), 0), nil
	case "year", "years":
		return now.AddDate(-int(count), 0, 0), nil
	default:
		const day = 24 * time.Hour
		units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': day, 'w': 7 * day}
		return now.Add(-time.Duration(count * float64(units[unit[0]]))), nil
	}
}
