package record

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/proof"
)

// ProofCommands ask the server for what its log can be held to.
type ProofCommands struct {
	Key         proofKeyCommand         `cmd:""`
	Checkpoint  proofCheckpointCommand  `cmd:""`
	Event       proofEventCommand       `cmd:""`
	Consistency proofConsistencyCommand `cmd:""`
	NewKey      proofNewKeyCommand      `cmd:""`
}

type proofKeyCommand struct{ terminal.Remote }

// Run implements the command.
func (p *proofKeyCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	key, err := publicKey(ctx, server)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"key": key})
	}
	c.Print("%s", key)
	return nil
}

func publicKey(ctx context.Context, server *client.Client) (string, error) {
	var given api.LogKey
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "log", "key"}}, &given)
	return given.Key, err
}

// keyIn is a key, or the first one in a file of that name.
func keyIn(said string) string {
	if text, err := os.ReadFile(said); err == nil && len(strings.Fields(string(text))) > 0 {
		return strings.Fields(string(text))[0]
	}
	return said
}

type proofCheckpointCommand struct{ terminal.Remote }

// Run implements the command.
func (p *proofCheckpointCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	note, answer, err := newestNote(ctx, server)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(answer.Body)
	}
	_, err = fmt.Fprint(c.Out, note)
	return err
}

// newestNote is the newest checkpoint as it was signed, and all of the answer.
func newestNote(ctx context.Context, server *client.Client) (string, *client.Response, error) {
	var given api.Checkpoint
	answer, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "log", "checkpoint"}}, &given)
	if err == nil && given.Note == "" {
		err = &terminal.Failure{Code: terminal.ExitUnavailable, Detail: "nothing is signed yet", Fix: "the first event that is recorded is signed a second or two later: ask again"}
	}
	return given.Note, answer, err
}

type proofEventCommand struct {
	terminal.Remote

	Event []string `arg:"" name:"event"`
	Key   string   `env:"ANNALS_LOG_KEYS" placeholder:"KEY"`
}

// Run implements the command.
func (p *proofEventCommand) Run(ctx context.Context, c *terminal.Console) error {
	receipt, err := receiptOf(p.Event)
	if err != nil {
		return err
	}
	server, err := p.Connect()
	if err != nil {
		return err
	}
	var certificate proof.Certificate
	answer, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "log", "proof", receipt.EventID}}, &certificate)
	if err != nil {
		return err
	}
	if err := receipt.Check(certificate); err != nil {
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: "not verified: " + err.Error(), Fix: "annals verify names the place"}
	}
	if c.JSON {
		return c.Document(answer.Body)
	}
	key, trusted := keyIn(p.Key), "the key that you named"
	if key == "" {
		trusted = "the server's own key"
		if key, err = publicKey(ctx, server); err != nil {
			return err
		}
	}
	if err := verifyCertificate(c, certificate, []string{key}); err != nil {
		return err
	}
	c.Say("signed with %s", trusted)
	return nil
}

// receiptOf is an event's id, or a receipt, in one word or in three.
func receiptOf(said []string) (r proof.Receipt, err error) {
	words := strings.Fields(strings.Join(said, " "))
	switch len(words) {
	case 1:
		return proof.Receipt{EventID: words[0]}, nil
	case 3:
		if r, err = proof.ParseReceipt(words); err == nil {
			return r, nil
		}
	}
	return r, terminal.Wrong("as in annals proof event ID, or annals proof event ID POSITION HASH", "that is neither an event's id nor a receipt")
}

type proofConsistencyCommand struct {
	terminal.Remote

	File string `arg:"" complete:"file"`
	Key  string `env:"ANNALS_LOG_KEYS" placeholder:"KEY"`
}

// Run implements the command.
func (p *proofConsistencyCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	key := keyIn(p.Key)
	if key == "" {
		if key, err = publicKey(ctx, server); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(p.File)
	if err != nil {
		return terminal.Wrong("it is the text that annals proof checkpoint prints", "the checkpoint cannot be read: %s", err)
	}
	if !proof.IsCheckpoint(string(text)) {
		return terminal.Wrong("it is the text that annals proof checkpoint prints", "%s is no checkpoint", p.File)
	}
	kept, err := proof.Open(string(text), key)
	if err != nil {
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: "the checkpoint that was kept: " + err.Error(), Fix: "name the key that signed it with --key"}
	}
	now, err := newest(ctx, server, key)
	if err != nil {
		return err
	}
	if now.Size < kept.Size {
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: fmt.Sprintf("the log was cut: it had %d events, and has %d", kept.Size, now.Size)}
	}
	var path api.Consistency
	if kept.Size > 0 {
		query := url.Values{"from": {strconv.FormatInt(kept.Size, 10)}, "to": {strconv.FormatInt(now.Size, 10)}}
		if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "log", "consistency"}, Query: query}, &path); err != nil {
			return err
		}
		if err := proof.CheckConsistency(kept, now, path.Path); err != nil {
			return &terminal.Failure{Code: terminal.ExitFailed, Detail: "not verified: " + err.Error(), Fix: "annals verify names the place"}
		}
	}
	if c.JSON {
		return c.Document(map[string]any{
			"verified": true, "from": kept.Size, "to": now.Size, "origin": now.Origin,
			"earlier": string(text), "later": now.Note, "path": path.Path,
		})
	}
	c.Say("%s: %s has %d events, and the first %d are those of the checkpoint", terminal.Green.Render("verified"), now.Origin, now.Size, kept.Size)
	return nil
}

// newest is the newest checkpoint, signed by the key.
func newest(ctx context.Context, server *client.Client, key string) (domain.Checkpoint, error) {
	note, _, err := newestNote(ctx, server)
	if err != nil {
		return domain.Checkpoint{}, err
	}
	c, err := proof.Open(note, key)
	if err != nil {
		return c, &terminal.Failure{Code: terminal.ExitFailed, Detail: "the newest checkpoint: " + err.Error()}
	}
	return c, nil
}

type proofNewKeyCommand struct {
	serve.Storage

	LogName string `env:"ANNALS_LOG_NAME" default:"annals" placeholder:"NAME"`
}

// Run implements the command.
func (p *proofNewKeyCommand) Run(c *terminal.Console) error {
	if err := proof.CheckName(p.LogName); err != nil {
		return terminal.Wrong("as in --log-name annals.example.com", "%s", err)
	}
	data := p.Opened(c).Data
	if err := serve.MakeData(data); err != nil {
		return err
	}
	key, err := proof.NewKey(data, p.LogName)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"key": key.Public(), "known": proof.PublicKeys(data)})
	}
	c.Print("%s", key.Public())
	return nil
}
