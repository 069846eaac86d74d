package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Counted formats a number with a comma after every three digits.
func Counted(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Several formats a number of things.
func Several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Counted(int64(n)) + " " + what + "s"
}

// BytesOf formats a number of bytes.
func BytesOf(n int64) string {
	size, unit := float64(n), "B"
	for _, next := range []string{"KB", "MB", "GB", "TB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	if size >= 10 || unit == "B" {
		return fmt.Sprintf("%.0f %s", size, unit)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

// Lasting formats a duration in seconds.
func Lasting(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return "a second"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// mostNamed is how many things a message names.
const mostNamed = 20

// Enumerated names the first of several things, and counts the others.
func Enumerated(first []string, all int) string {
	first = first[:min(len(first), mostNamed)]
	said := strings.Join(first, ", ")
	if more := all - len(first); more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}
