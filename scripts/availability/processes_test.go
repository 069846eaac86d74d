package availability

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
)

// chaos is how long the cluster is under chaos.
var chaos = flag.Duration("chaos", 0, "run the tests of availability, with so much time for chaos")

const rootKey = "for-the-test-for-the-test-for-the-test"

// world is where the processes of one test run.
type world struct {
	*testing.T

	dir     string
	program string // a build of Annals
	began   time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if *chaos == 0 {
		t.Skip("takes minutes and the whole machine: make availability runs it")
	}
	program, err := present()
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, dir: t.TempDir(), program: program, began: time.Now()}
}

// builds is where the program is built.
var builds string

func TestMain(m *testing.M) {
	var err error
	if builds, err = os.MkdirTemp("", "annals-builds-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(builds)
	os.Exit(code)
}

// present is this release, which is built once.
var present = sync.OnceValues(func() (string, error) { return build("annals") })

// say logs what happens, and when.
func (w *world) say(format string, values ...any) {
	w.Helper()
	w.Logf("%6.1f s  %s", time.Since(w.began).Seconds(), fmt.Sprintf(format, values...))
}

// build builds the program, and returns its path.
func build(name string, flags ...string) (program string, err error) {
	program = filepath.Join(builds, name)
	args := append([]string{"build", "-pgo=off", "-o", program}, flags...)
	command := exec.CommandContext(context.Background(), "go", append(args, "./cmd/annals")...)
	command.Dir, command.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, out)
	}
	return program, nil
}

// address is a free port of this machine.
func (w *world) address() string {
	w.Helper()
	listener, err := (&net.ListenConfig{}).Listen(w.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// process is a program that runs until the test ends. It can be killed, frozen, ended and started again.
type process struct {
	world   *world
	name    string
	address string // where it listens
	args    []string
	env     []string
	log     *os.File
	running *exec.Cmd
}

// serve starts a server of Annals.
func (w *world) serve(name, database string, env ...string) *process {
	w.Helper()
	s := &process{world: w, name: name, address: w.address(), args: []string{w.program, "serve", "--json"}}
	s.env = append(env, "HOME="+w.dir, "ANNALS_DATA="+filepath.Join(w.dir, "data"), "DATABASE_URL="+database,
		"ANNALS_LISTEN="+s.address, "ANNALS_ROOT_KEY="+rootKey, "ANNALS_EMBEDDING_MODEL=words", "ANNALS_PRE_STOP_DELAY=4s")
	s.start()
	return s
}

// balance starts HAProxy as deploy/haproxy.cfg says, before these servers.
func (w *world) balance(name string, servers ...*process) *process {
	w.Helper()
	config, err := os.ReadFile("../../deploy/haproxy.cfg")
	if err != nil {
		w.Fatal(err)
	}
	s := &process{world: w, name: name, address: w.address(), env: []string{}}
	for i, server := range servers {
		s.env = append(s.env, fmt.Sprintf("SERVER_%d=%s", i+1, server.address))
		if i > 1 { // beside the two of that file
			config = fmt.Appendf(config, "    server annals%d \"${SERVER_%d}\"\n", i+1, i+1)
		}
	}
	s.env = append(s.env, "LISTEN="+s.address)
	file := filepath.Join(w.dir, name+".cfg")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		w.Fatal(err)
	}
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		haproxy = "/usr/sbin/haproxy"
	}
	s.args = []string{haproxy, "-f", file}
	s.start()
	return s
}

// start starts the process and waits until it is ready.
func (s *process) start() {
	s.world.Helper()
	s.launch()
	s.waitReady()
}

func (s *process) launch() {
	w := s.world
	w.Helper()
	if s.log == nil {
		var err error
		if s.log, err = os.Create(filepath.Join(w.dir, s.name+".log")); err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() {
			s.kill()
			written, _ := os.ReadFile(s.log.Name())
			w.Logf("warnings of %s: %s", s.name, warnings(written))
			if w.Failed() {
				w.Logf("the end of the log of %s:\n%s", s.name, written[max(0, len(written)-6000):])
			}
			_ = s.log.Close()
		})
	}
	s.running = exec.CommandContext(context.WithoutCancel(w.Context()), s.args[0], s.args[1:]...)
	s.running.Env, s.running.Dir, s.running.Stdout, s.running.Stderr = s.env, w.dir, s.log, s.log
	if err := s.running.Start(); err != nil {
		w.Fatal(err)
	}
}

// warnings counts the warnings and errors in a log.
func warnings(log []byte) string {
	counts := map[string]int{}
	for line := range bytes.Lines(log) {
		var said struct{ Level, Msg, Error string }
		if json.Unmarshal(line, &said) == nil && (said.Level == "WARN" || said.Level == "ERROR") {
			counts[fmt.Sprintf("%s %s: %.150s", said.Level, said.Msg, said.Error)]++
		}
	}
	var lines strings.Builder
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&lines, "\n%6d × %s", counts[line], line)
	}
	return cmp.Or(lines.String(), "none")
}

// ready tells whether the process says so.
func (s *process) ready() bool {
	ctx, cancel := context.WithTimeout(s.world.Context(), time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

func (s *process) waitReady() {
	s.world.Helper()
	databasetest.Until(s.world, s.name+" is ready", s.ready)
}

func (s *process) signal(signal syscall.Signal) {
	s.world.Helper()
	if err := s.running.Process.Signal(signal); err != nil {
		s.world.Errorf("%s: %v", s.name, err)
	}
}

// freeze stops the process for a while.
func (s *process) freeze(length time.Duration) {
	s.world.Helper()
	s.signal(syscall.SIGSTOP)
	time.Sleep(length)
	s.signal(syscall.SIGCONT)
}

func (s *process) kill() {
	if s.running == nil || s.running.ProcessState != nil {
		return
	}
	_ = s.running.Process.Kill()
	_ = s.running.Wait() // it was killed
}

// end asks the process to end, which it must do well.
func (s *process) end() {
	s.world.Helper()
	s.signal(syscall.SIGTERM)
	late := time.AfterFunc(time.Minute, func() { _ = s.running.Process.Kill() })
	defer late.Stop()
	if err := s.running.Wait(); err != nil {
		s.world.Errorf("%s did not end well: %v", s.name, err)
	}
}

// use lets a server use another database from its next start.
func (s *process) use(database string) { s.env = append(s.env, "DATABASE_URL="+database) }

// restart ends the process and starts it again.
func (s *process) restart() {
	s.world.Helper()
	s.end()
	s.start()
}

// run runs a command of Annals, and returns what it says.
func (w *world) run(server, database string, args ...string) (string, error) {
	w.Helper()
	command := exec.CommandContext(w.Context(), w.program, args...)
	command.Env = []string{
		"HOME=" + w.dir, "ANNALS_DATA=" + filepath.Join(w.dir, "data"), "ANNALS_SERVER=http://" + server,
		"ANNALS_KEY=" + rootKey, "DATABASE_URL=" + database,
	}
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	err := command.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		err = fmt.Errorf("annals %s: %w: %s", strings.Join(args, " "), exit, said.String())
	}
	return said.String(), err
}
