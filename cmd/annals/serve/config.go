package serve

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/http/api"
)

// Config are the settings of a server. A flag wins over its variable, and the variable over the configuration file. An
// empty variable means the default.
type Config struct {
	Storage

	// Listen must be an address of this machine while there are no keys.
	Listen string `group:"where" env:"ANNALS_LISTEN" placeholder:"HOST:PORT"`

	// MetricsListen is where metrics are served without a key, with all names.
	MetricsListen string `group:"where" env:"ANNALS_METRICS_LISTEN" placeholder:"HOST:PORT"`

	// PublicURL is what addresses of the server begin with, such as those of a proxy; empty for the address of a request.
	PublicURL string `group:"where" name:"public-url" env:"ANNALS_PUBLIC_URL" placeholder:"URL"`

	consoling // part: console
	hosting   // part: mcp

	// RootKey is valid for everything in every tenant. Only ANNALS_ROOT_KEY sets it, since other users can see flags.
	RootKey string `kong:"-"`

	// Shown are the settings that admins see, and Why is the reason for the embedder.
	Shown api.Settings `kong:"-"`
	Why   string       `kong:"-"`

	warned *warnings // nil for none

	telemetering // part: telemetry

	NoMigrate bool `group:"where" env:"ANNALS_NO_MIGRATE"`

	Embedder
	extracting      // part: extraction
	forwarding      // part: nats
	replicating     // part: standby
	receiptSettings // part: receipts
	tokens          // part: oidc
	encryption

	// FetchPrivate allows addresses of private networks and of this machine.
	FetchPrivate bool `group:"limits" env:"ANNALS_FETCH_PRIVATE"`

	vikingSettings // part: viking
	backingUp      // part: backup

	// LogName becomes part of a new signing key.
	LogName string `group:"where" env:"ANNALS_LOG_NAME" default:"annals" placeholder:"NAME"`

	Scrub string `group:"limits" env:"ANNALS_SCRUB" enum:"on,off" default:"on"`

	Review string `group:"limits" env:"ANNALS_REVIEW" enum:"on,off" default:"on"`

	Erased string `group:"where" env:"ANNALS_ERASED" placeholder:"FILE" complete:"file"`

	PurgeAfter time.Duration `group:"limits" name:"purge-after" env:"ANNALS_PURGE_AFTER" default:"24h"`

	Rate float64 `group:"limits" env:"ANNALS_RATE" default:"0" placeholder:"N"`

	limiting // part: quotas

	SketchMemory int64 `group:"limits" env:"ANNALS_SKETCH_MEMORY" default:"512" least:"1" placeholder:"MB"`

	PreStopDelay time.Duration `group:"limits" env:"ANNALS_PRE_STOP_DELAY" default:"0s"`

	ShutdownTimeout time.Duration `group:"limits" env:"ANNALS_SHUTDOWN_TIMEOUT" default:"30s"`

	Logging
}

// Storage are the settings of the database and the data directory.
type Storage struct {
	Database string `group:"where" env:"DATABASE_URL" placeholder:"URL"`

	Data string `group:"where" env:"ANNALS_DATA" placeholder:"DIR" complete:"file"`
}

// Opened fills in the defaults, and prints the default data directory.
func (s Storage) Opened(c *terminal.Console) Storage {
	placed := s.placed()
	if s.Data == "" && s.Database == "" && !c.JSON {
		c.Note("data directory: %s", placed.Data)
	}
	return placed
}

// placed fills in the defaults.
func (s Storage) placed() Storage {
	s.Data = cmp.Or(s.Data, defaultData())
	s.Database = cmp.Or(s.Database, "sqlite:"+filepath.Join(s.Data, "annals.db"))
	return s
}

// defaultData is the default data directory (XDG base directory specification).
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

// shortestRootKey is the smallest number of characters of a root key.
const shortestRootKey = 32

// validate names all problems at once.
func (c Config) validate() error {
	var problems []error
	if _, port, err := net.SplitHostPort(c.Listen); err != nil {
		problems = append(problems, errors.New("listen (ANNALS_LISTEN) must be HOST:PORT, as in 127.0.0.1:1933"))
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		problems = append(problems, errors.New("the port of listen (ANNALS_LISTEN) must be a number from 0 to 65535"))
	}
	public, err := url.Parse(c.PublicURL)
	if c.PublicURL != "" && (err != nil || public.Scheme != "https" && public.Scheme != "http" || public.Host == "") {
		problems = append(problems, errors.New("public-url (ANNALS_PUBLIC_URL) must begin with https:// and a host"))
	}
	if !(c.Rate >= 0) {
		problems = append(problems, errors.New("rate (ANNALS_RATE) must not be negative"))
	}
	for name, value := range map[string]time.Duration{
		"pre-stop-delay (ANNALS_PRE_STOP_DELAY)":     c.PreStopDelay,
		"shutdown-timeout (ANNALS_SHUTDOWN_TIMEOUT)": c.ShutdownTimeout,
		"purge-after (ANNALS_PURGE_AFTER)":           c.PurgeAfter,
	} {
		if value < 0 {
			problems = append(problems, fmt.Errorf("%s must not be negative", name))
		}
	}
	if c.RootKey != "" && len(c.RootKey) < shortestRootKey {
		problems = append(problems, fmt.Errorf("ANNALS_ROOT_KEY must have at least %d characters, "+
			"as openssl rand -hex 32 makes them", shortestRootKey))
	}
	if err := signing.CheckName(c.LogName); err != nil {
		problems = append(problems, fmt.Errorf("log-name (ANNALS_LOG_NAME): %w", err))
	}
	if err := checkData(c.Data); err != nil {
		return err
	}
	for _, p := range parts() {
		if p.check != nil {
			problems = append(problems, p.check(c))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return terminal.Wrong("annals serve --help lists what can be set", "%s", err)
	}
	return nil
}

// Complete fills in the defaults.
func (c Config) Complete() Config {
	c.Storage = c.placed()
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:1933")
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	c.RootKey = os.Getenv("ANNALS_ROOT_KEY")
	return c
}

// Logging are the settings of the server's log, which goes to standard error and never contains texts of users.
type Logging struct {
	LogFormat string `group:"limits" env:"ANNALS_LOG_FORMAT" enum:"text,json," default:"" placeholder:"WORD"`

	LogLevel string `group:"limits" env:"ANNALS_LOG_LEVEL" enum:"debug,info,warn,error," default:"" placeholder:"WORD"`
}

func (l Logging) Logger(c *terminal.Console) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cmp.Or(l.LogLevel, "info"))) // kong has checked the value
	options := &slog.HandlerOptions{Level: level}
	if l.LogFormat == "json" || l.LogFormat == "" && !c.Watched {
		return slog.New(slog.NewJSONHandler(c.Err, options))
	}
	return slog.New(slog.NewTextHandler(c.Err, options))
}
