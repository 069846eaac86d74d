package main

import (
	"fmt"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/domain"
)

// knowledge is a piece of knowledge as the commands show it.
type knowledge struct{ api.Knowledge }

// votes are those of others than the author, whose own an item begins with.
func (k knowledge) votes() string {
	r := k.rating()
	return fmt.Sprintf("%d helpful, %d harmful", r.Others(), r.Harmful)
}

func (k knowledge) rating() (r domain.Rating) {
	if k.Eval != nil {
		r.Helpful, r.Harmful, r.Confidence = orZero(k.Eval.Helpful), orZero(k.Eval.Harmful), orZero(k.Eval.Confidence)
	}
	if k.Stale != nil {
		r.Reporters = k.Stale.Reporters
	}
	return r
}

// orZero is the value of a field that may be missing.
func orZero[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}

// ifSet is a field that may be missing; nil for the zero value.
func ifSet[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// momentOf is a time that may be missing, as people read it.
func momentOf(t *time.Time) string { return moment(orZero(t)) }
