package migrations

import "embed"

// Files are the steps as golang-migrate reads them: postgres/0001_log.up.sql, sqlite/0001_log.up.sql …
//
//go:embed postgres/*.sql sqlite/*.sql
var Files embed.FS
