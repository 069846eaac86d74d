package terminal

// Hindsight is the flag of the commands that can read the past.
type Hindsight struct {
	AsOf string `group:"past" name:"as-of" placeholder:"WHEN"`
}

// Then is the moment as the server wants it; empty for now.
func (h Hindsight) Then() (string, error) { return ThroughOf("as-of", h.AsOf) }
