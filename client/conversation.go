package client

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// ConversationConfig says where a [Conversation] is kept.
type ConversationConfig struct {
	Client *Client
	// Session is its id on the server. Required.
	Session string
	// Keep is how many of the last messages are stored at a time. 0 for 4.
	Keep int
	// Pause is how long nothing must have been said before they are. 0 for 30 s; less than 0 to store at once.
	Pause time.Duration
}

// Conversation stores what is said while it goes on, in the background: the last messages, when there is a
// pause, each once. It is safe for concurrent use. Whoever made it closes it.
type Conversation struct {
	cfg ConversationConfig

	mu      sync.Mutex
	said    []Message // as it was stored last
	stored  []Message // what the server has of the end
	timer   *time.Timer
	closed  bool
	running sync.WaitGroup

	storing sync.Mutex // one batch after the other
	waiting bool       // the server has messages that were not committed
}

// NewConversation makes a conversation. It sends nothing yet.
func NewConversation(cfg ConversationConfig) *Conversation {
	if cfg.Keep <= 0 {
		cfg.Keep = 4
	}
	if cfg.Pause == 0 {
		cfg.Pause = 30 * time.Second
	}
	return &Conversation{cfg: cfg}
}

// Store takes a conversation as it is now, whole or its end, and returns at once.
func (c *Conversation) Store(messages []Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.said = c.worth(messages)
	if c.timer != nil && c.timer.Stop() {
		c.running.Done()
	}
	c.running.Add(1)
	c.timer = time.AfterFunc(max(c.cfg.Pause, 0), func() {
		defer c.running.Done()
		_ = c.flush(context.Background()) // it has told the log
	})
}

// worth are the last messages that say something, without repetitions.
func (c *Conversation) worth(messages []Message) []Message {
	var kept []Message
	for _, m := range slices.Backward(messages) {
		if strings.TrimSpace(m.Content) == "" || m.Role != "user" && m.Role != "assistant" {
			continue
		}
		if len(kept) > 0 && kept[len(kept)-1] == m {
			continue
		}
		if kept = append(kept, m); len(kept) == c.cfg.Keep {
			break
		}
	}
	slices.Reverse(kept)
	return kept
}

// Flush stores what has not been stored, now. The error says why that was not possible; it is tried again with what
// is said next.
func (c *Conversation) Flush(ctx context.Context) error {
	c.mu.Lock()
	if c.timer != nil && c.timer.Stop() {
		c.running.Done()
	}
	c.mu.Unlock()
	return c.flush(ctx)
}

// Close stores what has not been stored, and ends the conversation.
func (c *Conversation) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	err := c.Flush(ctx)
	c.running.Wait()
	return err
}

func (c *Conversation) flush(ctx context.Context) error {
	c.storing.Lock()
	defer c.storing.Unlock()
	c.mu.Lock()
	said, fresh := c.said, unseen(c.stored, c.said)
	c.mu.Unlock()
	err := error(nil)
	if len(fresh) > 0 {
		if err = c.cfg.Client.Say(ctx, c.cfg.Session, fresh...); err == nil {
			c.mu.Lock()
			c.stored = said
			c.mu.Unlock()
			c.waiting = true
		}
	}
	if err == nil && c.waiting {
		_, err = c.cfg.Client.CommitSession(ctx, c.cfg.Session, "periodic")
		c.waiting = err != nil
	}
	if err != nil {
		c.cfg.Client.cfg.Logger.WarnContext(ctx, "a conversation was not stored", "session", c.cfg.Session, "error", err)
	}
	return err
}

// unseen is what follows in said after what stored ends with.
func unseen(stored, said []Message) []Message {
	for n := min(len(stored), len(said)); n > 0; n-- {
		if slices.Equal(stored[len(stored)-n:], said[:n]) {
			return said[n:]
		}
	}
	return said
}
