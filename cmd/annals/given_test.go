package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args   []string
		in     string
		stderr string
	}{
		{args: []string{"remember", "a\xff"}, stderr: "must be valid UTF-8"},
		{args: []string{"remember", "-"}, in: "a\xff", stderr: "standard input must be valid UTF-8"},
		{args: []string{"remember", "a", "--tag", "b", "--tag", "\xff"}, stderr: "--tag must be valid UTF-8"},
		{args: []string{"revise", "a", "--content", "\xff"}, stderr: "--content must be valid UTF-8"},
		{args: []string{"revise", "a", "--content", "-"}, in: "\xff", stderr: "standard input must be valid UTF-8"},
		{args: []string{"stale", "a", "--reason", "\xff"}, stderr: "--reason must be valid UTF-8"},
		{args: []string{"feedback", "a", "helpful", "--outcome", "\xff"}, stderr: "--outcome must be valid UTF-8"},
		{args: []string{"session", "add", "a", "\xff"}, stderr: "must be valid UTF-8"},
		{args: []string{"session", "add", "a"}, in: "\xff", stderr: "standard input must be valid UTF-8"},
	} {
		var out, stderr bytes.Buffer
		code := run(t.Context(), test.args,
			&terminal.Console{In: strings.NewReader(test.in), Out: &out, Err: &stderr, Width: 80})
		if code != terminal.ExitUsage || !strings.Contains(stderr.String(), test.stderr) {
			t.Errorf("%q ends with %d: %s", test.args, code, stderr.String())
		}
	}
}
