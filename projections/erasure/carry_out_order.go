package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// Eraser carries out orders of erasure, one target after the other, each in its own transaction. The log has the
// orders, so any server can continue after another was killed. Two erasers on the same order do no harm: what is
// erased is not erased again. It is safe for concurrent use.
type Eraser struct {
	Files
	Relations
	Questions Questions // nil if none are kept

	table  func(ctx context.Context) (rows.Source, error)
	log    *events.Log
	logger *slog.Logger
	wake   chan struct{}

	mu    sync.Mutex
	going map[events.Order]int // how many targets an order has left that is carried out here
}

// Relations answer which items were made from which.
type Relations interface {
	Lineage(ctx context.Context, tenant, id string) ([]domain.LineageRelation, error)
	// Relatives are the direct relations of some items.
	Relatives(ctx context.Context, tenant string, ids []string) ([]domain.LineageRelation, error)
	// Learned are the items that were made from some streams.
	Learned(ctx context.Context, tenant string, streams []string) ([]domain.LineageRelation, error)
}

// Questions are what callers asked.
type Questions interface {
	// Forget erases the questions of an entity, or with "tenant:NAME" those of a tenant. It ignores other names.
	Forget(ctx context.Context, tenant, of string) error
}

// New makes an eraser for a log. table names the knowledge table that readers read.
func New(files Files, relations Relations, table func(ctx context.Context) (rows.Source, error), log *events.Log,
	logger *slog.Logger,
) *Eraser {
	return &Eraser{
		Files: files, Relations: relations, table: table, log: log, logger: logger,
		wake: make(chan struct{}, 1), going: map[events.Order]int{},
	}
}

const (
	betweenOrders = 30 * time.Second // how often to look for orders that another server received
	erasedAtOnce  = 50
)

// Begin starts carrying out orders at once.
func (e *Eraser) Begin() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Run carries out orders until ctx ends, beginning with unfinished ones.
func (e *Eraser) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := e.CarryOut(ctx); err != nil && ctx.Err() == nil {
			e.logger.WarnContext(ctx, "an erasure failed; retrying", "error", err, "after",
				betweenOrders.String())
		}
		select {
		case <-e.wake:
		case <-time.After(betweenOrders):
		case <-ctx.Done():
		}
	}
}

// CarryOut carries out all orders that are under way.
func (e *Eraser) CarryOut(ctx context.Context) error {
	orders, err := e.log.Erasures.UnderWay(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, order := range orders {
		if err := e.CarryOutOrder(ctx, order); err != nil {
			failed = append(failed, fmt.Errorf("%s of tenant %s: %w", order.Stream, order.Tenant, err))
		}
	}
	return errors.Join(failed...)
}

// order is an order of erasure with its principal and its progress.
type order struct {
	events.Order

	erasure domain.Erasure
	by      domain.Principal
	event   domain.Event
	refused map[string]domain.Refused // by stream
	done    rows.Set
}

// CarryOutOrder carries out one order if it is under way. It erases each target by a command. The append of the
// command destroys the texts (events/destroy_texts.go) and the rows that were computed from them
// (projections/knowledge/destroy_rows.go).
func (e *Eraser) CarryOutOrder(ctx context.Context, of events.Order) error {
	ctx = database.ForTenant(ctx, of.Tenant)
	history, err := e.log.Reader.Stream(ctx, of.Tenant, of.Stream)
	if err != nil || len(history) != 1 {
		return err
	}
	state, err := e.log.Reader.State(ctx, of.Tenant, of.Stream)
	if err != nil {
		return err
	}
	o := order{Order: of, event: history[0], refused: map[string]domain.Refused{}, done: rows.Set{}}
	o.erasure, _ = state.State.(domain.Erasure)
	o.by = domain.Principal{
		Tenant: of.Tenant, Subject: o.event.Actor, OnBehalfOf: o.event.OnBehalfOf,
		Role: o.erasure.Role, Authentication: o.event.Authentication,
	}
	defer e.note(of, 0)
	if err := e.endAccess(ctx, &o); err != nil {
		return err
	}
	for {
		left, err := e.left(ctx, &o)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			if e.Questions != nil {
				if err := e.Questions.Forget(ctx, o.Tenant, o.erasure.Of); err != nil {
					return err
				}
			}
			return e.complete(ctx, &o)
		}
		for chunk := range slices.Chunk(left, erasedAtOnce) {
			e.note(of, len(left))
			if err := e.erase(ctx, &o, chunk); err != nil {
				return err
			}
			left = left[len(chunk):]
		}
	}
}

