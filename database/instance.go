package database

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// newInstanceID names this process once more, for people and to tell it from others.
func newInstanceID() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}
