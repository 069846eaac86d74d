package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// gauge waits until the server's metrics give a series this value. Negated, there must be no such series.
func gauge(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg && len(args) != 1 || !neg && len(args) != 2, "gauge SERIES VALUE, or ! gauge SERIES")
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
	_, said := sent(ts, http.MethodGet, "/metrics", "")
	return said
}
