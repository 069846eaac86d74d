// Command annals is the memory that people and agents share: the server, and the commands that
// talk to it.
//
// Its one rule: it wires and prints, and decides nothing. What may happen is in package domain,
// what an answer says comes from the server.
package main
