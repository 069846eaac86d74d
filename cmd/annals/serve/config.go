package serve

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/proof"
)

// Config is everything that a server can be told. The environment says it; a flag wins over the
// environment; what nobody says has a default. An empty variable says nothing.
type Config struct {
	Storage

	// Listen is where the API is served. Until there are keys, that is this machine alone.
	Listen string `group:"where" env:"ANNALS_LISTEN" placeholder:"HOST:PORT"`

	// RootKey opens everything, in every tenant: ANNALS_ROOT_KEY alone sets it, since others can see flags.
	RootKey string `kong:"-"`

	// NoMigrate leaves the schema to whoever runs annals migrate.
	NoMigrate bool `group:"where" env:"ANNALS_NO_MIGRATE"`

	Embedder

	extracting

	forwarding

	recording

	tokens

	encryption

	// LogName is what the log calls itself in what it signs. It matters when the signing key is made.
	LogName string `group:"where" env:"ANNALS_LOG_NAME" default:"annals" placeholder:"NAME"`

	// Scrub keeps secrets and personal data out of what is remembered.
	Scrub string `group:"limits" env:"ANNALS_SCRUB" enum:"on,off" default:"on"`

	resources

	// Erased brings erasures to a backup that was restored, before anybody reads it.
	Erased string `group:"where" env:"ANNALS_ERASED" placeholder:"FILE" complete:"file"`

	// SweepAfter rewrites the files by itself.
	SweepAfter time.Duration `group:"limits" name:"sweep" env:"ANNALS_SWEEP" default:"24h"`

	// Rate keeps one key from crowding out the others.
	Rate float64 `group:"limits" env:"ANNALS_RATE" default:"0" placeholder:"N"`

	// Notice lets load balancers learn of a shutdown before connections are refused.
	Notice time.Duration `group:"limits" env:"ANNALS_NOTICE" default:"0s"`

	// Drain bounds how long a shutdown may take.
	Drain time.Duration `group:"limits" env:"ANNALS_DRAIN" default:"30s"`

	Logging
}

// Storage says where everything lies.
type Storage struct {
	// Database is the one database; Annals keeps everything else that it knows in it.
	Database string `group:"where" env:"DATABASE_URL" placeholder:"URL"`

	// Data is the directory for what is not in the database.
	Data string `group:"where" env:"ANNALS_DATA" placeholder:"DIR" complete:"file"`
}

// Opened fills in the default places, and prints the default data directory, which the command is about to open.
func (s Storage) Opened(c *terminal.Console) Storage {
	placed := s.placed()
	if s.Data == "" && s.Database == "" && !c.JSON {
		c.Note("data directory: %s", placed.Data)
	}
	return placed
}

// placed fills in the default places.
func (s Storage) placed() Storage {
	s.Data = cmp.Or(s.Data, defaultData())
	s.Database = cmp.Or(s.Database, "sqlite:"+filepath.Join(s.Data, "annals.db"))
	return s
}

// defaultData is the data directory of every command, following the XDG base directory specification.
func defaultData() string {
	if base := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "annals")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "data"
	}
	return filepath.Join(home, ".local", "share", "annals")
}

// shortestRootKey is how many characters keep a root key from being guessed.
const shortestRootKey = 32

// validate names everything that is wrong at once.
func (c Config) validate() error {
	var problems []error
	if _, port, err := net.SplitHostPort(c.Listen); err != nil {
		problems = append(problems, errors.New("listen (ANNALS_LISTEN) must be HOST:PORT, as in 127.0.0.1:1933"))
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		problems = append(problems, errors.New("the port of listen (ANNALS_LISTEN) must be a number from 0 to 65535"))
	}
	if !(c.Rate >= 0) {
		problems = append(problems, errors.New("rate (ANNALS_RATE) must not be negative"))
	}
	for name, value := range map[string]time.Duration{"notice (ANNALS_NOTICE)": c.Notice, "drain (ANNALS_DRAIN)": c.Drain, "keep-accesses (ANNALS_KEEP_ACCESSES)": c.KeepAccesses, "sweep (ANNALS_SWEEP)": c.SweepAfter} {
		if value < 0 {
			problems = append(problems, fmt.Errorf("%s must not be negative", name))
		}
	}
	if c.RootKey != "" && len(c.RootKey) < shortestRootKey {
		problems = append(problems, fmt.Errorf("ANNALS_ROOT_KEY must have at least %d characters, as openssl rand -hex 32 makes them", shortestRootKey))
	}
	if err := proof.CheckName(c.LogName); err != nil {
		problems = append(problems, fmt.Errorf("log-name (ANNALS_LOG_NAME): %w", err))
	}
	if err := fitForData(c.Data); err != nil {
		return err
	}
	if _, err := c.issuer(); err != nil {
		problems = append(problems, err)
	}
	if _, err := c.extractor(); err != nil {
		problems = append(problems, err)
	}
	if _, err := c.forwards(); err != nil {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return terminal.Wrong("annals serve --help lists what can be set", "%s", err)
	}
	return nil
}

// Complete fills in what nobody said.
func (c Config) Complete() Config {
	c.Storage = c.placed()
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:1933")
	c.RootKey = os.Getenv("ANNALS_ROOT_KEY")
	return c
}
