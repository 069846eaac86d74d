package main

import (
	"fmt"
	"strconv"
	"time"
)

// counted writes a number with a comma after every three digits.
func counted(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// several says how many there are of something.
func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return counted(int64(n)) + " " + what + "s"
}

// bytesOf writes a number of bytes as people say it.
func bytesOf(n int64) string {
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

// lasting writes a number of seconds as people say it.
func lasting(seconds float64) string {
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
