package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Verification configures a verification.
type Verification struct {
	// Keys are the trusted public keys. Without any, signatures are not checked, and the report says so.
	Keys []string
	// Checkpoints are signed checkpoints from elsewhere, which an attacker with access to the database cannot have
	// changed. They are compared with the tree like those in the database.
	Checkpoints []string
	// Progress receives the number of events read so far, and their total. It may be nil.
	Progress func(events, of int64)
}

// Verify verifies a snapshot of a database that may be in use. It writes nothing. The report contains what is wrong;
// the error says that the database could not be verified.
func Verify(ctx context.Context, db *database.DB, v Verification) (*Report, error) {
	began := time.Now()
	report := &Report{Tenants: []*Tenant{}, Faults: []Fault{}}
	outside, err := v.outside()
	if err != nil {
		return nil, err
	}
	live := &databaseVerifier{db: db, verification: v, outside: outside}
	var e *verifier
	err = examine(ctx, live.read, func(c *chunk) error {
		if e == nil || e.tenant.Tenant != c.tenant {
			if e, err = v.verifierOf(report, c.tenant); err != nil {
				return err
			}
		}
		e.take(c)
		if c.last {
			e.orphanTexts(c.strays)
			e.missingTenant(c.naming)
			e.end(c.beyond, c.lost)
		}
		return nil
	})
	if err != nil {
		return nil, failed("verify", err)
	}
	if err := live.files(ctx, report); err != nil {
		return nil, failed("verify files", err)
	}
	report.elsewhere(outside)
	report.finish(v, began)
	return report, nil
}

func (v Verification) verifierOf(report *Report, tenant string) (*verifier, error) {
	if len(v.Keys) == 0 {
		return newVerifier(report, tenant, nil), nil
	}
	verifiers, err := verifiersOf(v.Keys)
	return newVerifier(report, tenant, verifiers), err
}

// ErrCheckpoint says that a text is not a checkpoint.
var ErrCheckpoint = errors.New("the checkpoint that was kept elsewhere is none")

// IsCheckpoint reports whether a text is a checkpoint, by any signer.
func IsCheckpoint(text string) bool {
	_, err := readKept(text)
	return err == nil
}

func readKept(text string) (domain.Checkpoint, error) {
	body, _, _ := strings.Cut(text, "\n\n")
	return parse(body + "\n")
}

// outside are the checkpoints from elsewhere, by tenant.
func (v Verification) outside() (map[string][]signed, error) {
	byTenant := map[string][]signed{}
	for _, text := range v.Checkpoints {
		c, err := readKept(text)
		if err != nil {
			return nil, ErrCheckpoint
		}
		tenant := c.Origin[strings.LastIndexByte(c.Origin, '/')+1:]
		byTenant[tenant] = append(byTenant[tenant], signed{size: c.Size, signer: keptElsewhere, note: text})
	}
	return byTenant, nil
}

func (r *Report) finish(v Verification, began time.Time) {
	if len(v.Keys) == 0 {
		r.Unchecked = append(r.Unchecked, "signatures: no public key is known")
	}
	r.Verified = r.Count == 0
	r.Took = time.Since(began)
}

