package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/annals-kb/annals/database"
)

// measureImport imports records with the program's own command, and waits until they can be found by meaning, too.
func measureImport(ctx context.Context, p program, engine database.Engine, o options, report *report) (err error) {
	var lines bytes.Buffer
	author := newAuthor(3)
	for range o.records {
		lines.Write(author.write().body())
		lines.WriteByte('\n')
	}
	s, stop, err := p.serve(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	command := exec.CommandContext(ctx, p.path, "import", "-", "--json", "--server", "http://"+s.address)
	command.Env, command.Stdin, command.Stderr = plainEnvironment(), &lines, os.Stderr
	began := time.Now()
	said, err := command.Output()
	took := time.Since(began)
	if err != nil {
		return fmt.Errorf("import: %w: %s", err, said)
	}
	var summary struct {
		Created int `json:"created"`
	}
	if err := json.Unmarshal(said, &summary); err != nil {
		return fmt.Errorf("read what import said: %w", err)
	}
	if summary.Created != o.records {
		return fmt.Errorf("import: %d of %d records were created", summary.Created, o.records)
	}
	rest, err := s.rest(ctx)
	if err != nil {
		return err
	}
	report.addImport(engine, o.records, took, took+rest)
	return nil
}
