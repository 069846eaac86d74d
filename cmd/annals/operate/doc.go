// Package operate has the commands for operators: keys, tenants, erasure, rebuilds, quarantine, migrations and the
// doctor.
package operate
