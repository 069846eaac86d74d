// Package policies answers by which policies the items of a tenant are confirmed, and who confirmed them.
package policies

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Verifications answers by which policies items are verified, and who confirmed them. It is safe for concurrent use.
type Verifications struct {
	log *events.Reader

	mu        sync.Mutex
	cached    map[string]tenantPolicies
	forgotten int // calls of Forget
}

// tenantPolicies are a tenant's policies, with the time of their reading.
type tenantPolicies struct {
	domain.Verification

	read time.Time
}

// freshPolicies is how long cached policies are used: a change on another server takes effect after this time.
const freshPolicies = time.Second

// NewVerifications answers from a log.
func NewVerifications(log *events.Reader) *Verifications {
	return &Verifications{log: log, cached: map[string]tenantPolicies{}}
}

// Policies are the policies of a tenant.
func (v *Verifications) Policies(ctx context.Context, tenant string) (domain.Verification, error) {
	now := time.Now()
	v.mu.Lock()
	known, found := v.cached[tenant]
	forgotten := v.forgotten
	v.mu.Unlock()
	if found && now.Sub(known.read) < freshPolicies {
		return known.Verification, nil
	}
	stream, err := v.log.State(ctx, tenant, domain.VerificationStream)
	if err != nil {
		return domain.Verification{}, err
	}
	policies, _ := stream.State.(domain.Verification)
	v.mu.Lock()
	if v.forgotten == forgotten { // otherwise a change may have followed the reading
		v.cached[tenant] = tenantPolicies{policies, now}
	}
	v.mu.Unlock()
	return policies, nil
}

// Forget lets the next question read the policies of a tenant again.
func (v *Verifications) Forget(tenant string) {
	v.mu.Lock()
	delete(v.cached, tenant)
	v.forgotten++
	v.mu.Unlock()
}

// ConfirmedBy is who confirmed items last, by their ids, and whether as the verifier. It asks nothing about none.
func (v *Verifications) ConfirmedBy(
	ctx context.Context, tenant string, ids []string,
) (map[string]domain.Verified, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	streams := make([]string, len(ids))
	for i, id := range ids {
		streams[i] = domain.KnowledgeStream(id)
	}
	newest, err := v.log.NewestOf(ctx, tenant, streams, []string{
		domain.Confirmed{}.Name(), domain.Accepted{}.Name(),
	})
	by := map[string]domain.Verified{}
	for stream, event := range newest {
		f, _ := event.Fact.(domain.Confirmed)
		if accepted, is := event.Fact.(domain.Accepted); is {
			f.Verifier = accepted.Verifier
		}
		by[strings.TrimPrefix(stream, domain.KnowledgeStream(""))] = domain.Verified{
			By: cmp.Or(event.OnBehalfOf, event.Actor), Counts: f.Verifier != "",
		}
	}
	return by, err
}
