package operate

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// A key is shown once: whoever asks for one where nobody would read it is told before it is made, and if it is lost
// all the same, how it is taken back.

// lostKey is a key that was made and could not be shown.
type lostKey struct{ *terminal.Failure }

// Unwrap lets the command end as the failure says.
func (l lostKey) Unwrap() error { return l.Failure }

// show shows a key that was just made, to people or as a document.
func (k GivenKey) show(c *terminal.Console, document any) error {
	var err error
	if c.JSON {
		err = c.Document(document)
	} else {
		k.print(c)
	}
	if err = errors.Join(err, c.End(nil)); err == nil {
		return nil
	}
	return lostKey{&terminal.Failure{
		Code: terminal.ExitFailed, Detail: fmt.Sprintf("the key %s was made and could not be written to standard output: it is lost", k.Prefix),
		Fix: fmt.Sprintf("take it back with annals key revoke %s, and make another; with no other key, annals key create user:YOU --role admin --offline makes one", k.Prefix),
	}}
}

func isLost(err error) bool {
	_, is := errors.AsType[lostKey](err)
	return is
}

// isOpen tells whether the server asks nobody for a key.
func isOpen(ctx context.Context, r terminal.Remote) bool {
	server, err := r.Connect()
	if err != nil {
		return false
	}
	me, err := server.Whoami(ctx)
	return err == nil && me.Authentication == domain.OpenAuthentication
}

// closed says what the first key has changed.
func closed(c *terminal.Console) {
	c.Note("this was the first key: until now everybody on this machine got in, from now on only who has a key")
}

// refusedKey says by field what is wrong with a key.
func refusedKey(err error) error {
	f := &terminal.Failure{Code: terminal.ExitRefused, Detail: err.Error(), Fix: "annals key create --help shows how"}
	if invalid, is := errors.AsType[*domain.Invalid](err); is {
		f.Status = http.StatusUnprocessableEntity
		for _, p := range invalid.Problems {
			f.Fields = append(f.Fields, terminal.Field{Field: p.Field, Message: p.Message})
		}
	}
	return f
}
