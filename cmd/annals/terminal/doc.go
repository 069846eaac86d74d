// Package terminal is the common part of all commands: console, tables, flags, connections, errors and exit codes.
//
// Its one rule: it knows no command.
package terminal
