package follow

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/domain"
)

// Subscriber lets Watermill follow the log. The topic is the name of a projection. Its checkpoints say where each
// tenant's messages begin. The handler of a message moves the checkpoint before it acknowledges the message, as
// [AddPreparer] does. A message carries a [Page]. It is delivered again if it was refused, or acknowledged without
// moving the checkpoint.
type Subscriber struct {
	followers *Followers
	ctx       context.Context // ends with Close
	stop      context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

var _ message.Subscriber = (*Subscriber)(nil)

// NewSubscriber makes a subscriber. The caller closes it before the log.
func NewSubscriber(l *Followers) *Subscriber {
	ctx, stop := context.WithCancel(context.Background())
	return &Subscriber{followers: l, ctx: ctx, stop: stop}
}

// Subscribe implements [message.Subscriber]. The channel is closed when ctx ends or the subscriber is
// closed.
func (s *Subscriber) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the subscriber is closed")
	}
	ctx, cancel := context.WithCancel(ctx)
	release := context.AfterFunc(s.ctx, cancel)
	f := &follower{
		followers: s.followers, projection: topic, out: make(chan *message.Message), abreast: make(chan struct{}, abreast),
	}
	s.running.Go(func() {
		defer release()
		defer cancel()
		f.run(ctx)
	})
	return f.out, nil
}

// Close implements [message.Subscriber]: it ends every subscription and waits until all have ended.
func (s *Subscriber) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.running.Wait()
	return nil
}

// Page is the next piece of one tenant's log for one projection, in order and without a gap.
type Page struct {
	Tenant  string
	After   int64          // the position up to which the projection has read
	AfterID string         // the id of the event there; empty at 0
	Events  []domain.Event // 1 to 500; up to 5,000 with [AddWholePages]

	followed   bool        // a follower read it, and delivers it again if the transaction is lost
	quarantine *quarantine // as of the reading of the page; nil for none
	unreadable error       // why its one event cannot be decoded
	erasures   *int64      // newest erasure before the reading; nil if the page is read in its own transaction
	late       bool        // it waited in quarantine: its events are before the checkpoint
}

// OrderChanges counts how often the projection had left the order of the log before the page was read: by a
// quarantine, a release or a reset. Work that remembers pages must compare it, since positions alone then mislead.
// counted is false if it is unknown.
func (p Page) OrderChanges() (turns int64, counted bool) {
	if p.quarantine == nil {
		return 0, false
	}
	return p.quarantine.changes, true
}

// Late tells whether the page waited in quarantine, so that its events are before the projection's checkpoint.
func (p Page) Late() bool { return p.late }

// Last is the newest event of the page.
func (p Page) Last() domain.Event { return p.Events[len(p.Events)-1] }

// halves splits the page in two.
func (p Page) halves() (first, second Page) {
	first, second = p, p
	middle := len(p.Events) / 2
	first.Events, second.Events = p.Events[:middle], p.Events[middle:]
	second.After, second.AfterID = first.Last().Position, first.Last().EventID
	return first, second
}

type pageKey struct{}

// newMessage carries a page within this process. The payload only identifies the page and contains no texts.
func newMessage(ctx context.Context, p Page) (*message.Message, error) {
	payload, err := json.Marshal(struct {
		Tenant  string `json:"tenant"`
		After   int64  `json:"after"`
		Through int64  `json:"through"`
	}{p.Tenant, p.After, p.Last().Position})
	if err != nil {
		return nil, err
	}
	return message.NewMessageWithContext(context.WithValue(ctx, pageKey{}, p), p.Last().EventID, payload), nil
}

// PageOf is the page that a message of a [Subscriber] carries.
func PageOf(msg *message.Message) (Page, error) {
	page, ok := msg.Context().Value(pageKey{}).(Page)
	if !ok {
		return Page{}, errors.New("the message carries no page: it did not come from a subscriber of this log")
	}
	return page, nil
}
