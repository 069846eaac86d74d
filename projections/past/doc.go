// Package past is the background projection of what items were at each position of the log. It answers lists and
// searches as of a position.
//
// Its one rule: who may see an item depends on today's scopes, whatever the position.
package past
