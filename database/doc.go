// Package database opens the one database of Annals: a PostgreSQL server (postgres://…) or a SQLite file
// (sqlite:PATH).
//
// Its one rule: reads use the pool, every write uses [DB.Transact].
package database
