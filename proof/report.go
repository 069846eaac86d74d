package proof

import (
	"fmt"
	"time"
)

// The kinds of faults.
const (
	Hash       = "hash"       // a record is not what was recorded
	Missing    = "missing"    // positions are not there
	Order      = "order"      // times, event ids or versions of a stream do not ascend
	Text       = "text"       // a text is not what was written, or is missing, or should be
	File       = "file"       // bytes beside the log are not those whose digest was recorded
	Tree       = "tree"       // the log is not what the tree was built from
	Checkpoint = "checkpoint" // the tree is not what was signed
	Signature  = "signature"  // a checkpoint was not signed by a trusted key
	Export     = "export"     // an exported file is not whole
)

// Fault is something that is not as it was recorded, and where.
type Fault struct {
	Tenant   string `json:"tenant,omitempty"`
	Position int64  `json:"position,omitempty"`
	Kind     string `json:"kind"`
	Message  string `json:"message"`
}

func (f Fault) String() string {
	if f.Tenant == "" {
		return fmt.Sprintf("%s: %s", f.Kind, f.Message)
	}
	return fmt.Sprintf("tenant %s, position %d: %s: %s", f.Tenant, f.Position, f.Kind, f.Message)
}

// mostFaults is how many are listed; the rest is counted.
const mostFaults = 1000

// Tenant is what was verified of one tenant's log.
type Tenant struct {
	Tenant      string `json:"tenant"`
	Events      int64  `json:"events"`
	From        int64  `json:"from"`
	Through     int64  `json:"through"`
	Texts       int64  `json:"texts"`       // that are there
	Erased      int64  `json:"erased"`      // that are missing, and an event says so
	Tree        int64  `json:"tree"`        // events that the tree has
	Checkpoints int64  `json:"checkpoints"` // signed ones that the tree agrees with
	Signed      int64  `json:"signed"`      // the position that the newest of them covers
	Root        []byte `json:"root,omitempty"`
}

// Report is what a verification found.
type Report struct {
	Verified  bool          `json:"verified"`
	Tenants   []*Tenant     `json:"tenants"`
	Faults    []Fault       `json:"faults"`
	Count     int64         `json:"fault_count"`
	Unchecked []string      `json:"unchecked,omitempty"` // what could not be checked, and why
	Took      time.Duration `json:"-"`

	// BreaksOff says that the file has no end: nothing was wrong with what is there, since nothing was compared.
	BreaksOff bool `json:"incomplete,omitempty"`
}

func (r *Report) fault(tenant string, position int64, kind, format string, values ...any) {
	r.Count++
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults, Fault{Tenant: tenant, Position: position, Kind: kind, Message: fmt.Sprintf(format, values...)})
	}
}

// Unsigned is how many of the newest events no checkpoint covers yet: nobody can prove them to others.
func (r *Report) Unsigned() (events int64) {
	for _, t := range r.Tenants {
		events += max(0, t.Through-max(t.Signed, t.From-1))
	}
	return events
}

// Events is how many were verified.
func (r *Report) Events() (events int64) {
	for _, t := range r.Tenants {
		events += t.Events
	}
	return events
}
