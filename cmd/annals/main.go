package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/http/document" // part: documents
)

func main() {
	document.Aside() // part: documents
	forgetEmpty(os.Environ())
	if err := takeCredentials(os.Getenv("CREDENTIALS_DIRECTORY")); err != nil {
		fmt.Fprintln(os.Stderr, "annals: read the credentials of the service:", err)
		os.Exit(terminal.ExitFailed)
	}
	os.Exit(withSignals(func(ctx context.Context) int {
		return run(ctx, os.Args[1:], terminal.NewConsole(os.Stdin, os.Stdout, os.Stderr))
	}))
}

// forgetEmpty unsets empty variables: in compose files an empty variable means the default.
func forgetEmpty(environment []string) {
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		if value == "" && (strings.HasPrefix(name, "ANNALS_") || name == "DATABASE_URL") {
			_ = os.Unsetenv(name)
		}
	}
}

// takeCredentials sets the variables that files are named as, such as ANNALS_ROOT_KEY, in the directory that systemd
// makes for LoadCredential=annals:DIRECTORY. A variable that is set wins over its file.
func takeCredentials(directory string) error {
	if directory == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(directory, "annals_*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimPrefix(filepath.Base(file), "annals_")
		if os.Getenv(name) != "" {
			continue
		}
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.Setenv(name, strings.TrimSpace(string(content)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// withSignals ends the context at the first SIGINT or SIGTERM. A second signal ends the process at once.
func withSignals(f func(context.Context) int) int {
	ctx, stop := signal.NotifyContext(database.ForEveryTenant(context.Background()), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return f(ctx)
}
