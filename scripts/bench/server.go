package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/lib/pq"  // the driver "postgres"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// program is a build of Annals.
type program struct{ name, path, profiles string }

// build builds the program as users do, and returns its path.
func build(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, "annals")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "./cmd/annals")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, output)
	}
	return path, nil
}

// server is a running server of a program.
type server struct {
	program  program
	command  *exec.Cmd
	log      *os.File
	data     string // its directory
	database string // its URL
	address  string // HOST:PORT
	client   *http.Client
	drop     func() error // drops its database
	keep     bool

	started    time.Time
	firstStart time.Duration // until its first answer
}

// start starts a server on a new database, with these variables in an otherwise plain environment.
func (s *session) start(ctx context.Context, p program, environment ...string) (*server, error) {
	database, drop, err := newDatabase(ctx, s.engine, s.dir)
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp(s.dir, "data-")
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	one := &server{
		program: p, data: data, database: database, drop: drop, keep: s.Keep, client: &http.Client{Transport: transport},
	}
	if err := one.serve(environment); err != nil {
		return nil, errors.Join(err, one.stop())
	}
	if one.firstStart, err = one.ready(ctx); err != nil {
		return nil, errors.Join(err, one.stop())
	}
	return one, nil
}

// withServers starts a server for each program, prepares each, runs do, and stops them all.
func (s *session) withServers(
	ctx context.Context, environment []string, prepare func(*server) error, do func([]*server) error,
) (err error) {
	var servers []*server
	defer func() {
		for _, one := range servers {
			err = errors.Join(err, one.stop())
		}
	}()
	for _, p := range s.programs {
		one, err := s.start(ctx, p, environment...)
		if err != nil {
			return err
		}
		servers = append(servers, one)
		if err := prepare(one); err != nil {
			return err
		}
	}
	return do(servers)
}

// serve starts the process.
func (s *server) serve(environment []string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listens at once
	if err != nil {
		return err
	}
	s.address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		return err
	}
	if s.log, err = os.Create(filepath.Join(s.data, "log")); err != nil {
		return err
	}
	settings := []string{"serve", "--listen", s.address, "--data", s.data, "--database", s.database}
	s.command = exec.Command(s.program.path, settings...) //nolint:noctx // ended by stop
	if s.program.profiles != "" {
		s.command.Args = append(s.command.Args, "--cpu-profile",
			filepath.Join(s.program.profiles, filepath.Base(s.data)+".pprof"))
	}
	s.command.Env, s.command.Stderr = append(plainEnvironment(), environment...), s.log
	s.started = time.Now()
	return s.command.Start()
}

// plainEnvironment is the environment without variables that configure a server.
func plainEnvironment() []string {
	var plain []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "ANNALS_") && !strings.HasSuffix(name, "_API_KEY") && name != "DATABASE_URL" {
			plain = append(plain, variable)
		}
	}
	return plain
}

// ready waits for the first answer, and returns the time since the start.
func (s *server) ready(ctx context.Context) (time.Duration, error) {
	for time.Since(s.started) < 60*time.Second && ctx.Err() == nil {
		if err := s.get(ctx, "/v1/knowledge?limit=1", nil); err == nil {
			return time.Since(s.started), nil
		}
		time.Sleep(time.Millisecond)
	}
	log, _ := os.ReadFile(s.log.Name()) // without it the error still shows what happened
	return 0, fmt.Errorf("%s does not answer: %s", s.program.name, log)
}

