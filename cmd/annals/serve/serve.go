package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
)

type ServeCommand struct {
	Config

	CPUProfile string `placeholder:"FILE"`
}

func (s *ServeCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) (err error) {
	s.Config = s.Complete()
	cfg := s.Config
	cfg.Shown = settingsShown(c, parsed)
	if err := cfg.validate(); err != nil {
		return err
	}
	erased, err := ErasuresIn(cfg.Erased)
	if err != nil {
		return err
	}
	profiled, err := profile(s.CPUProfile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, profiled()) }()
	embedder, why, err := cfg.Choose()
	if err != nil {
		return err
	}
	cfg.Why = why
	previous, err := cfg.previous()
	if err != nil {
		return err
	}
	beyond, err := reachable(ctx, cfg.Listen)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, cfg.Listen)
	if err != nil {
		return err
	}
	defer listener.Close() //nolint:errcheck // for errors before the service owns it
	cfg.warned = new(warnings)
	logger := cfg.warned.beside(cfg.Logger(c))
	if listener, err = cfg.encrypt(listener, logger); err != nil {
		return err
	}
	fresh, unknown := DatabaseIsEmpty(ctx, cfg.Database, logger) // opening the database reports errors
	keyless := cfg.isOpenWithoutKeys()
	switch {
	case beyond && keyless && cfg.invites(): // until the first admin has a key, nobody has one that is valid
		cfg.RootKey = rand.Text() + rand.Text()
	case beyond && keyless && unknown == nil && fresh:
		return openBeyond(cfg.Listen)
	}
	next := func(ctx context.Context) (*Service, error) {
		if err := cfg.prepare(ctx, logger); err != nil {
			return nil, err
		}
		service, err := OpenService(ctx, cfg, embedder, previous, logger)
		if err != nil {
			return nil, err
		}
		if err := service.core.eraseAgain(ctx, erased); err != nil {
			return nil, errors.Join(err, service.Close())
		}
		return service, nil
	}
	service, err := next(ctx)
	if err != nil {
		return err
	}
	access, open, err := service.access(ctx, cfg)
	if err == nil && open && beyond {
		err = openBeyond(cfg.Listen)
	}
	if err != nil {
		return errors.Join(err, service.Close())
	}
	url, pages, first := cfg.scheme()+listener.Addr().String(), "", ""
	public := cmp.Or(cfg.PublicURL, url)
	for _, p := range service.core.parts {
		if p.pages == "" {
			continue
		}
		pages = public + p.pages
		if keyed, _ := service.core.keys.Any(ctx); keyless && !keyed && !service.core.db.Standby() {
			first = p.invite(public)
			if !open {
				access = "none: nobody has a key yet"
			}
		}
	}
	err = errors.Join(service.core.db.Announce(url), Welcome{
		URL: url, Console: pages, Database: DatabaseName(cfg.Database), Access: access,
		Embedder: embedder.Name(), Why: why, Data: Absolute(cfg.Data), Open: open, New: unknown == nil && fresh,
		First: first, Standby: service.core.db.Standby(),
	}.print(c))
	for _, other := range cfg.OtherDatabases(ctx, c, "") {
		c.Warn("%s has events, too: annals import %s takes its items over", other, other)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("serve: %w", err), service.Close())
	}
	logger.InfoContext(ctx, "serving", "url", url, "version", terminal.Version().Version, "role", service.core.db.Role())
	if err := service.serveInRoles(ctx, listener, cfg.MetricsListen, next); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	logger.InfoContext(context.WithoutCancel(ctx), "stopped")
	return nil
}

// openBeyond refuses no-auth mode on an address that other machines can reach.
func openBeyond(address string) error {
	return terminal.Wrong("create a key first: annals key create user:YOU --role root --offline; or listen on 127.0.0.1",
		"in no-auth mode annals serves this machine alone, and %s is reachable from others", address)
}

const openAccess = "no-auth mode: every program on this machine has all rights, other machines have no access"

// access describes who has access, and tells whether the server is in no-auth mode.
func (s *Service) access(ctx context.Context, cfg Config) (says string, open bool, err error) {
	keyed, err := s.core.keys.Any(ctx)
	issuer := cfg.issuer()
	switch {
	case issuer != "":
		return "every caller needs a key, or a token of " + issuer + "; annals key list shows the keys", false, err
	case keyed || cfg.RootKey != "":
		return "every caller needs a key; annals key list shows the keys", false, err
	}
	return openAccess, true, err
}

// Welcome is the output of serve when it is ready: its fields, and three commands to try.
type Welcome struct {
	URL      string `json:"url"`
	Console  string `json:"console,omitempty"` // empty if it is off
	Database string `json:"database"`
	Access   string `json:"access"`
	Embedder string `json:"embedder"`
	Why      string `json:"embedder_reason"` // why this one, and how to use another
	Data     string `json:"data"`
	First    string `json:"first_admin,omitempty"` // the link that makes the first key; empty if there is a key

	Standby bool `json:"standby,omitempty"` // the server is read-only

	New  bool `json:"new"` // the database was empty
	Open bool `json:"-"`   // in no-auth mode
}

func (w Welcome) print(c *terminal.Console) error {
	if c.JSON {
		return c.Document(w)
	}
	made := ""
	switch {
	case w.New:
		made = ", new"
	case w.Standby:
		made = ", a standby: this server is read-only"
	}
	fields := terminal.NewTable("", "")
	fields.Row(terminal.Bold.Render("annals"), terminal.Bold.Render(w.URL))
	if w.Console != "" {
		fields.Row("console", w.Console)
	}
	fields.Row("database", w.Database+made)
	fields.Row("access", w.Access)
	fields.Row("embedder", w.Embedder+": "+w.Why)
	fields.Row("data", w.Data)
	c.Table(fields)
	if w.First != "" {
		c.Say("\nThe first admin's key, after which every caller needs one, is made here:\n  %s", w.First)
	}
	program, server := called(os.Args[0]), ""
	if w.URL != terminal.DefaultServer {
		server = " --server " + w.URL
	}
	c.Say("")
	if w.Open {
		c.Say("Try in another shell:")
	} else {
		c.Say("Try in another shell, with your key; root or an admin issues one with %s key create user:YOU:", program)
		program = "ANNALS_KEY=… " + program
	}
	c.Say(`  %s remember "Retry 429s with jitter" --id retry-429 --task "calling rate-limited APIs"%s`, program, server)
	c.Say(`  %s search "how do I call a rate-limited API?"%s`, program, server)
	c.Say("  %s history retry-429%s", program, server)
	return nil
}

// called is the command with which a shell here can run the program.
func called(name string) string {
	if !strings.ContainsRune(name, os.PathSeparator) {
		return "annals"
	}
	return name
}

// SqliteFile is the path of a SQLite database, if the address names one.
func SqliteFile(address string) (path string, isFile bool) {
	path, isFile = strings.CutPrefix(address, "sqlite:")
	return strings.TrimPrefix(path, "//"), isFile
}

// Absolute is the absolute form of a path.
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

// profile writes a CPU profile to a file until end is called. Without a file it does nothing.
func profile(name string) (end func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, terminal.Wrong("name another with --cpu-profile FILE", "the profile cannot be written: %s", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("begin the profile: %w", err), file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
