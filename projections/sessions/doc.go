// Package sessions answers questions about the state of sessions, tasks and keys, which it reads from their streams.
// Its only table says when keys were used last.
package sessions
