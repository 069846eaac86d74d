// Command verify measures the verification of a log beside reading and hashing the same records, in one run.
//
//	scripts/postgres.sh run go run ./scripts/bench/verify --events 1000000
//
// With --keep the logs are only written, to be verified with --reuse, once: it signs with a key that it throws away.
//
// The log is made up and written straight into its tables, with valid hashes and commitments; its tree is grown and
// signed by the prover. The reference reads every record as the program does everywhere, encodes and hashes it, and
// computes the commitment of its text, one record after the other.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/proof"
	"github.com/annals-kb/annals/scripts/bench"
)

const tenant = "default"

// figures are what was measured on one engine.
type figures struct {
	Engine           string        `json:"engine"`
	Events           int           `json:"events"`
	Reference        time.Duration `json:"reference_ns"` // the fastest of the rounds
	Verify           time.Duration `json:"verify_ns"`
	Ratio            float64       `json:"ratio"`
	VerifyEventsASec float64       `json:"verify_events_per_second"`
}

type report struct {
	Machine bench.Machine `json:"machine"`
	Target  float64       `json:"target_ratio"`
	Figures []figures     `json:"figures"`
}

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	var size, rounds int
	var kept bench.Kept
	kept.Flags()
	flag.IntVar(&size, "events", 100_000, "how many events")
	flag.IntVar(&rounds, "rounds", 3, "how often to measure both")
	if err := kept.Parse(func() bool { return size >= 1 && rounds >= 1 }, "there must be an event and a round"); err != nil {
		return err
	}
	r := report{Machine: bench.ThisMachine(), Target: 2}
	err := kept.Each(func(engine database.Engine) error {
		f, err := measure(ctx, engine, kept, size, rounds)
		if err == nil && !kept.Keep {
			r.Figures = append(r.Figures, f)
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Println(r.Machine)
	table := bench.NewTable(os.Stdout, "engine", "events", "read and hash", "verify", "ratio (≤ 2)", "events/s")
	for _, f := range r.Figures {
		table.Row(f.Engine, f.Events, f.Reference.Round(time.Millisecond), f.Verify.Round(time.Millisecond), f.Ratio, int(f.VerifyEventsASec))
	}
	return errors.Join(table.End(), kept.Write(r))
}

func measure(ctx context.Context, engine database.Engine, kept bench.Kept, size, rounds int) (f figures, err error) {
	db, away, err := kept.Open(ctx, engine)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, away()) }()
	if kept.Reuse == "" {
		if err := fill(ctx, db, size); err != nil || kept.Keep {
			return f, err
		}
	}
	log := events.NewLog(db, nil, events.Options{Logger: slog.New(slog.DiscardHandler)})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	key, err := sign(ctx, db, log)
	if err != nil {
		return f, err
	}
	f = figures{Engine: engine.String(), Events: size}
	bar := bench.Watch(engine.String()+": verify", 2*rounds)
	for range rounds {
		began := time.Now()
		if err := readAndHash(ctx, log, size); err != nil {
			return f, err
		}
		f.Reference = fastest(f.Reference, time.Since(began))
		bar.Add(1)
		began = time.Now()
		found, err := proof.Verify(ctx, db, proof.Verification{Keys: []string{key.Public()}})
		if err != nil {
			return f, err
		}
		f.Verify = fastest(f.Verify, time.Since(began))
		bar.Add(1)
		if !found.Verified || found.Events() != int64(size) || found.Tenants[0].Signed != int64(size) {
			return f, fmt.Errorf("not verified: %+v", found.Faults)
		}
	}
	bar.End()
	f.Ratio = f.Verify.Seconds() / f.Reference.Seconds()
	f.VerifyEventsASec = float64(size) / f.Verify.Seconds()
	return f, nil
}

func fastest(before, now time.Duration) time.Duration {
	if before == 0 {
		return now
	}
	return min(before, now)
}

// sign lets the tree grow over the whole log, and signs it.
func sign(ctx context.Context, db *database.DB, log *events.Log) (key proof.Key, err error) {
	directory, err := os.MkdirTemp("", "annals-bench-key-")
	if err != nil {
		return key, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	if key, err = proof.NewKey(directory, "bench"); err != nil {
		return key, err
	}
	prover := proof.NewProver(db, log, key, proof.Options{Logger: slog.New(slog.DiscardHandler)})
	_, id, err := log.Head(ctx, tenant)
	if err != nil {
		return key, err
	}
	entry, err := prover.Entry(ctx, tenant, id)
	if err != nil {
		return key, err
	}
	_, err = prover.Inclusion(ctx, tenant, entry)
	return key, err
}

// readAndHash is the reference.
func readAndHash(ctx context.Context, log *events.Log, size int) error {
	after := int64(0)
	for after < int64(size) {
		records, err := log.Records(ctx, tenant, after, 0)
		if err != nil {
			return err
		}
		for _, r := range records {
			if hash := sha256.Sum256(r.Canonical()); string(hash[:]) != string(r.Hash) {
				return fmt.Errorf("position %d has another hash", r.Position)
			}
			mac := hmac.New(sha256.New, r.Salt)
			mac.Write(r.Text)
			if !hmac.Equal(mac.Sum(nil), r.TextCommitment) {
				return fmt.Errorf("position %d has another text", r.Position)
			}
		}
		after = records[len(records)-1].Position
	}
	return nil
}
