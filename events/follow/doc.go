// Package follow lets projections follow the log.
//
// Its one rule: inside the database, every event affects a projection exactly once. The transaction that writes a
// page's changes also moves the projection's checkpoint over the page.
//
// A projection is a handler of a Watermill router: [AddPreparer] and [AddWholePages] give it a [Subscriber]. Of all
// processes that share the database, one works on a projection at a time, under a lease. A stream that a projection
// cannot process is put into quarantine, and the other streams continue.
package follow
