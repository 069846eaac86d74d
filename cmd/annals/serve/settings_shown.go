package serve

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
)

type ConfigCommand struct {
	Config
	terminal.Remote
	terminal.Tabular
}

func (s *ConfigCommand) Run(c *terminal.Console, parsed *kong.Context) error {
	s.Config = s.Complete()
	shown := settingsShown(c, parsed)
	if c.JSON {
		return c.Document(map[string]any{"settings": shown.Items, "file": shown.File})
	}
	rows := terminal.NewTable("SETTING", "VALUE", "ORIGIN")
	for _, each := range shown.Items {
		rows.Row(each.Name, each.Value, each.Origin)
	}
	if err := s.Show(c, rows); err != nil {
		return err
	}
	c.Note("These are the settings of this shell. Those of a server: /console/settings, or GET /v1/settings.")
	return nil
}

// settingsShown are the effective settings of a command, without secrets.
func settingsShown(c *terminal.Console, parsed *kong.Context) api.Settings {
	shown := api.Settings{File: c.Settings.File}
	for _, flag := range parsed.Selected().Flags {
		if len(flag.Envs) > 0 {
			one := api.Setting{
				Name: flag.Name, Value: effective(flag), Origin: originOf(c, parsed, flag), Variable: flag.Envs[0], Help: flag.Help,
			}
			if flag.Group != nil {
				one.Group = flag.Group.Key
			}
			shown.Items = append(shown.Items, one)
		}
	}
	for _, variable := range terminal.Secrets {
		if os.Getenv(variable) != "" {
			name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, "ANNALS_")), "_", "-")
			shown.Items = append(shown.Items,
				api.Setting{Name: name, Value: notShown, Origin: variable, Variable: variable, Group: "secrets"})
		}
	}
	return shown
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
