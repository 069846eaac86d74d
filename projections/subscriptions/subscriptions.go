package subscriptions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
)

// Options configure [Subscriptions].
type Options struct {
	DB        *database.DB
	Log       *events.Log
	Followers *follow.Followers
	Writer    interface {
		Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
	}
	// Items finds an item, whatever its status, sets by which items others are disputed, and hides references.
	Items interface {
		Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
		Hide(ctx context.Context, reader domain.Principal, all ...domain.Referrer) error
		Dispute(ctx context.Context, reader domain.Principal, items ...*domain.Knowledge) error
	}
	// Rights are the present rights of a subscriber. The error matches [domain.ErrUnauthenticated] if there are none.
	Rights func(ctx context.Context, tenant string, s domain.Subscription) (domain.Principal, error)
	// Show is an event as the API shows it.
	Show func(domain.Event) any
	// Client posts. Its error matches Refused if it may not reach an address.
	Client  *http.Client
	Refused error
	// Check describes what is wrong with an address to post to; empty if nothing is.
	Check  func(address string) string
	First  time.Duration // from a failed attempt to the second; default: 5 s
	GiveUp time.Duration // after which a delivery is dead; default: 24 h
	Keep   time.Duration // for which finished deliveries are listed; default: 30 days
	Logger *slog.Logger
}

// Subscriptions delivers the events of all tenants. It is safe for concurrent use.
type Subscriptions struct {
	Options
	store
}

// New makes the deliveries of a log.
func New(o Options) *Subscriptions {
	o.First, o.GiveUp = cmp.Or(o.First, 5*time.Second), cmp.Or(o.GiveUp, 24*time.Hour)
	o.Keep = cmp.Or(o.Keep, 30*24*time.Hour)
	return &Subscriptions{Options: o, store: store{o.DB, make(chan struct{}, 1)}}
}

// Find is a subscription with its texts. The error matches [domain.ErrNotFound] if there is none.
func (s *Subscriptions) Find(ctx context.Context, tenant, id string) (domain.Subscribed, error) {
	stream, err := s.Log.Reader.State(ctx, tenant, domain.SubscriptionStreams.Of(id))
	if err != nil {
		return domain.Subscribed{}, err
	}
	if !stream.Exists() {
		return domain.Subscribed{}, domain.NoSubscription()
	}
	found, err := s.named(ctx, tenant, []domain.Stream{stream})
	if err != nil {
		return domain.Subscribed{}, err
	}
	return found[0], nil
}

// List lists the subscriptions of a tenant, or of one subscriber, oldest first.
func (s *Subscriptions) List(
	ctx context.Context, tenant string, of domain.Entity,
) (all []domain.Subscribed, err error) {
	const page = 500
	for after := ""; ; {
		streams, err := s.Log.Reader.States(ctx, tenant, domain.SubscriptionStreams.Of(""), after, page)
		if err != nil {
			return nil, err
		}
		full := len(streams) == page
		if full {
			after = streams[page-1].Name
		}
		if of != "" {
			streams = slices.DeleteFunc(streams, func(one domain.Stream) bool {
				state, _ := one.State.(domain.Subscription)
				return state.Subscriber != of
			})
		}
		some, err := s.named(ctx, tenant, streams)
		if all = append(all, some...); err != nil || !full {
			return all, err
		}
	}
}

// named adds the texts of subscriptions.
func (s *Subscriptions) named(
	ctx context.Context, tenant string, streams []domain.Stream,
) ([]domain.Subscribed, error) {
	if len(streams) == 0 {
		return nil, nil
	}
	all, names := make([]domain.Subscribed, len(streams)), make([]string, len(streams))
	for i, one := range streams {
		names[i] = one.Name
	}
	created, err := s.Log.Reader.NewestOf(ctx, tenant, names, []string{domain.SubscriptionCreated{}.Name()})
	for i, one := range streams {
		all[i].ID, all[i].Created = domain.SubscriptionStreams.ID(one.Name), created[one.Name].EventID
		all[i].Subscription, _ = one.State.(domain.Subscription)
		f, _ := created[one.Name].Fact.(domain.SubscriptionCreated)
		all[i].Tag, all[i].Query, all[i].URL, all[i].Note = f.Tag, f.Query, f.URL, f.Note
	}
	return all, err
}

// matcher compares events of a tenant with subscriptions. It reads each item once.
type matcher struct {
	s      *Subscriptions
	tenant string
	strict bool // an item that cannot be read is an error; otherwise its events are left out
	items  map[string]*domain.Knowledge
	terms  map[string]map[string]bool // of the texts of items
}

func (s *Subscriptions) matcher(tenant string) *matcher {
	return &matcher{s: s, tenant: tenant, items: map[string]*domain.Knowledge{}, terms: map[string]map[string]bool{}}
}

