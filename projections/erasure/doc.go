// Package erasure carries out orders of erasure, and purges the files of the database.
//
// Its one rule: the log has the orders and what was done, so that any server can continue where another stopped.
//
// An erasure has four steps:
//
//  1. domain/erase_item.go decides whether an item may be erased.
//  2. events/destroy_texts.go destroys its texts in the log, in the transaction of that decision.
//  3. projections/knowledge/destroy_rows.go destroys, in the same transaction, what every projection computed of them.
//  4. files.go rewrites the files of the database, which may still hold the bytes.
//
// An order to erase much, such as everything of a user, is carried out item by item: carry_out_order.go.
package erasure
