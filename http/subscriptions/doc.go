// Package subscriptions registers the operations on subscriptions, their events and the deliveries of webhooks.
package subscriptions
