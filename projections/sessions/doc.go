// Package sessions answers questions about the state of sessions and tasks, which it reads from their streams.
package sessions
