package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/annals-kb/annals/domain/text"
)

// A setting is a flag that an environment variable or the configuration file can also set. A flag overrides its
// variable, the variable overrides the file, and the file overrides the default.

// Settings are the settings in the configuration file. They implement [kong.Resolver].
type Settings struct {
	File   string
	Values map[string]string
}

var _ kong.Resolver = Settings{}

// ConfigHome is the directory that has a folder with settings of each program.
func ConfigHome() string {
	base := os.Getenv("XDG_CONFIG_HOME")
	if home, err := os.UserHomeDir(); err == nil && !filepath.IsAbs(base) {
		base = filepath.Join(home, ".config")
	}
	return base
}

// SettingsIn reads the configuration file that the arguments or ANNALS_CONFIG name. Otherwise it reads the default
// file if it exists.
func SettingsIn(args []string) (Settings, error) {
	named := os.Getenv("ANNALS_CONFIG")
	for i, arg := range args {
		if file, is := strings.CutPrefix(arg, "--config="); is {
			named = file
		} else if arg == "--config" && i+1 < len(args) {
			named = args[i+1]
		}
	}
	s := Settings{File: cmp.Or(named, filepath.Join(ConfigHome(), "annals", "annals.yaml"))}
	written, err := os.ReadFile(s.File)
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	values := map[string]any{}
	if err == nil {
		err = yaml.Unmarshal(written, &values)
	}
	if err != nil {
		return s, Wrong("name another with --config FILE or ANNALS_CONFIG", "the configuration file cannot be read: %s",
			withoutValues(err))
	}
	s.Values = map[string]string{}
	for name, value := range values {
		switch value := value.(type) {
		case nil:
		case []any:
			words := make([]string, len(value))
			for i, word := range value {
				words[i] = fmt.Sprint(word)
			}
			s.Values[name] = strings.Join(words, ",")
		default:
			s.Values[name] = fmt.Sprint(value)
		}
	}
	return s, nil
}

var quotedValue = regexp.MustCompile("`[^`]*`")

// withoutValues removes the values from an error about the file, since they may be secrets.
func withoutValues(err error) string { return quotedValue.ReplaceAllString(err.Error(), "a value") }

// Check refuses a setting that no command has.
func (s Settings) Check(app *kong.Application) error {
	known := settingsOf(app)
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		if known[name] == nil {
			return Wrong(Joined("; ", meant(name, slices.Collect(maps.Keys(known))), "annals config lists the settings"),
				"%s: there is no setting %s", s.File, Printable(name))
		}
	}
	return nil
}

// Validate implements [kong.Resolver]. The whole file is checked once, against all commands.
func (Settings) Validate(*kong.Application) error { return nil }

func (s Settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, given := s.Values[flag.Name]
	if !given || VariableOf(flag) != "" || len(flag.Envs) == 0 {
		return nil, nil
	}
	return value, nil
}

// VariableOf is the variable of a flag; empty if it has none.
func VariableOf(flag *kong.Flag) string {
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

// Secrets are the variables of settings without a flag.
var Secrets = []string{
	"ANNALS_ROOT_KEY", "ANNALS_EMBEDDING_KEY", "ANNALS_EMBEDDING_PREVIOUS_KEY", "ANNALS_LLM_KEY",
	"ANNALS_OIDC_CLIENT_SECRET", "ANNALS_BACKUP_PASSPHRASE", "OPENAI_API_KEY", "ARK_API_KEY",
}

// meant asks for the known name that differs least from an unknown one; empty if none is near.
func meant(name string, known []string) string {
	nearest := text.Nearest(name, known)
	if nearest == "" {
		return ""
	}
	return "did you mean " + nearest + "?"
}

// UnknownVariables are the environment's variables that look like settings but are none, each with the variable that
// was perhaps meant.
func UnknownVariables(app *kong.Application, environment []string) []string {
	known := slices.Clone(Secrets)
	for _, flag := range settingsOf(app) {
		known = append(known, flag.Envs...)
	}
	for _, flag := range app.Flags {
		known = append(known, flag.Envs...)
	}
	var unknown []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		own := !slices.ContainsFunc([]string{"ANNALS_TEST_", "ANNALS_PG_", "ANNALS_POSTGRES_", "ANNALS_READS_APART"},
			func(of string) bool {
				return strings.HasPrefix(name, of) // of tests, of scripts, of compose.yaml and of this program
			})
		if strings.HasPrefix(name, "ANNALS_") && own && !slices.Contains(known, name) {
			unknown = append(unknown, Joined("; ", "the variable "+name+" is unknown and has no effect", meant(name, known)))
		}
	}
	return unknown
}
