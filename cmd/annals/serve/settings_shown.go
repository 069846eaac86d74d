package serve

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type ConfigCommand struct {
	Config
	terminal.Remote
	terminal.Tabular
}

// setting is an effective setting and its origin.
type setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // flag, default, the variable or the file
}

// Run implements the command.
func (s *ConfigCommand) Run(c *terminal.Console, parsed *kong.Context) error {
	s.Config = s.Complete()
	var all []setting
	for _, flag := range parsed.Selected().Flags {
		if len(flag.Envs) > 0 {
			all = append(all, setting{flag.Name, effective(flag), originOf(c, parsed, flag)})
		}
	}
	for _, variable := range terminal.Secrets {
		if os.Getenv(variable) != "" {
			all = append(all, setting{
				strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, "ANNALS_")), "_", "-"),
				notShown, variable,
			})
		}
	}
	if c.JSON {
		return c.Document(map[string]any{"settings": all, "file": c.Settings.File})
	}
	rows := terminal.NewTable("SETTING", "VALUE", "ORIGIN")
	for _, each := range all {
		rows.Row(each.Name, each.Value, each.Origin)
	}
	return s.Show(c, rows)
}

const notShown = "(not shown)"

var (
	credentials = regexp.MustCompile(`://\S*@`)
	parameters  = regexp.MustCompile(`\?\S*`)
)

// effective is a setting's value without secrets.
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
		return DatabaseName(value)
	}
	if strings.Contains(value, "://") {
		value = parameters.ReplaceAllString(credentials.ReplaceAllString(value, "://…@"), "?…")
	}
	return value
}

// originOf is the origin of a flag's value.
func originOf(c *terminal.Console, parsed *kong.Context, flag *kong.Flag) string {
	_, inFile := c.Settings.Values[flag.Name]
	switch variable := terminal.VariableOf(flag); {
	case terminal.OnCommandLine(parsed, flag.Name):
		return "flag"
	case variable != "":
		return variable
	case inFile:
		return c.Settings.File
	}
	return "default"
}
