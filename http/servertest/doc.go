// Package servertest puts together what tests serve, and asks it from the outside.
package servertest
