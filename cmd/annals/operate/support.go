package operate

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/client"
)

type SupportCommand struct {
	examined

	Profile int    `least:"0" placeholder:"SECONDS"`
	File    string `arg:"" optional:"" complete:"file"`
}

// missing is a part that the bundle lacks.
type missing struct {
	Part   string `json:"part"`
	Reason string `json:"reason"`
}

func (s *SupportCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := s.Connect()
	if err != nil {
		return err
	}
	e, reached := s.examine(ctx, c, server)
	var file bytes.Buffer
	bundle := zip.NewWriter(&file)
	var errs []error
	add := func(name string, content []byte) {
		to, err := bundle.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now()})
		if err == nil {
			_, err = to.Write(content)
		}
		errs = append(errs, err)
	}
	asJSON := func(v any) []byte {
		content, err := json.MarshalIndent(v, "", "  ")
		errs = append(errs, err)
		return content
	}
	parts, lacking := []string{"doctor.json"}, []missing{}
	add("doctor.json", asJSON(map[string]any{"client": terminal.Version(), "checks": e.findings}))
	for _, part := range s.parts() {
		answer, err := server.Do(ctx, part.from, nil)
		if err != nil && (answer == nil || part.name != "readiness.json") { // 503 has the reasons
			lacking = append(lacking, missing{part.name, terminal.AsFailure(err).Line()})
			continue
		}
		parts = append(parts, part.name)
		add(part.name, answer.Body)
	}
	if len(lacking) > 0 {
		add("missing.json", asJSON(lacking))
	}
	name := cmp.Or(s.File, "annals-support-"+time.Now().UTC().Format("20060102T150405Z")+".zip")
	if err := errors.Join(append(errs, bundle.Close())...); err != nil {
		return err
	}
	if err := terminal.WriteText(c, name, file.Bytes()); err != nil {
		return err
	}
	if c.JSON {
		err = c.Document(map[string]any{"file": name, "parts": parts, "missing": lacking})
	} else {
		c.Say("%s: %s", terminal.Bold.Render(name), strings.Join(parts, ", "))
		for _, part := range lacking {
			c.Warn("without %s: %s", part.Part, part.Reason)
		}
		c.Note("It contains no texts, questions or keys, but names of tenants, scopes, hosts and directories.")
	}
	switch {
	case err != nil:
		return err
	case !reached:
		return &terminal.Failure{Code: terminal.ExitUnavailable, Detail: "no server to ask"}
	case len(lacking) > 0:
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: terminal.Several(len(lacking), "part") + " missing"}
	}
	return nil
}

// part is a file of the bundle, as the server answers it.
type part struct {
	name string
	from client.Request
}

func (s *SupportCommand) parts() []part {
	all := []part{
		{"readiness.json", client.Get("readyz")},
		{"settings.json", client.Get("v1", "settings")},
		{"projections.json", client.Get("v1", "projections")},
		{"metrics.txt", client.Get("metrics")},
		{"warnings.txt", client.Get("v1", "debug", "warnings")},
		{"goroutines.txt", client.Get("v1", "debug", "goroutines")},
	}
	if s.Profile > 0 {
		profile := client.Get("v1", "debug", "profile")
		profile.Query = url.Values{"seconds": {strconv.Itoa(s.Profile)}}
		all = append(all, part{"profile.pprof", profile})
	}
	return all
}
