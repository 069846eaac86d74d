package client

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// ConversationConfig configures a [Conversation].
type ConversationConfig struct {
	Client *Client
	// Session is the session's id on the server. Required.
	Session string
	// Keep is how many of the last messages are stored at a time. Default: 4.
	Keep int
	// Pause is how long to wait after the last message before storing. Default: 30 s; negative to store at once.
	Pause time.Duration
}

// Conversation stores the messages of a conversation in the background. After each pause it stores the last messages,
// each once. It is safe for concurrent use. The caller closes it.
type Conversation struct {
	cfg ConversationConfig

	mu       sync.Mutex
	messages []Message // the messages of the last [Conversation.Store]
	stored   []Message // the last messages that the server has
	timer    *time.Timer
	closed   bool
	running  sync.WaitGroup

	storing sync.Mutex // held while storing a batch
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

// Store takes the messages of the conversation, all or the last ones, and returns at once.
func (c *Conversation) Store(messages []Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.messages = c.worth(messages)
	if c.timer != nil && c.timer.Stop() {
		c.running.Done()
	}
	c.running.Add(1)
	c.timer = time.AfterFunc(max(c.cfg.Pause, 0), func() {
		defer c.running.Done()
		_ = c.flush(context.Background()) // flush logs its error
	})
}

// worth are the last messages with content, without repetitions.
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

// Flush stores the remaining messages now. After an error, the next flush tries them again.
func (c *Conversation) Flush(ctx context.Context) error {
	c.mu.Lock()
	if c.timer != nil && c.timer.Stop() {
		c.running.Done()
	}
	c.mu.Unlock()
	return c.flush(ctx)
}

// Close stores the remaining messages and ends the conversation.
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
	messages, fresh := c.messages, unseen(c.stored, c.messages)
	c.mu.Unlock()
	err := error(nil)
	if len(fresh) > 0 {
		if err = c.cfg.Client.Say(ctx, c.cfg.Session, fresh...); err == nil {
			c.mu.Lock()
			c.stored = messages
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

// unseen is the part of messages after those that stored ends with.
func unseen(stored, messages []Message) []Message {
	for n := min(len(stored), len(messages)); n > 0; n-- {
		if slices.Equal(stored[len(stored)-n:], messages[:n]) {
			return messages[n:]
		}
	}
	return messages
}
