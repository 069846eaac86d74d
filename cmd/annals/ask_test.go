package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// ask sends a request to the server, as curl would, with the key in ANNALS_KEY if there is one, and shows what it says;
// with -until TEXT again and again until it says that.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	until := ""
	if len(args) > 2 && args[0] == "-until" {
		until, args = args[1], args[2:]
	}
	usage(ts, len(args) < 2 || len(args) > 3, "[!] ask [-until TEXT] METHOD PATH [BODY]")
	var status int
	var said string
	try := func() bool {
		status, said = sent(ts, args[0], args[1], strings.Join(args[2:], ""))
		return strings.Contains(said, until)
	}
	if !try() {
		within(ts, time.Minute, "an answer with "+until, try)
	}
	_, err := fmt.Fprintln(ts.Stdout(), said)
	ts.Check(err)
	if refused := status >= http.StatusBadRequest; refused != neg {
		ts.Fatalf("%s %s: %d %s", args[0], args[1], status, said)
	}
}

// race sends so many requests at the same time, of which one must succeed, and shows what it says.
func race(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 4, "race N METHOD PATH BODY")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	answers := make([]string, n)
	var sending sync.WaitGroup
	for i := range n {
		sending.Go(func() {
			if status, said := sent(ts, args[1], args[2], args[3]); status < http.StatusBadRequest {
				answers[i] = said
			}
		})
	}
	sending.Wait()
	answers = slices.DeleteFunc(answers, func(said string) bool { return said == "" })
	if len(answers) != 1 {
		ts.Fatalf("%d of %d requests succeeded", len(answers), n)
	}
	_, err = fmt.Fprintln(ts.Stdout(), answers[0])
	ts.Check(err)
}

func sent(ts *testscript.TestScript, method, path, body string) (status int, said string) {
	// a test
	request, err := http.NewRequest(method, ts.Getenv("ANNALS_SERVER")+path, strings.NewReader(body)) //nolint:noctx
	ts.Check(err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
		if !strings.ContainsAny(body[:1], "{[") { // a form
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if key := ts.Getenv("ANNALS_KEY"); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close() //nolint:errcheck // it was only read
	read, err := io.ReadAll(response.Body)
	ts.Check(err)
	return response.StatusCode, string(read)
}
