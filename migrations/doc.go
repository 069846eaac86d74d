// Package migrations holds the schema of the log and of the catalogue: one numbered file per
// step and engine, the same numbers on both. A file is applied once, in one transaction, and is
// never edited after a release. The tables of projections are not here: they can be thrown away,
// so their own package creates them.
package migrations
