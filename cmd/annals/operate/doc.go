// Package operate has the commands that look after a server: keys, tenants, erasure, rebuilds, quarantine, migrations
// and the doctor.
package operate
