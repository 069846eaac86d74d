// Package client lets Go programs use an Annals server: remember, search, vote, read histories, ask what an agent
// should know. Every call ends within five seconds by default, and what can be sent twice without harm is
// sent again when a server is busy or restarting.
//
// [Client] says what went wrong. [Agent] and [Conversation], for programs that want to work on as if there were no
// memory when there is none, never do: they answer with nothing.
//
// Its one rule: it needs nothing but the standard library, the shapes of package api and the HTTP API of a server.
package client
