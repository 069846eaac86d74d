package serve

import (
	"cmp"
	"log/slog"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// Logging says how the server's log looks. It goes to standard error and never holds what people wrote.
type Logging struct {
	// LogFormat is for people (text) or machines (json).
	LogFormat string `group:"limits" env:"ANNALS_LOG_FORMAT" enum:"text,json," default:"" placeholder:"WORD"`

	// LogLevel is the least that is worth a line.
	LogLevel string `group:"limits" env:"ANNALS_LOG_LEVEL" enum:"debug,info,warn,error," default:"" placeholder:"WORD"`
}

func (l Logging) Logger(c *terminal.Console) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cmp.Or(l.LogLevel, "info"))) // kong let nothing else in
	options := &slog.HandlerOptions{Level: level}
	if l.LogFormat == "json" || l.LogFormat == "" && !c.Watched {
		return slog.New(slog.NewJSONHandler(c.Err, options))
	}
	return slog.New(slog.NewTextHandler(c.Err, options))
}
