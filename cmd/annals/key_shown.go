package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/annals-kb/annals/domain"
)

// A key is shown once: whoever asks for one where nobody would read it is told before it is made, and if it is lost
// all the same, how it is taken back.

// willBeRead refuses to give what is shown once to nobody: the runtime lets a standard output that was closed lead to
// the null device.
func (c *console) willBeRead(what string) error {
	out, kept := c.out.(*answers)
	if !kept {
		return nil
	}
	signal.Ignore(syscall.SIGPIPE) // whoever has stopped reading must not end this before it has said what was lost
	info, err := out.Stat()
	null, nullErr := os.Stat(os.DevNull)
	if err == nil && (nullErr != nil || !os.SameFile(info, null)) {
		return nil
	}
	return &failure{
		Code: exitFailed, Detail: what + " is shown once, on standard output, which is closed or leads nowhere: none was made",
		Fix: "let standard output go to a terminal or a file that only you can read",
	}
}

// lostKey is a key that was made and could not be shown.
type lostKey struct{ *failure }

// Unwrap lets the command end as the failure says.
func (l lostKey) Unwrap() error { return l.failure }

// show shows a key that was just made, to people or as a document.
func (k givenKey) show(c *console, document any) error {
	var err error
	if c.json {
		err = c.document(document)
	} else {
		k.print(c)
	}
	if err = errors.Join(err, c.end(nil)); err == nil {
		return nil
	}
	return lostKey{&failure{
		Code: exitFailed, Detail: fmt.Sprintf("the key %s was made and could not be written to standard output: it is lost", k.Prefix),
		Fix: fmt.Sprintf("take it back with annals key revoke %s, and make another; with no other key, annals key create user:YOU --role admin --offline makes one", k.Prefix),
	}}
}

func isLost(err error) bool {
	_, is := errors.AsType[lostKey](err)
	return is
}

// isOpen tells whether the server asks nobody for a key.
func (r remote) isOpen(ctx context.Context) bool {
	server, err := r.connect()
	if err != nil {
		return false
	}
	me, err := server.Whoami(ctx)
	return err == nil && me.Authentication == domain.OpenAuthentication
}

// closed says what the first key has changed.
func closed(c *console) {
	c.note("this was the first key: until now everybody on this machine got in, from now on only who has a key")
}

// refusedKey says by field what is wrong with a key.
func refusedKey(err error) error {
	f := &failure{Code: exitRefused, Detail: err.Error(), Fix: "annals key create --help shows how"}
	if invalid, is := errors.AsType[*domain.Invalid](err); is {
		f.Status = http.StatusUnprocessableEntity
		for _, p := range invalid.Problems {
			f.Fields = append(f.Fields, field{Field: p.Field, Message: p.Message})
		}
	}
	return f
}
