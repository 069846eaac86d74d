package terminal

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/domain"
)

const NotText = "must be valid UTF-8"

// CheckUTF8 refuses arguments that are not UTF-8, since they would be changed silently.
func CheckUTF8(args []string) error {
	for n, arg := range args {
		if utf8.ValidString(arg) {
			continue
		}
		name, _, _ := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "-") && n > 0 {
			name = args[n-1]
		}
		if !strings.HasPrefix(name, "-") || !utf8.ValidString(name) || strings.Contains(name, "=") {
			name = "what is given as argument " + strconv.Itoa(n+1)
		}
		return Wrong("", "%s %s", name, NotText)
	}
	return nil
}

// CheckArguments refuses ids that cannot be a part of a path, and empty arguments.
func CheckArguments(node *kong.Node) error {
	if node == nil {
		return nil
	}
	var bad []Field
	for _, value := range node.Positional {
		message := ""
		switch text := value.Target.String(); {
		case value.Name == "id" || value.Name == "prefix":
			message = invalidID(node, text)
		case value.Set && value.Target.Kind() == reflect.String && text == "" && value.Name != "text":
			message = "must not be empty" // the command itself refuses an empty text
		}
		if message != "" {
			bad = append(bad, Field{Field: value.Name, Flag: nth(value, ""), Message: message})
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return BadFields("", bad...)
}

// invalidID is the problem of an id; empty if there is none.
func invalidID(node *kong.Node, text string) string {
	switch {
	case text == "":
		return "must not be empty"
	case strings.Contains(text, "/"):
		return "must have no slash"
	case node.Parent != nil && node.Parent.Name == "session":
		return invalidSession(text)
	}
	return ""
}

// invalidSession is the problem of a session's id; empty if there is none.
func invalidSession(id string) string {
	err := domain.SessionTarget{ID: id, Owner: domain.OpenPrincipal().Subject}.Validate()
	if invalid, is := errors.AsType[*domain.Invalid](err); is {
		return invalid.Problems[0].Message
	}
	return ""
}
