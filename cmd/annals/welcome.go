package main

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// welcome is what serve says when it is ready: five lines to know, three commands to try.
type welcome struct {
	URL      string `json:"url"`
	Database string `json:"database"`
	Access   string `json:"access"`
	Embedder string `json:"embedder"`
	Data     string `json:"data"`
}

const openAccess = "open mode: every program on this machine may do everything, nobody beyond it may do anything"

func (w welcome) print(c *console, hint string) error {
	if c.json {
		return c.document(w)
	}
	c.say("%s  %s", bold.Render("annals"), bold.Render(w.URL))
	c.say("database  %s", w.Database)
	c.say("access    %s", w.Access)
	c.say("embedder  %s; %s", w.Embedder, hint)
	c.say("data      %s", w.Data)
	program, server := called(os.Args[0]), ""
	if w.URL != defaultServer {
		server = " --server " + w.URL
	}
	c.say("")
	c.say("Try in another shell:")
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

// databaseName describes a database without its password.
func databaseName(address string) string {
	scheme, rest, _ := strings.Cut(address, ":")
	if scheme == "sqlite" {
		return "SQLite in " + rest
	}
	u, err := url.Parse(address)
	if err != nil {
		return "PostgreSQL"
	}
	return fmt.Sprintf("PostgreSQL at %s%s", cmp.Or(u.Host, "the local socket"), u.Path)
}
