package main

// hindsight is the flag of the commands that can read the past.
type hindsight struct {
	AsOf string `group:"past" name:"as-of" placeholder:"WHEN" help:"As things were then: a time (as it is printed here, or 2026-03-01T09:30:00Z), a date (its beginning, here) or a position of the log."`
}

// asOf is the moment as the server wants it; empty for now.
func (h hindsight) asOf() (string, error) { return throughOf("as-of", h.AsOf) }
