package domain

import (
	"errors"
	"fmt"
	"strings"
)

// What may be wrong, one sentinel per answer a caller can act upon. Errors returned by this
// module match exactly one of them with [errors.Is].
var (
	ErrInvalid         = errors.New("invalid")                // the request's content; see *Invalid
	ErrMalformed       = errors.New("malformed")              // not even readable: bad JSON, bad cursor
	ErrNotFound        = errors.New("not found")              // does not exist, or is not visible: never told apart
	ErrUnauthenticated = errors.New("unauthenticated")        // the caller is unknown
	ErrForbidden       = errors.New("forbidden")              // visible, but not yours to change
	ErrTaken           = errors.New("taken")                  // the id or the URI belongs to another item
	ErrConflict        = errors.New("conflict")               // the state does not allow it
	ErrPrecondition    = errors.New("precondition failed")    // If-Match names another revision
	ErrDeleted         = errors.New("deleted")                // forgotten; its history remains
	ErrErased          = errors.New("erased")                 // destroyed for good
	ErrKeyReused       = errors.New("idempotency key reused") // the same key with another request
	ErrBusy            = errors.New("busy")                   // the queue of writes is full
	ErrBehind          = errors.New("behind")                 // a projection has not read so far yet
	ErrUnavailable     = errors.New("unavailable")            // the database or a model cannot be reached
	ErrFull            = errors.New("full")                   // nowhere to write to any more
	ErrUnprivileged    = errors.New("unprivileged")           // the database does not let the server do it
	ErrTooLarge        = errors.New("too large")
	ErrBroken          = errors.New("broken") // what is stored makes no sense to this program
)

// Refusal is an error with a sentence for the caller and, where we know it, the fix.
type Refusal struct {
	Kind   error  // one of the sentinels above
	Detail string // one sentence, without what people wrote
	Fix    string // what to do about it; may be empty
}

func (r *Refusal) Error() string { return r.Detail }

// Unwrap gives the sentinel.
func (r *Refusal) Unwrap() error { return r.Kind }

// Refuse makes a [Refusal] of the given kind.
func Refuse(kind error, format string, values ...any) *Refusal {
	return &Refusal{Kind: kind, Detail: fmt.Sprintf(format, values...)}
}

// WithFix adds what to do about it.
func (r *Refusal) WithFix(format string, values ...any) *Refusal {
	r.Fix = fmt.Sprintf(format, values...)
	return r
}

// Problem is one bad field. Message never contains the value, which may be a secret.
type Problem struct {
	Field   string
	Message string
	Missing bool // it names something that is not there, in a form that it could have
}

// Invalid names every bad field of a request at once. It matches [ErrInvalid].
type Invalid struct {
	Problems []Problem
}

func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Field + ": " + p.Message
	}
	return strings.Join(lines, "; ")
}

// Unwrap gives [ErrInvalid].
func (e *Invalid) Unwrap() error { return ErrInvalid }

// Problems collects bad fields.
type Problems []Problem

// Add notes that a field is bad.
func (p *Problems) Add(field, format string, values ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, values...)})
}

// Miss notes that a field names something that is not there, and why.
func (p *Problems) Miss(field, why string) {
	*p = append(*p, Problem{Field: field, Message: why, Missing: true})
}

// Err is nil when nothing was noted, else an [*Invalid].
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return &Invalid{Problems: p}
}

// IsGone tells whether an error says that what a command is about is not there any more.
func IsGone(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrDeleted) || errors.Is(err, ErrErased)
}
