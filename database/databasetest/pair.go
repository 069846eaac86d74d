package databasetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
)

// pairLasts limits the making of a pair, and each operation on it.
const pairLasts = time.Minute

// Pair is a primary of PostgreSQL and a synchronous standby, for one test. Both run the programs of the test server.
type Pair struct {
	// URL names both servers, the first primary first, and requires one that accepts writes.
	URL string
	// First and Second are the URLs of the two servers.
	First, Second string

	t                testing.TB
	bin, home        string
	as               *syscall.SysProcAttr // nil for the user who runs the test
	primary, standby *cluster
}

// cluster is one server.
type cluster struct {
	name, directory string
	port            int
	process         *exec.Cmd
}

// NewPair makes a pair, which ends with the test.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	// the servers' sockets
	home, err := os.MkdirTemp("", "annals-pair-") //nolint:usetesting // paths of t.TempDir are too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	p := &Pair{t: t, home: home}
	p.bin = p.ask(serverURL(t), "SELECT setting FROM pg_config WHERE name = 'BINDIR'")
	p.as = p.owner()
	p.primary = p.cluster("primary")
	p.run(
		"initdb", "-D", p.primary.directory, "-U", "annals", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync",
	)
	p.start(p.primary)
	p.standby = p.cluster("standby")
	p.run(
		"pg_basebackup", "-D", p.standby.directory, "-d", p.primary.url(), "--write-recovery-conf", "--checkpoint=fast",
		"--no-sync",
	)
	p.start(p.standby)
	p.ask(p.primary.url(), "ALTER SYSTEM SET synchronous_standby_names = '*'")
	p.ask(p.primary.url(), "SELECT pg_reload_conf()")
	p.until("the standby is synchronous", func() bool {
		return p.ask(p.primary.url(), "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
	p.First, p.Second = p.primary.url(), p.standby.url()
	p.URL = fmt.Sprintf(
		"postgres://annals@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable&target_session_attrs=read-write",
		p.primary.port, p.standby.port,
	)
	return p
}

// Ask returns the only value of a query of one of the servers.
func (p *Pair) Ask(url, query string) string {
	p.t.Helper()
	return p.ask(url, query)
}

// KillPrimary ends the primary with SIGKILL.
func (p *Pair) KillPrimary() { p.kill(p.primary) }

// Promote turns the standby into the primary.
func (p *Pair) Promote() {
	p.t.Helper()
	if p.ask(p.standby.url(), "SELECT pg_promote(true, 60)") != "true" {
		p.t.Fatal("the standby was not promoted")
	}
}

// Return starts the killed primary again as what it was, which takes writes without a standby.
func (p *Pair) Return() {
	p.t.Helper()
	p.start(p.primary, "-c", "synchronous_standby_names=")
}

// EndSessions ends the sessions of Annals on the second server.
func (p *Pair) EndSessions() {
	p.t.Helper()
	p.ask(p.Second, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'annals'")
}

// owner is the user of the servers, which refuse to run as root.
func (p *Pair) owner() *syscall.SysProcAttr {
	p.t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "annals-postgres"} {
		if found, err := user.Lookup(name); err == nil {
			uid, _ := strconv.Atoi(found.Uid)
			gid, _ := strconv.Atoi(found.Gid)
			if err := os.Chown(p.home, uid, gid); err != nil {
				p.t.Fatal(err)
			}
			return asUser(uint32(uid), uint32(gid))
		}
	}
	p.t.Fatal("PostgreSQL refuses to run as root, and there is no user postgres: run the tests as another user")
	return nil
}

func (p *Pair) cluster(name string) *cluster {
	p.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return &cluster{name: name, directory: filepath.Join(p.home, name), port: listener.Addr().(*net.TCPAddr).Port}
}

func (c *cluster) url() string {
	return fmt.Sprintf("postgres://annals@127.0.0.1:%d/postgres?sslmode=disable&connect_timeout=5", c.port)
}

// command is a call of one of PostgreSQL's programs.
func (p *Pair) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	command.Dir, command.SysProcAttr = p.home, p.as
	return command
}

func (p *Pair) run(name string, args ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), pairLasts)
	defer cancel()
	if out, err := p.command(ctx, name, args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v: %s (the programs of the server for tests must be on this machine)", name, err, out)
	}
}

func (p *Pair) start(c *cluster, settings ...string) {
	p.t.Helper()
	settings = append([]string{
		"-D", c.directory, "-p", strconv.Itoa(c.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=50",
		"-c", "shared_buffers=16MB",
		"-c", "dynamic_shared_memory_type=mmap", "-c", "wal_receiver_status_interval=1s",
	}, settings...)
	c.process = p.command(context.WithoutCancel(p.t.Context()), "postgres", settings...)
	log, err := os.OpenFile(filepath.Join(p.home, c.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	c.process.Stdout, c.process.Stderr = log, log
	if err := c.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		p.kill(c)
		if p.t.Failed() {
			output, _ := os.ReadFile(log.Name())
			p.t.Logf("the %s:\n%s", c.name, output)
		}
	})
	p.until("the "+c.name+" answers", func() bool {
		_, err := p.query(c.url(), "SELECT 1")
		return err == nil
	})
}

// kill ends a server and removes its shared memory, by which the next server in the directory would detect it.
func (p *Pair) kill(c *cluster) {
	if c.process.ProcessState != nil {
		return
	}
	lock, _ := os.ReadFile(filepath.Join(c.directory, "postmaster.pid"))
	_ = c.process.Process.Kill()
	_ = c.process.Wait() // says that it was killed
	if lines := strings.Split(string(lock), "\n"); len(lines) > 6 {
		if memory := strings.Fields(lines[6]); len(memory) == 2 {
			_ = exec.CommandContext(context.WithoutCancel(p.t.Context()), "ipcrm", "-m", memory[1]).Run()
		}
	}
}

func (p *Pair) until(what string, is func() bool) {
	p.t.Helper()
	Until(p.t, what, is)
}

func (p *Pair) ask(url, query string) string {
	p.t.Helper()
	answer, err := p.query(url, query)
	if err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
	return answer
}

func (p *Pair) query(url, query string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), pairLasts)
	defer cancel()
	connector, err := pq.NewConnector(url)
	if err != nil {
		return "", err
	}
	pool := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := pool.QueryRowContext(ctx, query).Scan(&answer); err != nil && !errors.Is(err, sql.ErrNoRows) &&
		!errors.Is(err, io.EOF) {
		return "", err
	}
	return answer, nil
}
