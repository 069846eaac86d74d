package visible

import (
	"context"
	"net/http"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// Items are the items that callers may see.
type Items struct {
	Reader   Reader
	Policies Policies // nil for a server without verification policies
	Recorder Recorder // nil for a server that keeps no receipts
	Progress Progress
}

// Reader reads items.
type Reader interface {
	// Find returns the item, even if it is deleted or erased. The error matches domain.ErrNotFound if there is none.
	// The caller decides who may see it.
	Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
	// Items returns items by their ids, as Find does. It leaves out those that cannot be read.
	Items(ctx context.Context, tenant string, ids []string) (map[string]*domain.Knowledge, error)
	// Hide takes out the references to items and events that a principal may not see.
	Hide(ctx context.Context, from domain.Principal, all ...domain.Referrer) error
	// Dispute sets by which items others are disputed, as far as a principal may see these. It hides references, too.
	Dispute(ctx context.Context, by domain.Principal, items ...*domain.Knowledge) error
}

// Progress tells how far answers are.
type Progress interface {
	// Await returns when an answer, of a search or of any other read, is as new as a position of the
	// log. The error matches domain.ErrBehind if ctx ends first.
	Await(ctx context.Context, tenant string, position int64, search bool) error
}

// Policies tells by which policies items are verified, and who confirmed them.
type Policies interface {
	// Policies are the policies of a tenant, as they were a second ago or later.
	Policies(ctx context.Context, tenant string) (domain.Verification, error)
	// ConfirmedBy is who confirmed items last, by their ids, and whether as the verifier.
	ConfirmedBy(ctx context.Context, tenant string, ids []string) (map[string]domain.Verified, error)
}

// Recorder records who was given which knowledge, and who was denied what.
type Recorder interface {
	// Give records an answer, and returns the id of its receipt: empty if there is none. It never blocks. Nobody may
	// change the items any more.
	Give(given domain.Given) (receipt string)
}

// Find finds an item if the caller may see it, deleted or not. For an item that the caller may not see, it answers as
// if the item did not exist.
func (s Items) Find(ctx context.Context, c *serve.Call, id string) (*domain.Knowledge, error) {
	if !domain.IsItemID(id) {
		return nil, domain.NotFound(id)
	}
	k, err := s.Reader.Find(ctx, c.Principal.Tenant, id)
	if err != nil {
		return nil, err
	}
	if !c.Principal.MaySee(k) {
		return nil, domain.NotFound(id)
	}
	return k, nil
}

// Existing finds an item if the caller may see it and it is not deleted.
func (s Items) Existing(ctx context.Context, c *serve.Call, id string) (*domain.Knowledge, error) {
	k, err := s.Find(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return k, domain.Gone(k)
}

// Hide takes out the references of items to others that the caller may not see.
func (s Items) Hide(ctx context.Context, c *serve.Call, items ...*domain.Knowledge) error {
	return s.Reader.Hide(ctx, c.Principal, serve.Map(items, func(k *domain.Knowledge) domain.Referrer { return k })...)
}

// Verify sets how items of the present are verified and disputed, and hides references as [Items.Hide] does. It asks
// who confirmed them only if any of them was confirmed.
func (s Items) Verify(ctx context.Context, c *serve.Call, items ...*domain.Knowledge) error {
	err := s.Reader.Dispute(ctx, c.Principal, items...)
	if err != nil || s.Policies == nil || len(items) == 0 {
		return err
	}
	policies, err := s.Policies.Policies(ctx, c.Principal.Tenant)
	if err != nil {
		return err
	}
	var confirmed []string
	for _, k := range items {
		if !k.ConfirmedAt.IsZero() {
			confirmed = append(confirmed, k.ID)
		}
	}
	by, err := s.Policies.ConfirmedBy(ctx, c.Principal.Tenant, confirmed)
	for _, k := range items {
		policies.Verify(k, by[k.ID], c.Now)
	}
	return err
}

// Show prepares items as they are, or were at a position of the log: as [Items.Verify] does, or [Items.Hide].
func (s Items) Show(ctx context.Context, c *serve.Call, position int64, items ...*domain.Knowledge) error {
	if position != 0 {
		return s.Hide(ctx, c, items...)
	}
	return s.Verify(ctx, c, items...)
}

// GiveUse records that the caller is given items, unless they only look at the answer. It names the receipt in a header
// and returns its id: empty if there is none. Add adds what was asked, and the items.
func (s Items) GiveUse(c *serve.Call, add func(given *domain.Given)) string {
	return s.give(c, serve.GivenIn(c.Request.Context()), add)
}

// GiveLook does the same for an answer that is no use of its items, such as a list.
func (s Items) GiveLook(c *serve.Call, items ...*domain.Knowledge) string {
	return s.give(c, domain.GivenLook, func(given *domain.Given) { given.Items = domain.GivenWhole(items...) })
}

func (s Items) give(c *serve.Call, kind domain.GivenKind, add func(given *domain.Given)) string {
	if s.Recorder == nil {
		return ""
	}
	given := c.Given(kind, http.StatusOK)
	add(&given)
	receipt := s.Recorder.Give(given)
	if receipt != "" {
		c.Response.Header().Set(serve.ReceiptHeader, receipt)
	}
	return receipt
}
