package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Streamed is an answer that a function writes.
type Streamed struct {
	Body func(huma.Context)
}

// JSON answers with a body.
func JSON(body any) *Streamed {
	return &Streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", JSONType)
		to.SetStatus(http.StatusOK)
		WriteJSON(to.BodyWriter(), body)
	}}
}

// WriteJSON encodes an answer. It ignores errors: the caller may have left.
func WriteJSON(to io.Writer, body any) {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body)
}

// Value is the value that was given, or the zero value.
func Value[T any](optional *T) (value T) {
	if optional != nil {
		value = *optional
	}
	return value
}

// Time is t in UTC, or nil for the zero time.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Map are the results of a function for each item of a list. They are never nil, so that JSON has an array.
func Map[A, B any](list []A, result func(A) B) []B {
	all := make([]B, len(list))
	for i, item := range list {
		all[i] = result(item)
	}
	return all
}

// Strings and fromStrings convert between strings and types of strings.
func Strings[T ~string](words []T) []string {
	return Map(words, func(word T) string { return string(word) })
}

func FromStrings[T ~string](words []string) []T {
	if words == nil {
		return nil
	}
	return Map(words, func(word string) T { return T(word) })
}
