package terminal

// Hindsight is the flag of the commands that can read the past.
type Hindsight struct {
	AsOf string `group:"past" name:"as-of" placeholder:"WHEN" help:"As things were then: a time (as it is printed here, or 2026-03-01T09:30:00Z), a date (its beginning, here) or a position of the log."`
}

// Then is the moment as the server wants it; empty for now.
func (h Hindsight) Then() (string, error) { return ThroughOf("as-of", h.AsOf) }
