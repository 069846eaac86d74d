// Package browse answers questions about items that are not searched for: single items, lists, trees, lineage,
// reports, and which streams a query for events is about.
//
// Its one rule: the work is bounded by the page, not by what the tenant has.
package browse
