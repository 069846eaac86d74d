package domain

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// One sentinel per answer that a caller can act upon. Errors returned by this module match exactly one of them with
// [errors.Is].
var (
	ErrInvalid         = errors.New("invalid")                // the request's content; see *Invalid
	ErrMalformed       = errors.New("malformed")              // not even readable: bad JSON, bad cursor
	ErrNotFound        = errors.New("not found")              // does not exist, or is not visible: both read the same
	ErrUnauthenticated = errors.New("unauthenticated")        // the caller is unknown
	ErrForbidden       = errors.New("forbidden")              // visible, but not yours to change
	ErrTaken           = errors.New("taken")                  // another item has the id or the URI
	ErrSimilar         = errors.New("similar")                // another item says the same or contradicts it
	ErrRedacted        = errors.New("redacted")               // scrubbing would remove something from its texts
	ErrConflict        = errors.New("conflict")               // the state does not allow the change
	ErrPrecondition    = errors.New("precondition failed")    // If-Match names another revision
	ErrDeleted         = errors.New("deleted")                // forgotten; its history remains
	ErrErased          = errors.New("erased")                 // destroyed for good
	ErrKeyReused       = errors.New("idempotency key reused") // the same key with another request
	ErrBusy            = errors.New("busy")                   // the queue of writes is full
	ErrBehind          = errors.New("behind")                 // a projection has not reached the required position yet
	ErrUnavailable     = errors.New("unavailable")            // the database or a model cannot be reached
	ErrQuota           = errors.New("quota")                  // a quota of the operator is used up
	ErrFull            = errors.New("full")                   // the disk has no space left
	ErrUnprivileged    = errors.New("unprivileged")           // the server's database role lacks a privilege
	ErrTooLarge        = errors.New("too large")
	ErrBroken          = errors.New("broken")                    // this release cannot read what is stored
	ErrUnreadable      = fmt.Errorf("unreadable: %w", ErrBroken) // of an item: a repair makes it again
)

// Refusal is an error with a sentence for the caller and, if known, a fix.
type Refusal struct {
	Kind   error  // one of the sentinels above
	Detail string // one sentence, without what people wrote
	Fix    string // what to do about it; may be empty

	Similar  []SimilarItem  // that a new item is refused for
	Redacted map[string]int // what scrubbing would remove, by class
	Fields   []Problem      // that the refusal is about
	Wait     time.Duration  // until it may succeed; 0 if nobody knows
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
	Missing bool // it names something that does not exist, in a valid form
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

// Add records that a field is bad.
func (p *Problems) Add(field, format string, values ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, values...)})
}

// Miss records that a field names something that does not exist, and the reason.
func (p *Problems) Miss(field, why string) {
	*p = append(*p, Problem{Field: field, Message: why, Missing: true})
}

// Err is nil if no field is bad, else an [*Invalid].
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return &Invalid{Problems: p}
}

// IsGone tells whether an error says that the target of a command no longer exists.
func IsGone(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrDeleted) || errors.Is(err, ErrErased)
}

// KindOf names the sentinel that an error matches, for metrics; other for none.
func KindOf(err error) string {
	for _, sentinel := range []error{
		ErrInvalid, ErrMalformed, ErrNotFound, ErrForbidden, ErrTaken,
		ErrSimilar, ErrRedacted,
		ErrConflict, ErrPrecondition, ErrDeleted, ErrErased,
		ErrKeyReused, ErrBusy, ErrUnavailable, ErrFull, ErrQuota,
		ErrTooLarge, ErrBroken,
	} {
		if errors.Is(err, sentinel) {
			return sentinel.Error()
		}
	}
	return "other"
}
