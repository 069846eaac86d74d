package follow

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/domain"
)

// Subscriber lets Watermill follow the log. The topic is the name of a projection: its checkpoints
// say where each tenant's messages begin, and the handler of a message moves the checkpoint before
// acknowledging it, as [AddHandler] does. A message carries a [Page]. One that is refused, or that was
// acknowledged without moving the checkpoint, comes again.
type Subscriber struct {
	log  *Log
	ctx  context.Context // ends with Close
	stop context.CancelFunc

	mu        sync.Mutex
	closed    bool
	followers sync.WaitGroup
}

var _ message.Subscriber = (*Subscriber)(nil)

// NewSubscriber makes a subscriber; the caller closes it, before the log.
func NewSubscriber(l *Log) *Subscriber {
	ctx, stop := context.WithCancel(context.Background())
	return &Subscriber{log: l, ctx: ctx, stop: stop}
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
	f := &follower{log: s.log, projection: topic, out: make(chan *message.Message), abreast: make(chan struct{}, abreast)}
	s.followers.Go(func() {
		defer release()
		defer cancel()
		f.run(ctx)
	})
	return f.out, nil
}

// Close implements [message.Subscriber]: it ends every subscription and waits for that.
func (s *Subscriber) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.followers.Wait()
	return nil
}

// Page is a piece of one tenant's log: what comes next for one projection, in order, without a gap.
type Page struct {
	Tenant  string
	After   int64          // how far the projection has read
	AfterID string         // the id of the event there; empty at 0
	Events  []domain.Event // 1 to 500; up to 5,000 where they are bare: [AddUndivided]

	followed   bool        // a follower read it, and comes again if the transaction is lost
	quarantine *quarantine // when it was read; nil for nothing
	unreadable error       // why its one event cannot be decoded
	erasures   *int64      // how far they had come before it was read; nil if it is read where it is taken in
	late       bool        // it waited in quarantine: its events lie behind what the projection has read
}

// OrderChanges is how often the projection has left the order of the log before the page was read: a stream was
// passed over or let out, or it began anew. Work that remembers what pages have brought
// must not rely on positions alone when it has. The second result is false if it is not counted.
func (p Page) OrderChanges() (turns int64, counted bool) {
	if p.quarantine == nil {
		return 0, false
	}
	return p.quarantine.changes, true
}

// Late tells whether the page waited in quarantine, so that its events lie behind what the projection has
// read.
func (p Page) Late() bool { return p.late }

// Last is the newest event of the page.
func (p Page) Last() domain.Event { return p.Events[len(p.Events)-1] }

// halves are the page in two, one after the other.
func (p Page) halves() (first, second Page) {
	first, second = p, p
	middle := len(p.Events) / 2
	first.Events, second.Events = p.Events[:middle], p.Events[middle:]
	second.After, second.AfterID = first.Last().Position, first.Last().EventID
	return first, second
}

type pageKey struct{}

// newMessage carries a page within this process. The payload only says which page it is, and nothing
// of what people wrote.
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
