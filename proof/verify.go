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

// Verification is what to verify with.
type Verification struct {
	// Keys are the public keys that are trusted. Without any, signatures are not checked, and the
	// report states it.
	Keys []string
	// Checkpoints are signed checkpoints that were kept elsewhere: they are held against the tree
	// like those in the database, and an attacker who has the database cannot have changed them.
	Checkpoints []string
	// Progress receives, now and then, how many events were read and of how many. May be nil.
	Progress func(events, of int64)
}

// Verify examines a whole database, as it is at one moment, while others go on using it. It reads and
// writes nothing. What is wrong is in the report; the error is about not being able to look.
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

// ErrCheckpoint means that something is no checkpoint.
var ErrCheckpoint = errors.New("the checkpoint that was kept elsewhere is none")

// IsCheckpoint reports whether a text is a checkpoint, by any signer.
func IsCheckpoint(text string) bool {
	_, err := readKept(text)
	return err == nil
}

func readKept(text string) (domain.Checkpoint, error) {
	said, _, _ := strings.Cut(text, "\n\n")
	return parse(said + "\n")
}

// outside are the checkpoints that were kept elsewhere, by tenant.
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

// examine lets chunks be examined side by side while more are read, and takes them in order. At most a
// few are in memory.
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
	Erased      int64  `json:"erased"`      // that are missing, and an event states it
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

	// BreaksOff states that the file has no end: nothing was wrong with what is there, since nothing was compared.
	BreaksOff bool `json:"incomplete,omitempty"`
}

func (r *Report) fault(tenant string, position int64, kind, format string, values ...any) {
	r.Count++
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults,
			Fault{Tenant: tenant, Position: position, Kind: kind, Message: fmt.Sprintf(format, values...)})
	}
}

// Unsigned is how many of the newest events no checkpoint covers yet: they cannot be proven to others.
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

// keptElsewhere signed the checkpoints that a verification names.
const keptElsewhere = "the checkpoint kept elsewhere"

// ErrApart means that a file has no tree of the size of a checkpoint that was kept elsewhere.
var ErrApart = errors.New("the file cannot be held against the checkpoint kept elsewhere")

// hold puts the checkpoints that were kept elsewhere among those that are held against the tree of an export as
// it grows. It refuses those of fewer events than the tree has where the export begins.
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

// cut names the checkpoints kept elsewhere that the export has not come to.
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

// elsewhere names the logs of which checkpoints were kept, and which are not in what was examined.
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

// otherLog states what it means that a checkpoint signed another tree, of one that an attacker cannot have changed.
func otherLog(s signed) string {
	if s.signer == keptElsewhere {
		return "; it is not the log that the checkpoint was kept of"
	}
	return ""
}
