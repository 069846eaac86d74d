package main

import "strconv"

// hindsight is the flag of the commands that can read the past.
type hindsight struct {
	AsOf string `group:"past" name:"as-of" placeholder:"WHEN" help:"As things were then: a time, a date (its beginning, here) or a position of the log."`
}

// asOf is the moment as the server wants it; empty for now.
func (h hindsight) asOf() (string, error) {
	if _, err := strconv.ParseInt(h.AsOf, 10, 64); err == nil {
		return h.AsOf, nil
	}
	at, err := timeOf("as-of", h.AsOf)
	if err != nil {
		return "", wrong("as in --as-of 2026-03-01, --as-of 2026-03-01T09:30:00Z or --as-of 4711", "--as-of must be a time, a date or a position of the log")
	}
	return at, nil
}
