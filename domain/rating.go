package domain

import "fmt"

// Rating is what readers should know about an item before they rely on it.
type Rating struct {
	Helpful      int // votes, the author's own included
	Harmful      int
	Confidence   float64
	Reporters    int  // of staleness
	Expired      bool // it was confirmed until a date that has passed
	Status       Status
	SupersededBy string
}

// ContestedBelow is the confidence below which an item that was judged harmful or stale is contested.
const ContestedBelow = 0.2

// Rating summarises how an item was judged.
func (k *Knowledge) Rating() Rating {
	return Rating{
		Helpful: k.Helpful, Harmful: k.Harmful, Confidence: k.Confidence, Reporters: k.Stale.Reporters, Expired: k.Expired,
		Status: k.Status, SupersededBy: k.SupersededBy,
	}
}

// Contested tells whether agents must not rely on the item. An item that nobody has judged yet is not contested.
func (s Rating) Contested() bool {
	return s.Confidence < ContestedBelow && (s.Harmful > 0 || s.Reporters > 0)
}

// Others are the helpful votes without the one that an item begins with, which is its author's.
func (s Rating) Others() int { return max(s.Helpful-1, 0) }

// Marks are what is unusual, in words: votes against the item, reports of staleness, an expired confirmation, and the item that took its place.
func (s Rating) Marks() []string {
	var marks []string
	votes := fmt.Sprintf("%d helpful, %d harmful", s.Others(), s.Harmful)
	switch {
	case s.Contested():
		marks = append(marks, "contested: "+votes)
	case s.Harmful > 0:
		marks = append(marks, votes)
	}
	if s.Reporters > 0 {
		marks = append(marks, fmt.Sprintf("reported stale by %d", s.Reporters))
	}
	if s.Expired {
		marks = append(marks, "confirmation expired")
	}
	switch {
	case s.SupersededBy != "":
		marks = append(marks, "superseded by "+s.SupersededBy)
	case s.Status != Active && s.Status != "":
		marks = append(marks, string(s.Status))
	}
	return marks
}
