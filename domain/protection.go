package domain

// Protection is a mechanism that keeps the log from being changed.
type Protection struct {
	Name   string
	Stands bool
	Detail string
	Fix    string // what to do if it is not enabled
}
