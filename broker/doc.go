// Package broker forwards the log to message brokers.
//
// Its one rule: at least once, in the order of each tenant's log, and the event's id is the message's,
// so that the receiver recognises what came twice.
package broker
