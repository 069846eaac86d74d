package terminal

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// release is the version of a released program; the linker sets it.
var release string

type VersionCommand struct{}

// Build describes the program.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source
	Time     string `json:"time,omitempty"`     // of the revision
	Modified bool   `json:"modified,omitempty"` // the source was modified after the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (VersionCommand) Run(c *Console) error {
	b := Version()
	if c.JSON {
		return c.Document(b)
	}
	revision := shortened(b.Revision)
	if strings.Contains(b.Version, revision) {
		revision = ""
	}
	c.Say("annals %s · %s · %s", Joined(" ", b.Version, revision), b.Go, b.Platform)
	return nil
}

// Version reads the build information of the program.
func Version() Build {
	b := Build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if release != "" {
		b.Version = release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; release == "" && v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Revision = setting.Value
		case "vcs.time":
			b.Time = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}

func shortened(revision string) string { return revision[:min(12, len(revision))] }
