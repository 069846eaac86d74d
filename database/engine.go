package database

// Engine is the kind of database that holds the log and its projections.
type Engine string

// The two engines. Every feature works on both.
const (
	Postgres Engine = "postgres"
	SQLite   Engine = "sqlite"
)

func (e Engine) String() string { return string(e) }
