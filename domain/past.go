package domain

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"
)

// MaxUses is how many uses an item shows for, and how many against it.
const MaxUses = 50

// Feedback are the newest 50 votes for and against an item all of whose votes are known, those of its
// baseline included.
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

// AsOf is the time in the past that a query is about: a position of the log or a time; the zero value
// is now.
type AsOf struct {
	Position int64
	Time     time.Time
}

// IsNow tells whether a query is about the present.
func (a AsOf) IsNow() bool { return a.Position == 0 && a.Time.IsZero() }

// IsDate tells whether t can be a time that a caller names: its year has four digits, in UTC, and is not 1. The zero
// time lies there, and means that none was named.
func IsDate(t time.Time) bool {
	year := t.UTC().Year()
	return 1 < year && year <= 9999
}

// ParseAsOf reads a position, a time (RFC 3339) or a date, which begins at midnight UTC. The error says
// what it must be, and nothing of what it was.
func ParseAsOf(s string) (AsOf, error) {
	if position, err := strconv.ParseInt(s, 10, 64); err == nil && position > 0 {
		return AsOf{Position: position}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil && IsDate(t) {
			return AsOf{Time: t.UTC()}, nil
		}
	}
	return AsOf{}, errors.New("must be a time such as 2026-03-01T12:00:00Z, a date, or a position of the log such as 17")
}
