package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Several formats a number of things.
func Several(n int, what string) string {
	return humanize.Comma(int64(n)) + " " + english.PluralWord(n, what, "")
}

// Lasting formats a duration in seconds.
func Lasting(seconds float64) string {
	return max(time.Second, time.Duration(seconds*float64(time.Second)).Round(time.Second)).String()
}

// mostNamed is how many things a message names.
const mostNamed = 20

// Enumerated names the first of several things, and counts the others.
func Enumerated(first []string, all int) string {
	first = first[:min(len(first), mostNamed)]
	list := strings.Join(first, ", ")
	if more := all - len(first); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