// examine checks chunks concurrently while more are read, and processes them in order. Only a few are in memory.
func examine(ctx context.Context, read func(ctx context.Context, emit func(*chunk) error) error,
	take func(*chunk) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	waiting, inOrder := make(chan *chunk), make(chan *chunk, workers)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for c := range waiting {
				c.examine()
				close(c.examined)
			}
		})
	}
	var failure error
	working.Go(func() {
		defer close(inOrder)
		defer close(waiting)
		failure = read(ctx, func(c *chunk) error {
			c.examined = make(chan struct{})
			for _, to := range []chan *chunk{waiting, inOrder} {
				select {
				case to <- c:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			return nil
		})
	})
	var taken error
	for c := range inOrder {
		<-c.examined
		if taken == nil {
			if taken = take(c); taken != nil {
				cancel()
			}
		}
	}
	working.Wait()
	if taken != nil {
		return taken
	}
	return failure
}

// The kinds of faults.
const (
	Hash       = "hash"       // a record is not what was recorded
	Missing    = "missing"    // positions are missing
	Order      = "order"      // times, event ids or versions of a stream do not ascend
	Text       = "text"       // a text was changed, is missing, or should be missing
	File       = "file"       // a file does not have its recorded digest
	Tree       = "tree"       // the tree was not built from this log
	Checkpoint = "checkpoint" // the tree does not match a checkpoint
	Signature  = "signature"  // a checkpoint was not signed by a trusted key
	Export     = "export"     // an exported file is not whole
)

// Fault is a deviation from what was recorded, with its location.
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

// mostFaults limits the listed faults; the rest is only counted.
const mostFaults = 1000

// Tenant is the result of verifying one tenant's log.
type Tenant struct {
	Tenant      string `json:"tenant"`
	Events      int64  `json:"events"`
	From        int64  `json:"from"`
	Through     int64  `json:"through"`
	Texts       int64  `json:"texts"`       // that exist
	Erased      int64  `json:"erased"`      // that are missing because an event erased them
	Tree        int64  `json:"tree"`        // events in the tree
	Checkpoints int64  `json:"checkpoints"` // signed ones that match the tree
	Signed      int64  `json:"signed"`      // the position of the newest of them
	Root        []byte `json:"root,omitempty"`
}

// Report is the result of a verification.
type Report struct {
	Verified  bool          `json:"verified"`
	Tenants   []*Tenant     `json:"tenants"`
	Faults    []Fault       `json:"faults"`
	Count     int64         `json:"fault_count"`
	Unchecked []string      `json:"unchecked,omitempty"` // what could not be checked, and why
	Took      time.Duration `json:"-"`

	// BreaksOff says that the end of the file is missing. Its records were not compared with a checkpoint.
	BreaksOff bool `json:"incomplete,omitempty"`
}

func (r *Report) fault(tenant string, position int64, kind, format string, values ...any) {
	r.Count++
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults,
			Fault{Tenant: tenant, Position: position, Kind: kind, Message: fmt.Sprintf(format, values...)})
	}
}

// Unsigned counts the newest events that no checkpoint covers yet. They cannot be proven to others.
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

// keptElsewhere is the signer of the checkpoints that a verification names.
const keptElsewhere = "the checkpoint kept elsewhere"

// ErrApart says that a file cannot be compared with a checkpoint from elsewhere.
var ErrApart = errors.New("the file cannot be held against the checkpoint kept elsewhere")

// hold adds the checkpoints from elsewhere to those that are compared with the growing tree of an export. It refuses
// those that cover fewer events than precede the export.
func (x *fileVerifier) hold() error {
	outside, err := x.outside()
	if err != nil {
		return err
	}
	x.report.elsewhere(outside)
	for _, s := range outside[x.manifest.Tenant] {
		if s.size < x.manifest.After {
			return fmt.Errorf("%w: it begins at position %d, and the checkpoint is of %d events", ErrApart, x.manifest.After+1,
				s.size)
		}
		x.signed = append(x.signed, s)
	}
	slices.SortStableFunc(x.signed, func(a, b signed) int { return int(a.size - b.size) })
	if !x.apart {
		x.compareSigned()
	}
	return nil
}

// cut notes the checkpoints from elsewhere that lie beyond the end of the export.
func (x *fileVerifier) cut() {
	for _, s := range x.signed {
		if s.signer != keptElsewhere || s.size <= x.last {
			continue
		}
		if _, ok := x.open(s); ok {
			x.fault(x.last+1, Missing,
				"%s is of %d events, and the export ends at position %d: the log was cut, or exported before that was signed",
				s.signer, s.size, x.last)
		}
	}
}

// elsewhere notes the checkpoints from elsewhere whose logs were not verified.
func (r *Report) elsewhere(outside map[string][]signed) {
	for _, tenant := range slices.Sorted(maps.Keys(outside)) {
		if slices.ContainsFunc(r.Tenants, func(t *Tenant) bool { return t.Tenant == tenant }) {
			continue
		}
		for _, s := range outside[tenant] {
			if s.size > 0 {
				r.fault(tenant, 1, Missing, "%s is of %d events of the log of tenant %s, which is not in what was verified",
					s.signer, s.size, tenant)
			}
		}
	}
}

// otherLog explains the mismatch of a checkpoint that an attacker cannot have changed.
func otherLog(s signed) string {
	if s.signer == keptElsewhere {
		return "; it is not the log that the checkpoint was kept of"
	}
	return ""
}
