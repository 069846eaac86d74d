// Package client lets Go programs use an Annals server: remember, search, vote, read histories, and ask what an agent
// should know. By default every call ends within five seconds, and safe requests are repeated when a server is busy
// or restarts.
//
// [Client] returns errors. [Agent] and [Conversation] are for programs that must work without a memory, too: without
// a server they return nothing.
//
// Its one rule: it needs only the standard library, the types of package api and the HTTP API of a server.
package client
