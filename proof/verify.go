package proof

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Verification is what to verify with.
type Verification struct {
	// Keys are the public keys that are trusted. Without any, signatures are not checked, and the
	// report says so.
	Keys []string
	// Checkpoints are signed checkpoints that were kept elsewhere: they are held against the tree
	// like those in the database, and nobody who has the database can have changed them.
	Checkpoints []string
	// Progress is told, now and then, how many events were read and of how many. May be nil.
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
	live := &live{db: db, verification: v, outside: outside}
	var e *examiner
	err = examine(ctx, live.read, func(c *chunk) error {
		if e == nil || e.tenant.Tenant != c.tenant {
			if e, err = v.examiner(report, c.tenant); err != nil {
				return err
			}
		}
		e.take(c)
		if c.last {
			e.strays(c.strays)
			e.bereft(c.naming)
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

func (v Verification) examiner(report *Report, tenant string) (*examiner, error) {
	if len(v.Keys) == 0 {
		return newExaminer(report, tenant, nil), nil
	}
	verifiers, err := verifiersOf(v.Keys)
	return newExaminer(report, tenant, verifiers), err
}

// ErrCheckpoint says that something is no checkpoint.
var ErrCheckpoint = errors.New("the checkpoint that was kept elsewhere is none")

// IsCheckpoint tells whether a text is a checkpoint, whoever may have signed it.
func IsCheckpoint(text string) bool {
	_, err := kept(text)
	return err == nil
}

func kept(text string) (domain.Checkpoint, error) {
	said, _, _ := strings.Cut(text, "\n\n")
	return parse(said + "\n")
}

// outside are the checkpoints that were kept elsewhere, by tenant.
func (v Verification) outside() (map[string][]signed, error) {
	byTenant := map[string][]signed{}
	for _, text := range v.Checkpoints {
		c, err := kept(text)
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
func examine(ctx context.Context, read func(ctx context.Context, emit func(*chunk) error) error, take func(*chunk) error) error {
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
