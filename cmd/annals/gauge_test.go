package main

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// gauge waits until the server's metrics give a series this value. Negated, there must be no such series.
func gauge(ts *testscript.TestScript, neg bool, args []string) {
	if neg && len(args) != 1 || !neg && len(args) != 2 {
		ts.Fatalf("usage: gauge SERIES VALUE, or ! gauge SERIES")
	}
	if neg {
		if said := metrics(ts); strings.Contains(said, args[0]+" ") {
			ts.Fatalf("there is such a series:\n%s", said)
		}
		return
	}
	within(ts, 30*time.Second, strings.Join(args, " "), func() bool {
		return strings.Contains(metrics(ts), strings.Join(args, " ")+"\n")
	})
}

func metrics(ts *testscript.TestScript) string {
	response, err := http.Get(ts.Getenv("ANNALS_SERVER") + "/metrics") //nolint:noctx // a test
	ts.Check(err)
	defer response.Body.Close() //nolint:errcheck // it was only read
	said, err := io.ReadAll(response.Body)
	ts.Check(err)
	return string(said)
}
