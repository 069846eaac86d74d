package terminal

import (
	"cmp"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// UsageFailure converts an error of kong to a failure with a fix. Errors of our own commands and flags have
// precedence.
func UsageFailure(err error) error {
	detail, fix := err.Error(), "annals --help lists the commands"
	if parsing, ok := errors.AsType[*kong.ParseError](err); ok {
		if node := parsing.Context.Selected(); node != nil {
			fix = node.FullPath() + " --help shows how"
			if len(node.Positional) > 0 && strings.HasPrefix(err.Error(), "unexpected argument") {
				fix = "several words that belong together need quotes; " + fix
			}
		} else if flag, is := strings.CutPrefix(detail, "unknown flag "); is && isOfACommand(parsing.Context, flag) {
			fix = flag + " goes after the command; " + fix
		}
		detail = withVariable(parsing.Context, detail)
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		ours := *f
		ours.Fix = cmp.Or(f.Fix, fix)
		return &ours
	}
	return &Failure{Code: ExitUsage, Detail: detail, Fix: fix}
}

// isOfACommand tells whether a command has the flag.
func isOfACommand(parsed *kong.Context, flag string) bool {
	return slices.ContainsFunc(parsed.Model.Leaves(true), func(command *kong.Node) bool {
		return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return "--"+f.Name == flag })
	})
}

// withVariable adds the variable that a refused flag value comes from.
func withVariable(parsed *kong.Context, detail string) string {
	named, rest, _ := strings.Cut(detail, " ")
	for _, flag := range parsed.Flags() {
		if "--"+flag.Name != named || OnCommandLine(parsed, flag.Name) {
			continue
		}
		for _, variable := range flag.Envs {
			if os.Getenv(variable) != "" {
				return named + " (" + variable + " in the environment) " + rest
			}
		}
	}
	return detail
}

// CheckEmptyFlags refuses an empty value of a flag, which may come from an unset variable of a script: to ignore it
// would change the request.
func CheckEmptyFlags(parsed *kong.Context) error {
	counts := map[*kong.Flag]int{}
	for _, part := range parsed.Path {
		if part.Flag == nil || part.Resolved {
			continue
		}
		counts[part.Flag]++
		if !isEmpty(parsed.Value(part), counts[part.Flag]) {
			continue
		}
		fix := "leave the flag out if you mean none"
		if command := parsed.Selected(); command != nil {
			fix += "; " + command.FullPath() + " --help shows how"
		}
		return &Failure{Code: ExitUsage, Detail: "--" + part.Flag.Name + " must not be empty", Fix: fix}
	}
	return nil
}

// isEmpty tells whether a value is empty, contains an empty text, or has fewer values than times. A flag with values
// separated by commas drops empty ones.
func isEmpty(value reflect.Value, times int) bool {
	switch value.Kind() {
	case reflect.Pointer:
		return !value.IsNil() && isEmpty(value.Elem(), times)
	case reflect.String:
		return value.Len() == 0
	case reflect.Slice:
		for i := range value.Len() {
			if isEmpty(value.Index(i), 1) {
				return true
			}
		}
		return value.Len() < times
	}
	return false
}

// WantsJSON tells whether the arguments contain --json, even if they cannot be parsed.
func WantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		value, json := strings.CutPrefix(arg, "--json")
		return json && (value == "" || value == "=true")
	})
}

// OnCommandLine tells whether a flag was set on the command line. The environment may name the database of a server
// on this machine.
func OnCommandLine(parsed *kong.Context, flag string) bool {
	return slices.ContainsFunc(parsed.Path,
		func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == flag && !p.Resolved })
}
