// Package review proposes to review items that say the same or contradict each other.
//
// Its one rule: it changes no item. It records proposals, and people decide on them.
//
// It finds similar items by signatures in memory. They follow from the items, so each process makes its own.
package review
