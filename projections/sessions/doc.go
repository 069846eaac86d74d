// Package sessions answers questions about the state of sessions, tasks, keys and members of the directory, which it
// reads from their streams.
// Its only table says when keys were used last.
package sessions