// caughtUp waits until the background projections have read the whole log and indexed all words.
func (s *server) caughtUp(ctx context.Context) error {
	for {
		var projections struct {
			Items []struct {
				Lag       int64  `json:"lag_events"`
				Unindexed int64  `json:"unindexed"`
				Error     string `json:"error"`
			} `json:"items"`
		}
		if err := s.get(ctx, "/v1/projections", &projections); err != nil {
			return err
		}
		left := int64(0)
		for _, p := range projections.Items {
			if left += p.Lag + p.Unindexed/1000; p.Error != "" {
				return errors.New(p.Error)
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// endProcess ends the process, but keeps its database.
func (s *server) endProcess() error {
	if s.command == nil || s.command.Process == nil || s.command.ProcessState != nil {
		return nil
	}
	return errors.Join(s.command.Process.Signal(syscall.SIGTERM), s.command.Wait(), s.log.Close())
}

// restart starts the process again on the same database.
func (s *server) restart(ctx context.Context, environment ...string) (time.Duration, error) {
	if err := errors.Join(s.endProcess(), s.serve(environment)); err != nil {
		return 0, err
	}
	return s.ready(ctx)
}

// stop ends the process and removes its database, unless databases are kept.
func (s *server) stop() error {
	if s.keep {
		fmt.Printf("%s, data in %s\n", s.database, s.data)
		return s.endProcess()
	}
	return errors.Join(s.endProcess(), s.drop(), os.RemoveAll(s.data))
}

func (s *server) get(ctx context.Context, path string, answer any) error {
	return s.send(ctx, http.MethodGet, path, "", nil, answer)
}

func (s *server) post(ctx context.Context, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.send(ctx, http.MethodPost, path, "application/json", bytes.NewReader(text), answer)
}

// send sends a request, and decodes the answer unless answer is nil.
func (s *server) send(ctx context.Context, method, path, contentType string, body io.Reader, answer any) error {
	text, err := s.request(ctx, method, path, contentType, body)
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// request sends a request and returns the body of the answer. An error status is an error.
func (s *server) request(ctx context.Context, method, path, contentType string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %.300s", method, path, response.Status, text)
	}
	return text, err
}

// load remembers items, 10,000 per request, and checks that each was created.
func (s *server) load(ctx context.Context, items iter.Seq[item]) error {
	var lines bytes.Buffer
	count := 0
	flush := func() error {
		answers, err := s.request(ctx, http.MethodPost, "/v1/knowledge", "application/x-ndjson", &lines)
		if created := bytes.Count(answers, []byte(`"status":"created"`)); err == nil && created != count {
			err = fmt.Errorf("%d of %d items were created: %.300s", created, count, answers)
		}
		lines.Reset()
		count = 0
		return err
	}
	for one := range items {
		lines.Write(append(one.body(), '\n'))
		if count++; count == 10_000 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// memory is the resident memory of the server's process in MB; disk is what its database takes, in MB.
func (s *server) memory() float64 {
	kilobytes, _, _ := strings.Cut(procField(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid), "VmRSS"), " ")
	size, _ := strconv.ParseFloat(kilobytes, 64) // 0 where there is no /proc
	return size / 1024
}

func (s *server) disk(ctx context.Context) (megabytes float64, err error) {
	path, isSQLite := strings.CutPrefix(s.database, "sqlite:")
	if isSQLite {
		err = filepath.WalkDir(filepath.Dir(path), func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				megabytes += float64(info.Size()) / 1e6
			}
			return err
		})
		return megabytes, err
	}
	err = withPool(s.database, func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, "SELECT pg_database_size(current_database()) / 1e6").Scan(&megabytes)
	})
	return megabytes, err
}

// newDatabase creates an empty database, and returns its URL and a function that drops it.
func newDatabase(ctx context.Context, engine, dir string) (address string, drop func() error, err error) {
	if engine == "sqlite" {
		own, err := os.MkdirTemp(dir, "sqlite-")
		return "sqlite:" + filepath.Join(own, "annals.db"), func() error { return os.RemoveAll(own) }, err
	}
	server, err := url.Parse(os.Getenv("ANNALS_TEST_POSTGRES"))
	if err != nil || server.Host == "" {
		return "", nil, errors.New(`ANNALS_TEST_POSTGRES names no server: run the benchmark by "scripts/postgres.sh run"`)
	}
	name := "annals_bench_" + strings.ToLower(rand.Text())
	execute := func(ctx context.Context, statement string) error {
		return withPool(server.String(), func(pool *sql.DB) error {
			_, err := pool.ExecContext(ctx, statement)
			return err
		})
	}
	if err := execute(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	own := *server
	own.Path = "/" + name
	drop = func() error { return execute(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)") }
	return own.String(), drop, nil
}

// withPool opens a database with its plain driver.
func withPool(address string, do func(*sql.DB) error) error {
	driver, name := "postgres", address
	if path, isSQLite := strings.CutPrefix(address, "sqlite:"); isSQLite {
		driver = "sqlite"
		name = "file:" + path + "?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
			"&_pragma=cache_size(-16000)&_pragma=busy_timeout(5000)"
	}
	pool, err := sql.Open(driver, name)
	if err != nil {
		return errors.New("the URL of the database does not parse") // err would repeat the password
	}
	if driver == "sqlite" {
		pool.SetMaxOpenConns(1)
	}
	return errors.Join(do(pool), pool.Close())
}
