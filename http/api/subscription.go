package api

import "time"

// NewSubscription is a wish to follow items. One of scope, item, tag and query says which.
type NewSubscription struct {
	Scope   string   `json:"scope,omitempty" example:"team:pay" doc:"Follow the items that reach this scope."`
	Item    string   `json:"item,omitempty" doc:"Follow the item with this id."`
	Tag     string   `json:"tag,omitempty" maxLength:"500" example:"service=payments" doc:"Follow the items with this tag: key=value, or a label."`
	Query   string   `json:"query,omitempty" maxLength:"500" example:"deploy window" doc:"Follow the items whose task, content, abstract or tags contain all these words, in any form."`
	Events  []string `json:"events,omitempty" example:"[\"remembered\",\"superseded\"]" doc:"Some of confirmed, contested, deleted, harmful, helpful, merged, remembered, restored, revised, stale, superseded. Default: all but confirmed and helpful."`
	Webhook string   `json:"webhook,omitempty" maxLength:"2000" example:"https://example.com/hook" doc:"The URL to post events to. Without one, the events are read from the subscription's feed."`
	Note    string   `json:"note,omitempty" maxLength:"200" doc:"What it is for."`
}

// Subscription delivers events about items to a subscriber.
type Subscription struct {
	ID         string           `json:"id"`
	Subscriber string           `json:"subscriber" example:"user:mia"`
	By         string           `json:"by,omitempty" doc:"Who acted for the subscriber."`
	State      string           `json:"state" enum:"active,paused,ended"`
	Cause      string           `json:"cause,omitempty" enum:"asked,rights,gone,erased" doc:"Of the pause or the end. rights: the key was revoked or has expired, or a member was deactivated. gone: the receiver answered with status 410. erased: its texts were erased."`
	Scope      string           `json:"scope,omitempty"`
	Item       string           `json:"item,omitempty"`
	Tag        string           `json:"tag,omitempty"`
	Query      string           `json:"query,omitempty"`
	Events     []string         `json:"events" nullable:"false"`
	Webhook    string           `json:"webhook,omitempty"`
	Note       string           `json:"note,omitempty"`
	CreatedAt  *time.Time       `json:"created_at,omitempty"`
	PausedAt   *time.Time       `json:"paused_at,omitempty"`
	EndedAt    *time.Time       `json:"ended_at,omitempty"`
	RotatedAt  *time.Time       `json:"rotated_at,omitempty" doc:"When its secret was replaced."`
	Deliveries map[string]int64 `json:"deliveries,omitempty" doc:"Of one webhook: the number of deliveries by state."`
	Secret     string           `json:"secret,omitempty" doc:"Only in the answer that created or replaced it: verify webhooks with it."`
}

// Subscriptions are subscriptions, oldest first.
type Subscriptions struct {
	Items []Subscription `json:"items" nullable:"false"`
}

// Delivery is an event on its way to a webhook.
type Delivery struct {
	EventID  string     `json:"event_id"`
	Position int64      `json:"position" doc:"Of the event in the log."`
	State    string     `json:"state" enum:"pending,delivered,dead,dropped" doc:"dead: given up after 24 hours. dropped: not sent, because the subscriber may not read it any more, or because the subscription has ended."`
	Attempts int        `json:"attempts"`
	Status   int        `json:"status,omitempty" doc:"Of the newest answer."`
	Error    string     `json:"error,omitempty" doc:"Why the newest attempt failed."`
	Since    *time.Time `json:"since,omitempty" doc:"When the delivery began, or was replayed."`
	NextAt   *time.Time `json:"next_at,omitempty" doc:"The next attempt, while it is pending."`
}

// WebhookTest is the result of a ping.
type WebhookTest struct {
	Delivered bool   `json:"delivered" doc:"The receiver answered with a status from 200 to 299."`
	Status    int    `json:"status,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Replay tells how many deliveries will be made again.
type Replay struct {
	Replayed int64 `json:"replayed"`
}
