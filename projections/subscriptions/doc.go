// Package subscriptions delivers events to subscribers.
//
// Its one rule: what is delivered is read, and the subscriber's rights are checked, at the moment of the delivery. A
// follower of the log writes a row without texts for each event that a webhook is to receive, exactly once, in the
// transaction that moves its checkpoint. A sender posts the events of these rows, at least once, with the same id.
package subscriptions
