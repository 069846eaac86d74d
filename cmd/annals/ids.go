package main

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// namesOf lists the ids of items, sessions or keys that begin with text.
func namesOf(ctx context.Context, server *client.Client, kind, text string) ([]candidate, error) {
	var all []candidate
	add := func(name, help string) {
		if strings.HasPrefix(name, text) {
			all = append(all, candidate{terminal.Printable(name), help})
		}
	}
	switch kind {
	case "ids":
		found, err := newestWith(ctx, server, text, "active", "superseded", "deleted", "erased")
		for _, k := range found {
			const columns = 60
			add(k.ID, ansi.Strip(string(k.Snippet(columns))))
		}
		return all, err
	case "sessions":
		var list struct {
			Result []struct {
				ID string `json:"session_id"`
			}
		}
		_, err := server.Do(ctx, client.Get("api", "v1", "sessions"), &list)
		for _, session := range list.Result {
			add(session.ID, "")
		}
		return all, err
	case "keys":
		var keys api.Keys
		_, err := server.Do(ctx, client.Get("v1", "keys"), &keys)
		for _, key := range keys.Items {
			add(key.Prefix, key.Subject)
		}
		return all, err
	}
	found, err := newestWith(ctx, server, "")
	all = append(all, candidate{word: "public"})
	for _, k := range found {
		for _, scope := range k.Scopes {
			add(scope, "")
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return slices.Compact(all), err
}

// newestWith lists the newest items whose ids begin with the text; without a status, active ones.
func newestWith(
	ctx context.Context, server *client.Client, text string, statuses ...string,
) ([]knowledge.Knowledge, error) {
	query := url.Values{"limit": {strconv.Itoa(terminal.LargestPage)}, "status": statuses}
	terminal.Put(query, "id_prefix", text)
	var list api.Page[knowledge.Knowledge]
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "knowledge"}, Query: query},
		&list)
	return list.Items, err
}

// wholeIDs replaces ids that were not found by the complete ids of which they are the unique beginning. It returns
// true if it replaced any, so that the command can run again. Otherwise it returns the error to report.
func wholeIDs(ctx context.Context, c *terminal.Console, parsed *kong.Context, failed error) (bool, error) {
	if failed == nil {
		return false, nil
	}
	f := terminal.AsFailure(failed)
	command, asks := reflect.TypeAssert[interface {
		Connect() (*client.Client, error)
	}](parsed.Selected().Target.Addr())
	if !asks || f.Code != terminal.ExitNotFound || f.Status == http.StatusGone || slices.Contains(parsed.Args, "-") {
		return false, failed
	}
	server, err := command.Connect()
	if err != nil {
		return false, failed
	}
	replaced := false
	for _, arg := range parsed.Selected().Positional {
		kind := arg.Tag.Get("complete")
		if !slices.Contains([]string{"ids", "sessions", "keys"}, kind) {
			continue
		}
		values := []reflect.Value{arg.Target}
		if arg.Target.Kind() == reflect.Slice {
			values = nil
			for i := range arg.Target.Len() {
				values = append(values, arg.Target.Index(i))
			}
		}
		for _, value := range values {
			whole, err := wholeID(ctx, server, kind, value.String(), f)
			switch {
			case err != nil:
				return false, err
			case whole == "":
				continue
			case !c.JSON:
				c.Note("%s is %s", value.String(), whole)
			}
			value.SetString(whole)
			replaced = true
		}
	}
	return replaced, failed
}

// wholeID is the only id that begins with the text, if the text is none itself. Otherwise it returns the failure f.
func wholeID(ctx context.Context, server *client.Client, kind, text string, f *terminal.Failure) (string, error) {
	if text == "" || strings.Contains(text, ":") {
		return "", nil
	}
	found, err := namesOf(ctx, server, kind, text)
	switch {
	case err != nil:
		return "", f
	case len(found) == 0, slices.ContainsFunc(found, func(c candidate) bool { return c.word == text }):
		return "", nil
	case len(found) > 1:
		ambiguous := *f
		ambiguous.Detail = text + " is the beginning of several ids, such as " + found[0].word + " and " + found[1].word
		ambiguous.Fix = "write more of the id"
		return "", &ambiguous
	}
	return found[0].word, nil
}

// known asks the server for the words of a command line. It gives up early, since a shell waits for it.
func known(ctx context.Context, c *terminal.Console, kind string, words []string) []candidate {
	const patience = 2 * time.Second
	var r struct{ terminal.Remote }
	parser, err := kong.New(&r,
		append(terminal.NumberMappers(), kong.Vars{"server": terminal.DefaultServer}, kong.Resolvers(c.Settings),
			kong.Exit(func(int) {}))...)
	if err != nil {
		return nil
	}
	var own []string
	last := len(words) - 1
	for i, word := range words[:last] {
		name, _, assigned := strings.Cut(word, "=")
		switch is := flagOf(parser.Model.Node, name) != nil; {
		case is && assigned:
			own = append(own, word)
		case is && i+1 < last:
			own = append(own, word+"="+words[i+1])
		}
	}
	parsed, err := parser.Parse(own)
	if err != nil {
		return nil
	}
	c.KeepKey(parsed)
	server, err := r.Connect()
	if err != nil {
		return nil
	}
	server = server.Within(patience)
	_, text, assigned := strings.Cut(words[last], "=")
	if !assigned {
		text = words[last]
	}
	found, err := namesOf(ctx, server, kind, text)
	if err != nil {
		return nil
	}
	return found
}
