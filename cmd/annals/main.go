package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/http/document"
)

func main() {
	document.Aside()
	forgetEmpty(os.Environ())
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

// withSignals ends the context at the first SIGINT or SIGTERM. A second signal ends the process at once.
func withSignals(f func(context.Context) int) int {
	ctx, stop := signal.NotifyContext(database.ForEveryTenant(context.Background()), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return f(ctx)
}
