package serve

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
)

// Welcome is what serve says when it is ready: five lines to know, three commands to try.
type Welcome struct {
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

func (w Welcome) print(c *terminal.Console) error {
	if c.JSON {
		return c.Document(w)
	}
	c.Say("%s    %s", terminal.Bold.Render("annals"), terminal.Bold.Render(w.URL))
	made := ""
	if w.New {
		made = ", new"
	}
	c.Say("database  %s%s", w.Database, made)
	c.Say("access    %s", w.Access)
	c.Say("embedder  %s: %s", w.Embedder, w.Why)
	c.Say("data      %s", w.Data)
	program, server := called(os.Args[0]), ""
	if w.URL != terminal.DefaultServer {
		server = " --server " + w.URL
	}
	c.Say("")
	if w.Open {
		c.Say("Try in another shell:")
	} else {
		c.Say("Try in another shell, with your key; root or an admin gives you one with %s key create user:YOU:", program)
		program = "ANNALS_KEY=… " + program
	}
	c.Say(`  %s remember "Retry 429s with jitter" --id retry-429 --task "calling rate-limited APIs"%s`, program, server)
	c.Say(`  %s search "how do I call a rate-limited API?"%s`, program, server)
	c.Say("  %s history retry-429%s", program, server)
	return nil
}

// called is how the program can be called again from here.
func called(name string) string {
	if !strings.ContainsRune(name, os.PathSeparator) {
		return "annals"
	}
	return name
}

// SqliteFile is the path of a SQLite database, if that is what the address names.
func SqliteFile(address string) (path string, isFile bool) {
	path, isFile = strings.CutPrefix(address, "sqlite:")
	return strings.TrimPrefix(path, "//"), isFile
}

// Absolute is where a path lies whatever the directory one reads it in.
func Absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// DatabaseName describes a database without its password.
func DatabaseName(address string) string {
	if path, isFile := SqliteFile(address); isFile {
		return "SQLite in " + Absolute(path)
	}
	servers := database.Where(address)
	if servers == "" {
		return "PostgreSQL"
	}
	return "PostgreSQL at " + servers
}
