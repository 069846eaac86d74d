// Package receipts keeps what callers were given: a receipt for each answer.
//
// Its one rule: a receipt says which items an answer had, in which version, and never what they say. The texts are in
// the log, and are destroyed there.
//
// [Receipts.Give] numbers an answer and puts it into a queue. In the background, [Receipts.Run] writes the queue in
// pages (write.go). It merges the pages of a past minute into one, and records an event that seals them (seal.go).
// [Receipts.Find] and [Receipts.List] read receipts. [Receipts.Replay] shows an answer again, and [Receipts.Verify]
// compares receipts with their seals and with the log.
//
// A run is one process that gives receipts. Its number and a sequence number are the id of a receipt: r3-1042. Of each
// tenant, a run counts from 1 without a gap, so a missing number is a receipt that was lost.
package receipts
