// Package sessions answers questions about what the streams of sessions, tasks and keys have come to. It has no
// tables of its own but the one of when keys were used.
package sessions
