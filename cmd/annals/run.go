package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// run parses args, runs the command and returns the exit code.
func run(ctx context.Context, args []string, c *terminal.Console) int {
	var g grammar
	unsaid := len(args) == 0
	if unsaid { // without arguments, show the commands
		args, c.Out = []string{"--help"}, c.Err
	}
	helped := false
	var unreadable error
	c.Settings, unreadable = terminal.SettingsIn(args)
	args = terminal.TimesAsValues(fromHabit(args))
	parser, err := newParser(&g, c, func(int) { helped = true }, otherCommands(args))
	if err != nil {
		return c.Fail(err)
	}
	if len(args) > 0 && args[0] == "__complete" {
		complete(ctx, c, parser.Model, args[1:])
		return terminal.ExitOK
	}
	if err := terminal.CheckUTF8(args); err != nil {
		c.JSON = terminal.WantsJSON(args)
		return c.Fail(err)
	}
	if unreadable == nil && len(c.Settings.Values) > 0 {
		unreadable = c.Settings.Check(allCommands(c))
	}
	parsed, err := parser.Parse(args)
	switch {
	case unsaid:
		return terminal.ExitUsage
	case helped: // the help was printed, so other errors do not matter
		return terminal.ExitOK
	}
	if err == nil {
		err = cmp.Or(terminal.CheckEmptyFlags(parsed), unreadable)
	}
	c.JSON = g.JSON || err != nil && terminal.WantsJSON(args)
	if err != nil {
		return c.Fail(terminal.UsageFailure(err))
	}
	if err := terminal.CheckArguments(parsed.Selected()); err != nil {
		return c.Fail(err)
	}
	unknown := terminal.UnknownVariables(parser.Model, os.Environ())
	if len(unknown) > 0 { // other commands may know them
		unknown = terminal.UnknownVariables(allCommands(c), os.Environ())
	}
	for _, each := range unknown {
		c.Warn("%s; annals config lists the settings", each)
	}
	if warning := c.KeepKey(parsed); warning != "" {
		c.Warn("%s", warning)
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(c)
	if whole, hint := wholeIDs(ctx, c, parsed, err); whole {
		err = parsed.Run(c)
	} else {
		err = hint
	}
	return c.Fail(terminal.NameFlags(parsed.Selected(), c.End(err)))
}

// fromHabit corrects common habits of typing.
func fromHabit(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

// otherCommands matches the commands that the arguments do not name; it is empty if they do not begin with a command,
// as in "annals --json get". Parsing all commands takes most of the program's start.
func otherCommands(args []string) string {
	var others []string
	called := false
	for field := range reflect.TypeFor[grammar]().Fields() {
		if _, isCommand := field.Tag.Lookup("cmd"); !isCommand {
			continue
		}
		if len(args) > 0 && args[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) {
			called = true
			continue
		}
		others = append(others, field.Name)
	}
	if !called {
		return ""
	}
	return `^grammar\.(?:` + strings.Join(others, "|") + `)$`
}

// allCommands is the grammar of all commands.
func allCommands(c *terminal.Console) *kong.Application {
	parser, err := newParser(&grammar{}, c, func(int) {}, "")
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	return parser.Model
}

// newParser parses the grammar, without the commands whose fields match the expression.
func newParser(g *grammar, c *terminal.Console, exit func(int), without string) (*kong.Kong, error) {
	options := append(terminal.NumberMappers(),
		kong.Name("annals"),
		kong.Vars{"server": terminal.DefaultServer},
		kong.Writers(c.Out, c.Err),
		kong.Exit(exit),
		kong.Resolvers(c.Settings),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, NoAppDescFormat: true}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "know", Title: "Remember and find:"},
			{Key: "learn", Title: "Learn from use:"},
			{Key: "record", Title: "The record:"},
			{Key: "people", Title: "People and groups:"},
			{Key: "run", Title: "Run and look after:"},
			{Key: "server", Title: "Talking to the server:"},
			{Key: "where", Title: "Where:"},
			{Key: "embedding", Title: "Searching by meaning (the key comes from ANNALS_EMBEDDING_KEY, OPENAI_API_KEY or " +
				"ARK_API_KEY):"},
			{Key: "extraction", Title: "Learning from sessions (the key comes from ANNALS_LLM_KEY):"},
			{Key: "tokens", Title: "Whose tokens are believed:"},
			{Key: "receipts", Title: "Receipts of answers:"},
			{Key: "forwarding", Title: "Forwarding the log:"},
			{Key: "limits", Title: "Limits and the log:"},
			{Key: "filter", Title: "Only knowledge that:"},
			{Key: "events", Title: "Which events:"},
			{Key: "answers", Title: "Which answers:"}, // part: receipts
			{Key: "past", Title: "What was known then:"},
			{Key: "table", Title: "The table:"},
		}),
	)
	if without != "" {
		options = append(options, kong.IgnoreFields(without))
	}
	parser, err := kong.New(g, options...)
	if err != nil {
		return nil, fmt.Errorf("read the command line's grammar: %w", err)
	}
	addHelp(parser.Model)
	return parser, nil
}
