package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os/exec"
	"time"
)

// verify measures the verification of a log.
type verify struct {
	settings
	Events int `help:"Events in the log." default:"100000"`
}

// Run implements the command.
func (v *verify) Run(ctx context.Context) error {
	return v.run(ctx, "verify", func(ctx context.Context, s *session) error {
		fill := func(server *server) error {
			if err := s.fill(ctx, server, v.Events); err != nil {
				return err
			}
			return server.endProcess()
		}
		return s.withServers(ctx, nil, fill, func(servers []*server) error {
			return inTurn(s.Rounds, servers, func(server *server) error {
				began := time.Now()
				command := exec.CommandContext(ctx, server.program.path, "verify", "--database", server.database,
					"--data", server.data)
				command.Env = []string{"HOME=" + server.data}
				if output, err := command.CombinedOutput(); err != nil {
					return fmt.Errorf("verify: %w: %s", err, output)
				}
				s.add(server.program.name, "verify", "s", time.Since(began).Seconds())
				return nil
			}, func() error {
				began := time.Now()
				err := readAndHash(ctx, servers[0].database)
				s.add("read and hash", "verify", "s", time.Since(began).Seconds())
				return err
			})
		})
	})
}

// readAndHash reads the log, hashes every event, and computes each text's commitment.
func readAndHash(ctx context.Context, address string) error {
	return withPool(address, func(pool *sql.DB) error {
		rows, err := pool.QueryContext(ctx, `
			SELECT e.event_id, e.stream, e.version, e.name, e.schema_version, e.recorded_at, e.actor, e.data, t.salt, t.text
			FROM events AS e
			LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
			ORDER BY e.tenant, e.position`)
		if err != nil {
			return err
		}
		defer rows.Close()
		columns := make([]sql.RawBytes, 10)
		into := make([]any, len(columns))
		for i := range columns {
			into[i] = &columns[i]
		}
		hash := sha256.New()
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			hash.Reset()
			for _, column := range columns[:8] {
				hash.Write(column)
			}
			hash.Sum(nil)
			mac := hmac.New(sha256.New, columns[8])
			mac.Write(columns[9])
			mac.Sum(nil)
		}
		return rows.Err()
	})
}
