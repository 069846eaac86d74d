// Package servertest puts together what tests serve, and asks it from the outside. A test makes a [World], and says
// what it asks and what it wants: w.Ask("GET", "/healthz", nil).Want(http.StatusOK).
package servertest
