// Package forward forwards the log to message brokers.
//
// Its one rule: events are delivered at least once, in the order of each tenant's log. The id of a message is the
// event's id, so that a receiver detects duplicates.
package forward
