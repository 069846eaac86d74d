package bench

import (
	"errors"
	"flag"
	"fmt"

	"github.com/annals-kb/annals/database"
)

// Asked is what every measuring program is asked for: on which engines to measure, and where to write what it found.
type Asked struct {
	Engines []database.Engine

	engine string
	json   string
}

// Flags declares --engine and --json.
func (a *Asked) Flags() {
	flag.StringVar(&a.engine, "engine", "both", "sqlite, postgres or both")
	flag.StringVar(&a.json, "json", "", "write the report to this file, too")
}

// Parse reads the command line. What sensible refuses, and a word that is no flag, is answered with how to use the program and with
// what there must be.
func (a *Asked) Parse(sensible func() bool, must string) (err error) {
	flag.Parse()
	if flag.NArg() > 0 || !sensible() {
		flag.Usage()
		return errors.New(must)
	}
	a.Engines, err = engines(a.engine)
	return err
}

// Each measures on one engine after the other.
func (a *Asked) Each(measure func(engine database.Engine) error) error {
	for _, engine := range a.Engines {
		if err := measure(engine); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	return nil
}

// Write writes the report to the file, if there is to be one.
func (a *Asked) Write(report any) error { return WriteJSON(a.json, report) }

func engines(name string) ([]database.Engine, error) {
	switch name {
	case "both":
		return []database.Engine{database.SQLite, database.Postgres}, nil
	case string(database.SQLite), string(database.Postgres):
		return []database.Engine{database.Engine(name)}, nil
	}
	return nil, fmt.Errorf("the engine %q is not known: use sqlite, postgres or both", name)
}