// left lists the targets that are still to be erased.
func (e *Eraser) left(ctx context.Context, o *order) ([]domain.ErasureTarget, error) {
	lineage := domain.LineageIgnored
	if o.erasure.WithLineage {
		lineage = domain.LineageErased
	}
	all, err := e.Doomed(ctx, o.Tenant, o.erasure.Of, lineage)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(d domain.ErasureTarget) bool {
		_, refused := o.refused[d.Stream]
		return refused || o.done[d.Stream] || !d.WillErase
	}), nil
}

func (e *Eraser) erase(ctx context.Context, o *order, some []domain.ErasureTarget) error {
	submissions := make([]domain.Submission, len(some))
	for i, d := range some {
		submissions[i] = domain.Submission{By: o.by, Command: d.EraseCommand(o.by, o.erasure.Reason()), Origin: o.origin()}
		if to := d.PassesTo(o.erasure.Of); to != "" && o.erasure.KeepShared {
			submissions[i].Command = d.PassCommand(o.lifted(), to)
		}
	}
	for i, result := range e.log.SubmitAll(ctx, submissions) {
		stream := some[i].Stream
		switch err := result.Err; {
		case err == nil:
			o.done[stream] = true
		case errors.Is(err, domain.ErrNotFound): // the principal may not even see it: the record must not reveal it
			o.refused[stream] = domain.Refused{Stream: stream, Reason: some[i].ReasonRetained(o.by)}
		case errors.Is(err, domain.ErrConflict), errors.Is(err, domain.ErrTaken), errors.Is(err, domain.ErrForbidden):
			o.refused[stream] = domain.Refused{Stream: stream, Reason: err.Error()}
		default:
			return err
		}
	}
	return nil
}

func (o *order) origin() domain.Origin {
	return domain.Origin{CorrelationID: o.Stream, CausationID: o.event.EventID}
}

// lifted is the principal of the order with the rights to end what is its own, which it may lack.
func (o *order) lifted() domain.Principal {
	by := o.by
	if !by.Administers() {
		by.Role = domain.Admin
	}
	return by
}

// endAccess revokes the keys of a tenant or an entity before its erasure, so that no client writes to it any more, and
// ends the memberships of an entity. The key with which an entity orders its own erasure stays valid.
func (e *Eraser) endAccess(ctx context.Context, o *order) error {
	_, isTenant := domain.TenantOf(o.erasure.Of)
	if !isTenant && !o.erasure.EndsAccess() {
		return nil
	}
	of := domain.Entity(o.erasure.Of)
	if isTenant {
		of = ""
	}
	_, err := e.RevokeKeys(ctx, o.lifted(), o.origin(), time.Time{}, of)
	if err != nil || isTenant {
		return err
	}
	_, groups, err := e.Access(ctx, o.Tenant, o.erasure.Of)
	for _, group := range groups {
		if err == nil {
			_, err = e.log.Submit(ctx, domain.Submission{By: o.by, Origin: o.origin(), Command: domain.LeaveGroup{
				OfDirectory: domain.OfDirectory{By: o.lifted(), Member: of}, Group: group,
			}})
		}
	}
	return err
}

// RevokeKeys revokes and counts the keys of by's tenant that were issued up to a time, or all if it is zero, and that
// are a subject's, unless that is empty. It skips keys that by may not revoke, and by's own key.
func (e *Eraser) RevokeKeys(
	ctx context.Context, by domain.Principal, origin domain.Origin, until time.Time, subject domain.Entity,
) (revoked int64, err error) {
	err = e.eachKey(ctx, by.Tenant, func(prefix string, key domain.Key) error {
		if !until.IsZero() && key.CreatedAt.After(until) ||
			subject != "" && (key.Subject != subject || by.Authentication == domain.KeyStreams.Of(prefix)) {
			return nil
		}
		_, err := e.log.Submit(ctx, domain.Submission{
			By: by, Command: domain.RevokeKey{By: by, Prefix: prefix},
			Origin: origin,
		})
		switch {
		case errors.Is(err, domain.ErrForbidden):
			return nil
		case err == nil:
			revoked++
		}
		return err
	})
	return revoked, err
}

// eachKey visits a tenant's keys that were not revoked.
func (e *Eraser) eachKey(ctx context.Context, tenant string, do func(prefix string, key domain.Key) error) error {
	const page = 500
	for after := ""; ; {
		keys, err := e.log.Reader.States(ctx, tenant, domain.KeyStreams.Of(""), after, page)
		if err != nil {
			return err
		}
		for _, s := range keys {
			after = s.Name
			if key, is := s.State.(domain.Key); is && key.RevokedAt.IsZero() {
				if err := do(domain.KeyStreams.ID(s.Name), key); err != nil {
					return err
				}
			}
		}
		if len(keys) < page {
			return nil
		}
	}
}