// itemsOf are the items of an event; none if one of them was never remembered, or cannot be read.
func (m *matcher) itemsOf(ctx context.Context, e domain.Event) (all []*domain.Knowledge, err error) {
	var ids []string
	if id, is := domain.ItemOf(e.Stream); is {
		ids = []string{id}
	} else if f, proposes := e.Fact.(domain.ReviewProposed); proposes {
		ids = f.Items
	}
	for _, id := range ids {
		k, err := m.item(ctx, id)
		if err != nil || k == nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

// item is the item with an id; nil if it was never remembered.
func (m *matcher) item(ctx context.Context, id string) (*domain.Knowledge, error) {
	if k, known := m.items[id]; known {
		return k, nil
	}
	k, err := m.s.Items.Find(ctx, m.tenant, id)
	if errors.Is(err, domain.ErrNotFound) || errors.Is(err, domain.ErrBroken) && !m.strict {
		err = nil
	}
	if err == nil && k != nil {
		all := domain.SystemPrincipal()
		all.Tenant = m.tenant
		err = m.s.Items.Dispute(ctx, all, k)
	}
	if err == nil {
		m.items[id] = k
	}
	return k, err
}

// matches tells whether a subscription follows an event. The items count as they are now.
func (m *matcher) matches(ctx context.Context, s domain.Subscribed, e domain.Event) (bool, error) {
	if e.Position <= s.After || !slices.Contains(s.Names(), e.Name) {
		return false, nil
	}
	if f, contains := e.Fact.(domain.ContainmentApplied); contains {
		return slices.ContainsFunc(f.Scopes, func(c domain.ContainedScope) bool { return c.Scope == s.Scope }), nil
	}
	all, err := m.itemsOf(ctx, e)
	return slices.ContainsFunc(all, func(k *domain.Knowledge) bool {
		return s.FollowsFact(e.Fact, k) && m.chosen(s, k)
	}), err
}

// chosen tells whether a subscription follows an item.
func (m *matcher) chosen(s domain.Subscribed, k *domain.Knowledge) bool {
	switch s.Follows {
	case "scope":
		return slices.Contains(k.Scopes, s.Scope)
	case "item":
		return k.ID == s.Item
	case "tag":
		return s.Tag != "" && tagged(k, s.Tag)
	}
	terms := cut(s.Query)
	for term := range terms {
		if !m.termsOf(k)[term] {
			return false
		}
	}
	return len(terms) > 0
}

// termsOf are the terms of an item's task, content, abstract and tags.
func (m *matcher) termsOf(k *domain.Knowledge) map[string]bool {
	terms, known := m.terms[k.ID]
	if !known {
		all := []string{k.Text.Task, k.Text.Content, k.Text.Abstract}
		for _, values := range k.Text.Tags {
			all = append(all, values...)
		}
		terms = cut(strings.Join(all, "\n"))
		m.terms[k.ID] = terms
	}
	return terms
}

func cut(s string) map[string]bool {
	terms := map[string]bool{}
	for _, term := range text.Terms(s) {
		terms[term] = true
	}
	return terms
}

// tagged tells whether an item has a tag: "key=value", or a label.
func tagged(k *domain.Knowledge, tag string) bool {
	key, value := domain.CutTag(tag, "=")
	return slices.Contains(k.Text.Tags[key], value)
}

// visible is an event as p may read it now; false if p may not see all of its items.
func (m *matcher) visible(ctx context.Context, p domain.Principal, e domain.Event) (domain.Event, bool, error) {
	if f, contains := e.Fact.(domain.ContainmentApplied); contains {
		return notice(p, e, f)
	}
	all, err := m.itemsOf(ctx, e)
	if err != nil || len(all) == 0 {
		return e, false, err
	}
	deleted, isDeletion := e.Fact.(domain.Deleted)
	for _, k := range all {
		learns, everything := p.SubscribedItem(k, isDeletion && !deleted.Proposed)
		if !learns {
			return e, false, nil
		}
		if !everything {
			e = domain.Event{
				Tenant: e.Tenant, Position: e.Position, EventID: e.EventID, Stream: e.Stream, Version: e.Version, Name: e.Name,
				SchemaVersion: e.SchemaVersion, RecordedAt: e.RecordedAt,
			}
		}
	}
	err = m.s.Items.Hide(ctx, p, &e)
	return e, err == nil, err
}

// notice is a containment as the readers of its scopes learn of it: how many items of theirs are withheld.
func notice(p domain.Principal, e domain.Event, f domain.ContainmentApplied) (domain.Event, bool, error) {
	scopes := slices.DeleteFunc(slices.Clone(f.Scopes), func(c domain.ContainedScope) bool {
		return c.Scope != domain.Public && !p.ActsFor(c.Scope.Entity())
	})
	data, err := json.Marshal(map[string]any{"scopes": scopes})
	return domain.Event{
		Tenant: e.Tenant, Position: e.Position, EventID: e.EventID, Stream: e.Stream, Version: e.Version, Name: e.Name,
		SchemaVersion: e.SchemaVersion, RecordedAt: e.RecordedAt, Data: data, Fact: domain.ContainmentApplied{Scopes: scopes},
	}, len(scopes) > 0, err
}

// Choose are those of some events that a subscription delivers to p, as p may read them now. It reads the items that
// it is not given.
func (s *Subscriptions) Choose(
	ctx context.Context, p domain.Principal, to domain.Subscribed, from []domain.Event, items map[string]*domain.Knowledge,
) (chosen []domain.Event, err error) {
	m := s.matcher(p.Tenant)
	maps.Copy(m.items, items)
	for _, e := range from {
		seen, may, err := m.visible(ctx, p, e) // first: the words of hidden items are not cut
		if err != nil {
			return nil, err
		}
		if !may {
			continue
		}
		follows, err := m.matches(ctx, to, e)
		if err != nil {
			return nil, err
		}
		if follows {
			chosen = append(chosen, seen)
		}
	}
	return chosen, nil
}

// change submits a change of a subscription in the name of the server.
func (s *Subscriptions) change(ctx context.Context, tenant, id string, to domain.Fact) error {
	by := domain.SystemPrincipal()
	by.Tenant = tenant
	_, err := s.Writer.Submit(ctx, domain.Submission{By: by, Command: domain.ChangeSubscription{By: by, ID: id, To: to}})
	if errors.Is(err, domain.ErrConflict) || domain.IsGone(err) { // it has ended, or its tenant
		return nil
	}
	return err
}

// failed wraps an error of the database.
func failed(ctx context.Context, doing string, err error) error {
	return fmt.Errorf("%s: %w", doing, events.Unavailable(database.Classify(ctx, err)))
}
