package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// A setting is a flag that an environment variable can give, too. A flag wins over its variable, the variable over the
// configuration file, and the file over the default.

// settings are what the configuration file says. They implement [kong.Resolver].
type settings struct {
	file   string
	values map[string]string
}

var _ kong.Resolver = settings{}

// settingsIn reads the configuration file that the arguments or ANNALS_CONFIG name, or else the default one if it exists.
func settingsIn(args []string) (settings, error) {
	named := os.Getenv("ANNALS_CONFIG")
	for i, arg := range args {
		if file, is := strings.CutPrefix(arg, "--config="); is {
			named = file
		} else if arg == "--config" && i+1 < len(args) {
			named = args[i+1]
		}
	}
	base := os.Getenv("XDG_CONFIG_HOME")
	if home, err := os.UserHomeDir(); err == nil && !filepath.IsAbs(base) {
		base = filepath.Join(home, ".config")
	}
	s := settings{file: cmp.Or(named, filepath.Join(base, "annals", "annals.yaml"))}
	written, err := os.ReadFile(s.file)
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	values := map[string]any{}
	if err == nil {
		err = yaml.Unmarshal(written, &values)
	}
	if err != nil {
		return s, wrong("name another with --config FILE or ANNALS_CONFIG", "the configuration file cannot be read: %s", withoutValues(err))
	}
	s.values = map[string]string{}
	for name, value := range values {
		switch value := value.(type) {
		case nil:
		case []any:
			words := make([]string, len(value))
			for i, word := range value {
				words[i] = fmt.Sprint(word)
			}
			s.values[name] = strings.Join(words, ",")
		default:
			s.values[name] = fmt.Sprint(value)
		}
	}
	return s, nil
}

var quotedValue = regexp.MustCompile("`[^`]*`")

// withoutValues leaves out what a file says where it cannot be read: it may be a secret.
func withoutValues(err error) string { return quotedValue.ReplaceAllString(err.Error(), "a value") }

// check refuses a setting that no command has.
func (s settings) check(app *kong.Application) error {
	known := settingsOf(app)
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		if known[name] == nil {
			return wrong("annals config lists the settings", "%s: there is no setting %s", s.file, printable(name))
		}
	}
	return nil
}

// Validate implements [kong.Resolver]. The whole file is checked once, against all commands.
func (settings) Validate(*kong.Application) error { return nil }

// Resolve implements [kong.Resolver].
func (s settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, given := s.values[flag.Name]
	if !given || variableOf(flag) != "" || len(flag.Envs) == 0 {
		return nil, nil
	}
	return value, nil
}

// variableOf is the variable that gives a flag its value; empty if none does.
func variableOf(flag *kong.Flag) string {
	for _, variable := range flag.Envs {
		if os.Getenv(variable) != "" {
			return variable
		}
	}
	return ""
}

// settingsOf are the settings of all commands, by name.
func settingsOf(app *kong.Application) map[string]*kong.Flag {
	all := map[string]*kong.Flag{}
	for _, command := range app.Leaves(false) {
		for _, flag := range command.Flags {
			if len(flag.Envs) > 0 {
				all[flag.Name] = flag
			}
		}
	}
	return all
}

// secrets are variables that no flag shows.
var secrets = []string{
	"ANNALS_ROOT_KEY", "ANNALS_EMBEDDING_KEY", "ANNALS_EMBEDDING_PREVIOUS_KEY", "ANNALS_LLM_KEY", "OPENAI_API_KEY", "ARK_API_KEY",
}

// unknownVariables are those of the environment that look like settings, and are none.
func unknownVariables(app *kong.Application, environment []string) []string {
	known := slices.Clone(secrets)
	for _, flag := range settingsOf(app) {
		known = append(known, flag.Envs...)
	}
	for _, flag := range app.Flags {
		known = append(known, flag.Envs...)
	}
	var unknown []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		own := !slices.ContainsFunc([]string{"ANNALS_TEST_", "ANNALS_PG_", "ANNALS_POSTGRES_", "ANNALS_READS_APART"}, func(of string) bool {
			return strings.HasPrefix(name, of) // of tests, of scripts, of compose.yaml and of this program
		})
		if strings.HasPrefix(name, "ANNALS_") && own && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

type configCommand struct {
	config
	remote
	tabular
}

// Help implements kong.HelpProvider.
func (configCommand) Help() string {
	return `A setting is given by a flag, by its variable, or by a line of annals.yaml, such as "listen: 127.0.0.1:8080"; the first
of them wins. Default file: $XDG_CONFIG_HOME/annals/annals.yaml, or ~/.config/annals/annals.yaml. Keys and passwords are not shown.

Examples:

    annals config
    annals config --config annals.yaml --json`
}

// setting is an effective setting, and what it comes from.
type setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // flag, default, the variable or the file
}

// Run implements the command.
func (s *configCommand) Run(c *console, parsed *kong.Context) error {
	s.config = s.complete()
	var all []setting
	for _, flag := range parsed.Selected().Flags {
		if len(flag.Envs) > 0 {
			all = append(all, setting{flag.Name, effective(flag), c.originOf(parsed, flag)})
		}
	}
	for _, variable := range secrets {
		if os.Getenv(variable) != "" {
			all = append(all, setting{strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, "ANNALS_")), "_", "-"), notShown, variable})
		}
	}
	if c.json {
		return c.document(map[string]any{"settings": all, "file": c.settings.file})
	}
	rows := &grid{heads: []string{"SETTING", "VALUE", "ORIGIN"}}
	for _, each := range all {
		rows.row(each.Name, printable(each.Value), printable(each.Origin))
	}
	return s.show(c, rows)
}

const notShown = "(not shown)"

var (
	credentials = regexp.MustCompile(`://\S*@`)
	parameters  = regexp.MustCompile(`\?\S*`)
)

// effective is a setting's value, without what may be secret.
func effective(flag *kong.Flag) string {
	if flag.Target.Kind() == reflect.Pointer && flag.Target.IsNil() {
		return ""
	}
	value := fmt.Sprint(flag.Target.Interface())
	switch {
	case flag.Target.Kind() == reflect.Slice:
		value = strings.Trim(value, "[]")
	case flag.Name == "api-key" && value != "":
		return notShown
	case flag.Name == "database":
		return databaseName(value)
	}
	if strings.Contains(value, "://") {
		value = parameters.ReplaceAllString(credentials.ReplaceAllString(value, "://…@"), "?…")
	}
	return value
}

// originOf is what gives a flag its value.
func (c *console) originOf(parsed *kong.Context, flag *kong.Flag) string {
	_, inFile := c.settings.values[flag.Name]
	switch variable := variableOf(flag); {
	case onCommandLine(parsed, flag.Name):
		return "flag"
	case variable != "":
		return variable
	case inFile:
		return c.settings.file
	}
	return "default"
}