// erasures are the names of the events that erase texts.
var erasures = []string{domain.Erased{}.Name(), domain.SessionErased{}.Name(), domain.TextsErased{}.Name()}

func (e *Eraser) complete(ctx context.Context, o *order) error {
	erased, err := e.log.Erasures.CountCaused(ctx, o.Tenant, o.Stream, o.event.Position, erasures...)
	if err != nil {
		return err
	}
	done := domain.CompleteErasure{
		ID: domain.ErasureStreams.ID(o.Stream), Erased: erased,
		NotErased: int64(len(o.refused)),
	}
	for _, stream := range slices.Sorted(maps.Keys(o.refused)) {
		done.Refused = append(done.Refused, o.refused[stream])
	}
	system := domain.SystemPrincipal()
	if name, isTenant := domain.TenantOf(o.erasure.Of); isTenant && len(o.refused) == 0 && name != domain.DefaultTenant {
		everywhere := database.ForTenant(ctx, domain.SystemTenant)
		if _, err := e.log.Submit(everywhere, domain.Submission{
			By:      system,
			Command: domain.EndTenant{Name: name},
		}); err != nil {
			return err
		}
	}
	system.Tenant = o.Tenant
	_, err = e.log.Submit(ctx, domain.Submission{
		By: system, Command: done,
		Origin: domain.Origin{CausationID: o.event.EventID},
	})
	return err
}

func (e *Eraser) note(of events.Order, left int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.going[of] = left; left == 0 {
		delete(e.going, of)
	}
}

// Erasure returns an order and its progress.
func (e *Eraser) Erasure(ctx context.Context, tenant, id string) (found domain.ErasureProgress, err error) {
	stream := domain.ErasureStreams.Of(id)
	history, err := e.log.Reader.Stream(ctx, tenant, stream)
	if err != nil {
		return found, err
	}
	state, err := e.log.Reader.State(ctx, tenant, stream)
	if err != nil {
		return found, err
	}
	ordered := false
	if found.Erasure, ordered = state.State.(domain.Erasure); !ordered || len(history) == 0 {
		return found, domain.Refuse(domain.ErrNotFound, "there is no such erasure")
	}
	since := history[0].Position
	for name, count := range map[string]*int64{
		domain.KeyRevoked{}.Name(): &found.Revoked, domain.Transferred{}.Name(): &found.Passed,
	} {
		if *count, err = e.log.Erasures.CountCaused(ctx, tenant, stream, since, name); err != nil {
			return found, err
		}
	}
	if found.Erased = found.Erasure.Erased; !found.UnderWay() {
		return found, nil
	}
	found.Erased, err = e.log.Erasures.CountCaused(ctx, tenant, stream, since, erasures...)
	e.mu.Lock()
	defer e.mu.Unlock()
	found.Left = int64(e.going[events.Order{Tenant: tenant, Stream: stream}])
	return found, err
}

// Access are the unrevoked keys and the memberships that an order about a tenant or an entity would end.
func (e *Eraser) Access(ctx context.Context, tenant, of string) (keys []string, groups []domain.Entity, err error) {
	_, isTenant := domain.TenantOf(of)
	if !isTenant && !(domain.Erasure{Of: of}).EndsAccess() {
		return nil, nil, nil
	}
	err = e.eachKey(ctx, tenant, func(prefix string, key domain.Key) error {
		if isTenant || key.Subject == domain.Entity(of) && key.CheckValid(time.Now()) == nil {
			keys = append(keys, prefix)
		}
		return nil
	})
	if err != nil || isTenant {
		return keys, nil, err
	}
	state, err := e.log.Reader.State(ctx, tenant, of)
	entry, _ := state.State.(domain.MemberEntry)
	for _, m := range entry.Groups {
		groups = append(groups, m.Group)
	}
	return keys, groups, err
}

// OrderedBy tells whether p ordered an erasure, itself or on behalf of the same entity as now.
func (e *Eraser) OrderedBy(ctx context.Context, p domain.Principal, id string) (bool, error) {
	history, err := e.log.Reader.Stream(ctx, p.Tenant, domain.ErasureStreams.Of(id))
	if err != nil || len(history) == 0 {
		return false, err
	}
	return history[0].Actor == p.Subject && history[0].OnBehalfOf == p.OnBehalfOf, nil
}
