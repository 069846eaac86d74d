// Package past is the background projection of what items were at each position of the log, and answers lists and
// searches as of a position.
//
// Its one rule: who may see an item is a question of today, whatever the position.
package past
