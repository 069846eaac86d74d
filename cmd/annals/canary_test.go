package main

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/database"
)

// files looks for a word in the bytes of the database's files: of SQLite's all, of PostgreSQL's those of
// tables, their indexes and what is too long for them. With ! there must be none.
func files(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) != 1, "[!] files WORD")
	word := []byte(args[0])
	var found []string
	ts.Check(filepath.WalkDir(databaseFiles(ts), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // a file that has gone holds nothing
		}
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, word) {
			found = append(found, path)
		}
		return nil
	}))
	if neg && len(found) > 0 {
		ts.Fatalf("%s is in %s", args[0], strings.Join(tablesOf(ts, found), ", "))
	}
	if !neg && len(found) == 0 {
		ts.Fatalf("%s is in no file", args[0])
	}
}

// databaseFiles is the directory that they lie in.
func databaseFiles(ts *testscript.TestScript) string {
	url := ts.Getenv("DATABASE_URL")
	if path, isFile := serve.SqliteFile(url); isFile {
		return filepath.Dir(path)
	}
	db, err := database.Open(context.Background(), url, slog.New(slog.DiscardHandler))
	ts.Check(err)
	defer db.Close() //nolint:errcheck // nothing was written
	var data, number string
	ts.Check(db.NewRaw("SELECT current_setting('data_directory'), (SELECT oid::text FROM pg_database WHERE datname = "+
		"current_database())").
		Scan(context.Background(), &data, &number))
	_, err = db.ExecContext(context.Background(), "?", bun.Safe("CHECKPOINT"))
	ts.Check(err)
	return filepath.Join(data, "base", number)
}

// tablesOf names the tables that files belong to, where there are tables.
func tablesOf(ts *testscript.TestScript, files []string) []string {
	url := ts.Getenv("DATABASE_URL")
	if _, isFile := serve.SqliteFile(url); isFile {
		return files
	}
	db, err := database.Open(context.Background(), url, slog.New(slog.DiscardHandler))
	ts.Check(err)
	defer db.Close() //nolint:errcheck // nothing was written
	for i, file := range files {
		var name string
		node := filepath.Base(file)
		if db.NewRaw("SELECT pg_filenode_relation(0, ?::oid)::regclass::text", node).Scan(context.Background(),
			&name) == nil {
			files[i] = name + " (" + node + ")"
		}
	}
	return files
}
