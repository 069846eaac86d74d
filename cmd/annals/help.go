package main

import (
	"cmp"
	"strings"

	"github.com/alecthomas/kong"

	_ "embed"
)

// helpFile holds the texts of --help: the program's own, then a section per command with a summary, a
// description, and a line for each argument and flag. Another section describes the flags that several commands have;
// the section of a command can replace such a description.
//
//go:embed help.txt
var helpFile string

const sharedFlags = "flags of several commands"

// helpText is the section of a command in help.txt.
type helpText struct {
	summary, detail string
	values          map[string]string // by --flag or <argument>
}

// addHelp sets the help of the commands, arguments and flags.
func addHelp(app *kong.Application) {
	texts := readHelp()
	_ = kong.Visit(app, func(visited kong.Visitable, next kong.Next) error {
		node, isNode := visited.(*kong.Node)
		if app, is := visited.(*kong.Application); is {
			node, isNode = app.Node, true
		}
		if isNode {
			own := textOf(texts, node.Path())
			if node.Help, node.Detail = own.summary, own.detail; node.Type == kong.ApplicationNode {
				node.Help, node.Detail = own.summary+"\n\n"+own.detail, "" // the program's own help is not formatted
			}
			for _, argument := range node.Positional {
				argument.Help = own.values["<"+argument.Name+">"]
			}
			for _, flag := range node.Flags {
				name := "--" + flag.Name
				if flag.Help = own.values[name]; flag.Help == "" {
					flag.Help = texts[sharedFlags].values[name]
				}
			}
		}
		return next(nil) // never fails
	})
}

// textOf is the section of a command. The commands about agents and groups have the texts of those about users.
func textOf(texts map[string]helpText, path string) helpText {
	kind, command, _ := strings.Cut(path, " ")
	example, is := map[string]string{"agent": "coder", "team": "pay", "project": "checkout", "org": "acme"}[kind]
	own, found := texts[path]
	if found || !is {
		return own
	}
	own = texts[strings.TrimSpace("user "+command)]
	article := cmp.Or(map[string]string{"agent": "an", "org": "an"}[kind], "a")
	then := "which then passes nothing on"
	if kind == "agent" {
		then = "who then may do nothing"
	}
	words := strings.NewReplacer("a user", article+" "+kind, "who then may do nothing", then,
		"users", kind+"s", "user", kind, "mia", example, "Mia Chen", "Our "+kind)
	values := map[string]string{}
	for name, text := range own.values {
		values[name] = words.Replace(text)
	}
	return helpText{words.Replace(own.summary), words.Replace(own.detail), values}
}

func readHelp() map[string]helpText {
	texts := map[string]helpText{}
	for section := range strings.SplitSeq("\n"+helpFile, "\n## ") {
		path, lines, _ := strings.Cut(section, "\n")
		text := helpText{values: map[string]string{}}
		var about []string
		name := ""
		for line := range strings.Lines(lines) {
			first, rest, _ := strings.Cut(line, " ")
			if strings.HasPrefix(first, "--") || strings.HasPrefix(first, "<") {
				name = first
				text.values[name] = strings.TrimSpace(rest)
			} else if name == "" {
				about = append(about, line)
			} else {
				text.values[name] = strings.TrimSpace(text.values[name] + " " + strings.TrimSpace(line))
			}
		}
		text.summary, text.detail, _ = strings.Cut(strings.TrimSpace(strings.Join(about, "")), "\n\n")
		texts[path] = text
	}
	return texts
}
