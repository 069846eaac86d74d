package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/annals-kb/annals/database"
)

// welcome is what serve says when it is ready: five lines to know, three commands to try.
type welcome struct {
	URL      string `json:"url"`
	Database string `json:"database"`
	Access   string `json:"access"`
	Embedder string `json:"embedder"`
	Why      string `json:"embedder_reason"` // it is this one, and how to have another
	Data     string `json:"data"`

	New  bool `json:"new"` // nothing was in the database before
	Open bool `json:"-"`   // nobody needs a key
}

const openAccess = "open mode: every program on this machine may do everything, nobody beyond it may do anything"

func (w welcome) print(c *console) error {
	if c.json {
		return c.document(w)
	}
	c.say("%s    %s", bold.Render("annals"), bold.Render(w.URL))
	made := ""
	if w.New {
		made = ", new"
	}
	c.say("database  %s%s", w.Database, made)
	c.say("access    %s", w.Access)
	c.say("embedder  %s: %s", w.Embedder, w.Why)
	c.say("data      %s", w.Data)
	program, server := called(os.Args[0]), ""
	if w.URL != defaultServer {
		server = " --server " + w.URL
	}
	c.say("")
	if w.Open {
		c.say("Try in another shell:")
	} else {
		c.say("Try in another shell, with your key; root or an admin gives you one with %s key create user:YOU:", program)
		program = "ANNALS_KEY=… " + program
	}
	c.say(`  %s remember "Retry 429s with jitter" --id retry-429 --task "calling rate-limited APIs"%s`, program, server)
	c.say(`  %s search "how do I call a rate-limited API?"%s`, program, server)
	c.say("  %s history retry-429%s", program, server)
	return nil
}

// called is how the program can be called again from here.
func called(name string) string {
	if !strings.ContainsRune(name, os.PathSeparator) {
		return "annals"
	}
	return name
}

// sqliteFile is the path of a SQLite database, if that is what the address names.
func sqliteFile(address string) (path string, isFile bool) {
	path, isFile = strings.CutPrefix(address, "sqlite:")
	return strings.TrimPrefix(path, "//"), isFile
}

// absolute is where a path lies whatever the directory one reads it in.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// databaseName describes a database without its password.
func databaseName(address string) string {
	if path, isFile := sqliteFile(address); isFile {
		return "SQLite in " + absolute(path)
	}
	servers := database.Where(address)
	if servers == "" {
		return "PostgreSQL"
	}
	return "PostgreSQL at " + servers
}
