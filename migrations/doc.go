// Package migrations contains the schema of the log and of the catalogue: numbered files with the same numbers on
// both engines. A file is applied once, in one transaction, and is never edited after a release. The tables of
// projections are not here: they can be deleted and rebuilt, so their own package creates them.
package migrations
