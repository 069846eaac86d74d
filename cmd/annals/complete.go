package main

import (
	"context"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/operate"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// filesPlease tells the shell to complete file names.
const filesPlease = ":files"

// complete prints the candidates for the last word, one per line, each with a tab and its description. The completion
// scripts of the shells call it.
func complete(ctx context.Context, c *terminal.Console, app *kong.Application, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	node, flag, positional := walk(app.Node, words[:len(words)-1])
	if node == nil {
		return
	}
	wordsFor := func(value *kong.Value) []candidate { return wordsFor(ctx, c, value, words) }
	if name, value, assigned := strings.Cut(last, "="); assigned && strings.HasPrefix(name, "--") {
		offer(c, name+"=", value, wordsFor(flagNamed(node, name)))
		return
	}
	switch {
	case flag != nil:
		offer(c, "", last, wordsFor(flag.Value))
	case strings.HasPrefix(last, "-"):
		offer(c, "", last, flagsOf(node))
	case len(node.Children) > 0:
		offer(c, "", last, commandsOf(node))
	case positional < len(node.Positional):
		offer(c, "", last, wordsFor(node.Positional[positional]))
	}
}

// candidate is a possible word with its description.
type candidate struct{ word, help string }

func offer(c *terminal.Console, before, begun string, candidates []candidate) {
	for _, each := range candidates {
		switch {
		case each.word == filesPlease:
			c.Print("%s", filesPlease)
		case strings.HasPrefix(each.word, begun):
			c.Print("%s%s\t%s", before, each.word, each.help)
		}
	}
}

// walk follows the words to the command that they name; nil if there is none. Waiting is the flag that still needs
// its value, or nil. Positional counts the arguments before the last word.
func walk(node *kong.Node, words []string) (at *kong.Node, waiting *kong.Flag, positional int) {
	for _, word := range words {
		switch {
		case word == "=": // bash splits --flag=value
		case waiting != nil:
			waiting = nil
		case strings.HasPrefix(word, "-"):
			if !strings.Contains(word, "=") {
				waiting = flagOf(node, word)
			}
		default:
			if child := childOf(node, word); child != nil {
				node = child
			} else if len(node.Children) > 0 {
				return nil, nil, 0
			} else {
				positional++
			}
		}
	}
	return node, waiting, positional
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagOf finds a flag that takes a value.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, flags := range node.AllFlags(true) {
		for _, flag := range flags {
			named := word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short)
			if named && !flag.IsBool() {
				return flag
			}
		}
	}
	return nil
}

func flagNamed(node *kong.Node, name string) *kong.Value {
	if flag := flagOf(node, name); flag != nil {
		return flag.Value
	}
	return nil
}

func flagsOf(node *kong.Node) []candidate {
	var all []candidate
	for _, flags := range node.AllFlags(true) {
		for _, flag := range flags {
			all = append(all, candidate{"--" + flag.Name, flag.Help})
		}
	}
	return all
}

func commandsOf(node *kong.Node) []candidate {
	var all []candidate
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, candidate{child.Name, child.Help})
		}
	}
	return all
}

// wordsFor lists the values that a flag or an argument takes, by its complete tag.
func wordsFor(ctx context.Context, c *terminal.Console, value *kong.Value, words []string) []candidate {
	if value == nil {
		return nil
	}
	kind := value.Tag.Get("complete")
	switch kind {
	case "file":
		return []candidate{{word: filesPlease}}
	case "ids", "sessions", "keys", "scopes":
		return known(ctx, c, kind, words)
	}
	var policies []string
	for _, policy := range domain.ConfidencePolicies() {
		policies = append(policies, policy.Name)
	}
	if words := map[string][]candidate{
		"policies":     candidates(policies),
		"shells":       candidates([]string{"bash", "zsh", "fish"}),
		"projections":  candidates([]string{"knowledge"}),
		"followers":    candidates([]string{"meaning", "past", "extraction", "proof", "review"}),
		"replayable":   candidates(operate.Replayable),
		"types":        candidates(domain.Types),
		"contexts":     candidates(domain.ContextTypes),
		"categories":   candidates(domain.Categories),
		"polarities":   candidates(domain.Polarities),
		"verdicts":     candidates(domain.Verdicts),
		"stages":       candidates(domain.Stages),
		"queues":       candidates(domain.Queues()),
		"orders":       candidates([]domain.Order{domain.ByPriority, domain.ByScore}),
		"visibilities": candidates([]domain.Visibility{domain.Private, domain.Shared, domain.OrgWide, domain.PublicWide}),
		"similar":      candidates(domain.OnSimilars),
		"statuses":     candidates(domain.Statuses),
	}[kind]; words != nil {
		return words
	}
	if value.Enum == "" {
		return nil
	}
	return candidates(value.EnumSlice())
}

func candidates[T ~string](words []T) []candidate {
	all := make([]candidate, len(words))
	for i, word := range words {
		all[i] = candidate{word: string(word)}
	}
	return all
}
