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
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

type SupportCommand struct {
	examined

	Profile int64  `least:"0" placeholder:"SECONDS"`
	File    string `arg:"" optional:"" complete:"file"`
}

// bundle is the file, and what it has and lacks.
type bundle struct {
	File    string    `json:"file"`
	Parts   []string  `json:"parts"`
	Missing []missing `json:"missing"`

	reached bool
	to      *zip.Writer
}

type missing struct {
	Part   string `json:"part"`
	Reason string `json:"reason"`
}

func (s *SupportCommand) Run(ctx context.Context, c *terminal.Console) error {
	if s.Profile > api.MaxProfileSeconds {
		return terminal.Wrong("as in --profile 10", "a profile takes %d seconds at most", api.MaxProfileSeconds)
	}
	s.Timeout += time.Duration(s.Profile) * time.Second
	s.Retries = 3 // what the server's limit of requests holds up
	server, err := s.Connect()
	if err != nil {
		return err
	}
	b := bundle{
		File:    cmp.Or(s.File, "annals-support-"+time.Now().UTC().Format("20060102T150405Z")+".zip"),
		Missing: []missing{},
	}
	err = terminal.WriteFile(c, b.File, func(file *bytes.Buffer, flush func() error) error {
		b.to = zip.NewWriter(file)
		if err := errors.Join(s.fill(ctx, c, &b, server), b.to.Close()); err != nil {
			return err
		}
		return flush()
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.Document(b)
	} else {
		c.Say("%s: %s", terminal.Bold.Render(b.File), strings.Join(b.Parts, ", "))
		for _, part := range b.Missing {
			c.Warn("without %s: %s", part.Part, part.Reason)
		}
		c.Note("It contains no texts, questions or keys, but names of people, scopes, hosts and directories, and ids.")
	}
	switch {
	case err != nil:
		return err
	case !b.reached:
		return &terminal.Failure{Code: terminal.ExitUnavailable, Detail: "no server to ask"}
	case len(b.Missing) > 0:
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: terminal.Several(len(b.Missing), "part") + " missing"}
	}
	return nil
}

func (s *SupportCommand) fill(ctx context.Context, c *terminal.Console, b *bundle, server *client.Client) error {
	e, reached := s.examine(ctx, c, server)
	b.reached = reached
	err := b.add("doctor.json", map[string]any{"client": terminal.Version(), "checks": e.findings})
	for _, part := range s.parts() {
		if err != nil || !reached {
			break
		}
		answer, refusal := server.Do(ctx, part.from, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if refusal != nil && (answer == nil || part.name != "readiness.json") { // 503 has the reasons
			b.Missing = append(b.Missing, missing{part.name, terminal.AsFailure(refusal).Line()})
			continue
		}
		err = b.add(part.name, []byte(answer.Body))
	}
	if err == nil && len(b.Missing) > 0 {
		err = b.add("missing.json", b.Missing)
	}
	return err
}

// add adds a part: bytes as they are, and everything else as JSON.
func (b *bundle) add(name string, content any) error {
	text, isText := content.([]byte)
	if !isText {
		var err error
		if text, err = json.MarshalIndent(content, "", "  "); err != nil {
			return err
		}
	}
	to, err := b.to.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now()})
	if err == nil {
		_, err = to.Write(text)
	}
	b.Parts = append(b.Parts, name)
	return err
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
		profile.Query = url.Values{"seconds": {strconv.FormatInt(s.Profile, 10)}}
		all = append(all, part{"profile.pprof", profile})
	}
	return all
}
