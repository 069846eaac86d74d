package database

import "errors"

// ErrMisnamed means that what was named as the database is none, or cannot be one.
var ErrMisnamed = errors.New("no database of ours")

// misnamed is an error that matches [ErrMisnamed] and says why by itself.
type misnamed struct{ error }

func (m misnamed) Is(target error) bool { return target == ErrMisnamed }

func (m misnamed) Unwrap() error { return m.error }
