// Package events remembers what happened: it keeps each tenant's log.
//
// Its one rule: what was answered as recorded can be read, at a position that never changes. Positions of a
// tenant are 1, 2, 3 … in commit order, because they are given out under a lock that is held until COMMIT: a
// reader who has seen position n has seen everything before it, and a hole is corruption.
//
// A command comes in through [Log.Submit] and waits in its tenant's queue. One committer takes what is
// waiting, decides it in order in memory and writes it in one transaction; see [Log] for what that promises.
// Everything else reads: [Log.Read] and [Log.All] for the log, and [Log.Stream] for one thing. Package follow
// lets projections follow the log.
//
// A fact is written down as two JSON objects: data, the plain fields, lies in the event for ever; text, what
// people wrote, lies beside it and can be destroyed. Package codec turns facts into these and back; [Record]
// says what is hashed, byte by byte.
//
// Other packages may read these tables: accesses, checkpoints, destroyed_texts, erasures, event_texts, events,
// files, quarantine, requests, streams. All others are read and written here alone.
package events
