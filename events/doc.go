// Package events keeps each tenant's log.
//
// Its one rule: an acknowledged event can be read, at a position that never changes. Positions of a tenant are 1, 2,
// 3 … in commit order, since the tenant's lock is held from their assignment until COMMIT. A reader that has seen
// position n has seen everything before it; a gap means corruption.
//
// [Log.Submit] puts a command into its tenant's queue. One committer takes the waiting commands, decides them in
// order in memory, and writes them in one transaction; see [Log] for what that promises. Readers use [Reader.Read] and
// [Log.All] for the log, and [Reader.Stream] for one stream. Package follow lets projections follow the log.
//
// A fact is recorded as two JSON objects. data holds the plain fields, in the event, for ever; text holds what people
// wrote, beside the event, and can be erased. Package codec encodes facts; [Record] documents what is hashed, byte by
// byte.
//
// Other packages may read these tables: checkpoints, destroyed_texts, event_texts, events, files, leases,
// quarantine, requests, streams. Only this package accesses all others.
package events
