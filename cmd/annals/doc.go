// Command annals is the memory that people and agents share: the server, and the commands that use it.
//
// Its one rule: it wires and prints, and decides nothing. Package domain makes the decisions, and the server writes
// the answers.
package main
