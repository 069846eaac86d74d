package serve

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/cmd/annals/backup"
)

// backingUp are the settings of scheduled backups.
type backingUp struct {
	Backup         string        `group:"where" env:"ANNALS_BACKUP" placeholder:"PLACE"`
	BackupSchedule time.Duration `group:"limits" env:"ANNALS_BACKUP_SCHEDULE" default:"24h" least:"1m"`
	BackupKeep     int           `group:"limits" env:"ANNALS_BACKUP_KEEP" default:"14" least:"1"`
}

// BackupPassphrase is the passphrase for the signing key in a backup. It is no flag, since other users can see flags.
func BackupPassphrase() string { return os.Getenv("ANNALS_BACKUP_PASSPHRASE") }

// backups makes backups on a schedule.
type backups struct {
	backingUp

	place  backup.Place
	source backup.Source
	newest atomic.Int64 // when the newest was made, in seconds since 1970; 0 if unknown
}

func checkBackup(c Config) error {
	if c.BackupKeep < 1 {
		return errors.New("backup-keep (ANNALS_BACKUP_KEEP) must be at least 1")
	}
	return nil
}

// openBackup prepares scheduled backups.
func openBackup(_ context.Context, c *core) (part, error) {
	if c.cfg.Backup == "" {
		return part{}, nil
	}
	place, _, err := backup.At(strings.TrimSuffix(c.cfg.Backup, "/") + "/") // a place, even without a slash at its end
	b := &backups{backingUp: c.cfg.backingUp, place: place, source: backup.Source{
		DB: c.db, Data: c.cfg.Data, Passphrase: BackupPassphrase(), Logger: c.logger,
	}}
	c.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "annals_backup_newest_timestamp_seconds",
		Help: "When the newest scheduled backup was made, in seconds since 1970; 0 if there is none.",
	}, func() float64 { return float64(b.newest.Load()) }))
	return part{run: []func(context.Context){c.every(time.Minute, "make a backup", b.makeIfDue)}}, err
}

// makeIfDue makes a backup if the newest is old, and deletes old ones. Servers of one database share the schedule,
// since the names of the backups tell when they were made.
func (b *backups) makeIfDue(ctx context.Context) error {
	names, err := b.place.Names(ctx)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		newest := backup.MadeAt(names[len(names)-1])
		b.newest.Store(newest.Unix())
		if time.Since(newest) < b.BackupSchedule {
			return nil
		}
	}
	name, began := backup.NewName(), time.Now()
	made, err := b.place.Put(ctx, name, b.source)
	if err != nil {
		return err
	}
	b.newest.Store(made.MadeAt.Unix())
	b.source.Logger.InfoContext(ctx, "made a backup", "backup", b.place.Address(name),
		"events", made.Tables["events"].Rows, "took", time.Since(began).String())
	return b.place.Keep(ctx, b.BackupKeep, name)
}
