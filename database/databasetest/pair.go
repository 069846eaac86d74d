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
	"slices"
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
	// URL names all servers, the first primary first, and requires one that accepts writes.
	URL string
	// First and Second are the URLs of the first two servers.
	First, Second string
	// Servers are the two, and those that [Pair.AddStandby] adds.
	Servers []*PairServer
	// Primary is the one that takes writes, or took them until it was killed.
	Primary *PairServer

	t         testing.TB
	bin, home string
	as        *syscall.SysProcAttr // nil for the user who runs the test
	former    *PairServer          // the primary before the promotion
}

// PairServer is one server of a [Pair].
type PairServer struct {
	// URL names this server alone.
	URL string

	pair            *Pair
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
	p.Primary = p.server("primary")
	p.run(
		"initdb", "-D", p.Primary.directory, "-U", "annals", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync",
	)
	p.Primary.Start()
	p.AddStandby()
	p.Set("synchronous_standby_names", "*")
	p.until("the standby is synchronous", func() bool {
		return p.ask(p.Primary.URL, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
	p.First, p.Second = p.Servers[0].URL, p.Servers[1].URL
	return p
}

// AddStandby makes another standby of the primary.
func (p *Pair) AddStandby() *PairServer {
	p.t.Helper()
	s := p.server("standby" + strconv.Itoa(len(p.Servers)))
	s.copyPrimary()
	return s
}

// Set changes a setting of the primary.
func (p *Pair) Set(name, value string) {
	p.t.Helper()
	p.Primary.Set(name, value)
}

// Ask returns the only value of a query of one of the servers.
func (p *Pair) Ask(url, query string) string {
	p.t.Helper()
	return p.ask(url, query)
}

// KillPrimary ends the primary with SIGKILL.
func (p *Pair) KillPrimary() { p.Primary.Kill() }

// Promote turns the standby that has received most into the primary. The other ones follow it.
func (p *Pair) Promote() {
	p.t.Helper()
	var next *PairServer
	most := int64(-1)
	for _, s := range p.standbys() {
		received, err := strconv.ParseInt(p.ask(s.URL, "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')"), 10, 64)
		if err != nil {
			p.t.Fatal(err)
		}
		if received > most {
			next, most = s, received
		}
	}
	if p.ask(next.URL, "SELECT pg_promote(true, 60)") != "true" {
		p.t.Fatal("the standby was not promoted")
	}
	p.former, p.Primary = p.Primary, next
	for _, s := range p.standbys() {
		s.Set("primary_conninfo", next.URL)
	}
}

// standbys are the running servers that are not the primary.
func (p *Pair) standbys() []*PairServer {
	return slices.DeleteFunc(slices.Clone(p.Servers), func(s *PairServer) bool {
		return s == p.Primary || s.process.ProcessState != nil
	})
}

// Return starts the former primary again as what it was, which takes writes without a standby.
func (p *Pair) Return() {
	p.t.Helper()
	p.former.Start("-c", "synchronous_standby_names=")
}

// Rejoin makes the former primary a standby of the present one.
func (p *Pair) Rejoin() *PairServer {
	p.t.Helper()
	p.former.Kill()
	if err := os.RemoveAll(p.former.directory); err != nil {
		p.t.Fatal(err)
	}
	p.former.copyPrimary()
	return p.former
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

// server names a new server, whose directory does not exist yet.
func (p *Pair) server(name string) *PairServer {
	p.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	s := &PairServer{
		pair: p, name: name, directory: filepath.Join(p.home, name), port: listener.Addr().(*net.TCPAddr).Port,
	}
	s.URL = fmt.Sprintf("postgres://annals@127.0.0.1:%d/postgres?sslmode=disable&connect_timeout=5", s.port)
	p.Servers = append(p.Servers, s)
	var hosts []string
	for _, s := range p.Servers {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", s.port))
	}
	p.URL = fmt.Sprintf("postgres://annals@%s/postgres?sslmode=disable&target_session_attrs=read-write",
		strings.Join(hosts, ","))
	return s
}

// copyPrimary makes the server a standby, and starts it.
func (s *PairServer) copyPrimary() {
	s.pair.t.Helper()
	s.pair.run(
		"pg_basebackup", "-D", s.directory, "-d", s.pair.Primary.URL, "--write-recovery-conf", "--checkpoint=fast",
		"--no-sync",
	)
	s.Start()
}

// Set changes a setting of the server.
func (s *PairServer) Set(name, value string) {
	s.pair.t.Helper()
	s.pair.ask(s.URL, "ALTER SYSTEM SET "+name+" = "+pq.QuoteLiteral(value))
	s.pair.ask(s.URL, "SELECT pg_reload_conf()")
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

// Start starts a server that is not running.
func (s *PairServer) Start(settings ...string) {
	p := s.pair
	p.t.Helper()
	settings = append([]string{
		"-D", s.directory, "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=100",
		"-c", "shared_buffers=16MB",
		"-c", "dynamic_shared_memory_type=mmap", "-c", "wal_receiver_status_interval=1s",
	}, settings...)
	s.process = p.command(context.WithoutCancel(p.t.Context()), "postgres", settings...)
	log, err := os.OpenFile(filepath.Join(p.home, s.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		s.Kill()
		if p.t.Failed() {
			output, _ := os.ReadFile(log.Name())
			p.t.Logf("the %s:\n%s", s.name, output)
		}
	})
	p.until("the "+s.name+" answers", func() bool {
		_, err := p.query(s.URL, "SELECT 1")
		return err == nil
	})
}

// Kill ends a server with SIGKILL, and removes its shared memory, by which the next server in the directory would
// detect it.
func (s *PairServer) Kill() {
	if s.process.ProcessState != nil {
		return
	}
	lock, _ := os.ReadFile(filepath.Join(s.directory, "postmaster.pid"))
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // says that it was killed
	if lines := strings.Split(string(lock), "\n"); len(lines) > 6 {
		if memory := strings.Fields(lines[6]); len(memory) == 2 {
			_ = exec.CommandContext(context.WithoutCancel(s.pair.t.Context()), "ipcrm", "-m", memory[1]).Run()
		}
	}
}

// Pause stops the processes of the server with SIGSTOP until [PairServer.Continue].
func (s *PairServer) Pause() error { return s.signal(pause) }

// Continue resumes a paused server.
func (s *PairServer) Continue() error { return s.signal(resume) }

func (s *PairServer) signal(send func(pid int) error) error {
	pid := s.process.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return err
	}
	for child := range strings.FieldsSeq(string(children)) {
		if number, err := strconv.Atoi(child); err == nil {
			_ = send(number) // it may have ended
		}
	}
	return send(pid)
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
