// Package availability tests what remains available while servers are killed, frozen, replaced and promoted: real
// processes of Annals, PostgreSQL and HAProxy on one machine. Run it with make availability.
package availability
