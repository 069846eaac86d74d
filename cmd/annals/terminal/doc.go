// Package terminal is what all commands share: the console, tables, flags, the way to a server, errors and exit codes.
//
// Its one rule: it knows no command.
package terminal
