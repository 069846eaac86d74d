// Package follow lets projections follow the log.
//
// Its one rule: inside the database every event has its effect on a projection exactly once, because each page moves
// the projection's checkpoint from where the page begins, in the transaction that writes what the page means.
//
// A projection is a handler of a Watermill router: [AddHandler], [AddPreparer] and [AddWholePages] give it a
// [Subscriber]. Of all processes that share the database, one works on a projection at a time, under a lease. A stream
// that a projection cannot take in is put into quarantine, and everything else goes on.
package follow
