package database

import "github.com/uptrace/bun"

// AddQueryHook lets a hook hear every statement that is sent from now on, in transactions too. It is for before
// anybody uses the database.
func (db *DB) AddQueryHook(hook bun.QueryHook) {
	db.DB = db.WithQueryHook(hook)
	db.writers = db.writers.WithQueryHook(hook)
}
