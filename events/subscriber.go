package events

import (
	"context"
	"errors"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"
)

// Subscriber lets Watermill follow the log. The topic is the name of a projection: its checkpoints
// say where each tenant's messages begin, and whoever handles a message moves the checkpoint before
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

// NewSubscriber makes a subscriber; whoever made it closes it, before the log.
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
