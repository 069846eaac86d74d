// Package database opens the one database that Annals lives in: a PostgreSQL server
// (postgres://…) or a SQLite file (sqlite:PATH).
//
// Its one rule: reads go to the pool, every write goes through [DB.Transact].
package database
