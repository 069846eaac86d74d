package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// What may go wrong, for errors.Is. Whatever else does matches none of them.
var (
	ErrUnavailable     = errors.New("unavailable")     // nobody answers, or not now
	ErrInvalid         = errors.New("invalid")         // see [Error.Fields]
	ErrUnauthenticated = errors.New("unauthenticated") // the key opens nothing
	ErrForbidden       = errors.New("forbidden")       // not yours to do
	ErrNotFound        = errors.New("not found")       // it does not exist, or you may not see it
	ErrGone            = errors.New("gone")            // forgotten or erased
	ErrConflict        = errors.New("conflict")        // not in its present state
	ErrOvertaken       = errors.New("overtaken")       // a conflict, too: somebody was faster; read again, and decide anew
)

// Error is how a server refuses.
type Error struct {
	Status     int           `json:"-"` // 0 if nobody answered
	Type       string        `json:"type"`
	Title      string        `json:"title"`
	Detail     string        `json:"detail"`
	Fix        string        `json:"fix"`    // what to do about it, where the server knows
	Fields     []Field       `json:"errors"` // everything that is wrong with the request
	RetryAfter time.Duration `json:"-"`

	err error
}

// Field is one that is wrong, and why.
type Field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Missing bool   `json:"missing"` // it names an item that is not there for the caller
}

// Error is one line.
func (e *Error) Error() string {
	parts := []string{e.Title}
	if e.Detail != "" && len(e.Fields) == 0 {
		parts = append(parts, e.Detail)
	}
	for _, f := range e.Fields {
		parts = append(parts, f.Field+" "+f.Message)
	}
	return strings.Join(parts, ": ")
}

// Unwrap gives what kept the request from being answered.
func (e *Error) Unwrap() error { return e.err }

// Is tells which of this package's errors it is.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrUnavailable:
		return e.Status == 0 || e.Status == http.StatusTooManyRequests || e.Status >= http.StatusBadGateway
	case ErrInvalid:
		return e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest
	case ErrUnauthenticated:
		return e.Status == http.StatusUnauthorized
	case ErrForbidden:
		return e.Status == http.StatusForbidden
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrGone:
		return e.Status == http.StatusGone
	case ErrOvertaken:
		return e.Status == http.StatusPreconditionFailed
	case ErrConflict:
		return e.Status == http.StatusConflict || e.Status == http.StatusPreconditionFailed
	}
	return false
}

// envelopeOf reads a refusal of the OpenViking-compatible surface.
func envelopeOf(said []byte) *Error {
	var envelope struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(said, &envelope) // what cannot be read says nothing
	return &Error{Type: envelope.Error.Code, Title: envelope.Error.Message}
}
