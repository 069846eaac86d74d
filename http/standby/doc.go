// Package standby sends the writes of a server that reads a standby to the server of the primary, and what its reads
// record. Its one rule: a request is answered by one server, which is either this one or the primary's.
package standby
