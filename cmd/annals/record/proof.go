package record

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// ProofCommands are the commands about proofs of the log.
type ProofCommands struct {
	Key         proofKeyCommand         `cmd:""`
	Checkpoint  proofCheckpointCommand  `cmd:""`
	Event       proofEventCommand       `cmd:""`
	Consistency proofConsistencyCommand `cmd:""`
	NewKey      proofNewKeyCommand      `cmd:""`
}

type proofKeyCommand struct{ terminal.Remote }

func (p *proofKeyCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	key, err := publicKey(ctx, server, "")
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"key": key})
	}
	c.Print("%s", key)
	return nil
}

// publicKey is the named key, or the first key in the named file, or the server's own key without a name.
func publicKey(ctx context.Context, server *client.Client, named string) (string, error) {
	if text, err := os.ReadFile(named); err == nil && len(strings.Fields(string(text))) > 0 {
		return strings.Fields(string(text))[0], nil
	}
	if named != "" {
		return named, nil
	}
	var own api.LogKey
	_, err := server.Do(ctx, client.Get("v1", "log", "key"), &own)
	return own.Key, err
}

type proofCheckpointCommand struct{ terminal.Remote }

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

// newestNote is the newest signed checkpoint, and the response.
func newestNote(ctx context.Context, server *client.Client) (string, *client.Response, error) {
	var newest api.Checkpoint
	answer, err := server.Do(ctx, client.Get("v1", "log", "checkpoint"), &newest)
	if err == nil && newest.Note == "" {
		err = &terminal.Failure{
			Code: terminal.ExitUnavailable, Detail: "nothing is signed yet",
			Fix: "the first event is signed a second or two after it is recorded: ask again",
		}
	}
	return newest.Note, answer, err
}

type proofEventCommand struct {
	terminal.Remote

	Event []string `arg:"" name:"event"`
	Key   string   `env:"ANNALS_LOG_KEYS" placeholder:"KEY"`
}

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
	answer, err := server.Do(ctx, client.Get("v1", "log", "proof", receipt.EventID), &certificate)
	if err != nil {
		return err
	}
	if position, err := strconv.ParseInt(receipt.EventID, 10, 64); err == nil && position == certificate.Position {
		receipt.EventID = certificate.EventID
	}
	if err := receipt.Check(certificate); err != nil {
		return notVerified(err, "annals verify names the place")
	}
	if c.JSON {
		return c.Document(answer.Body)
	}
	key, err := publicKey(ctx, server, p.Key)
	if err == nil {
		err = verifyCertificate(c, certificate, []string{key})
	}
	if err != nil {
		return err
	}
	trusted := "the server's own key"
	if p.Key != "" {
		trusted = "the key that you named"
	}
	c.Say("signed with %s", trusted)
	return nil
}

// receiptOf parses an event's id or position, or a receipt, in one word or in three.
func receiptOf(input []string) (r proof.Receipt, err error) {
	words := strings.Fields(strings.Join(input, " "))
	switch len(words) {
	case 1:
		return proof.Receipt{EventID: words[0]}, nil
	case 3:
		if r, err = proof.ParseReceipt(words); err == nil {
			return r, nil
		}
	}
	return r, terminal.Wrong("as in annals proof event ID, or annals proof event ID POSITION HASH",
		"that is no id or position of an event, and no receipt")
}

type proofConsistencyCommand struct {
	terminal.Remote

	File string `arg:"" complete:"file"`
	Key  string `env:"ANNALS_LOG_KEYS" placeholder:"KEY"`
}

// checkpointIn reads the text of a checkpoint from a file.
func checkpointIn(name string) (string, error) {
	const fix = "it is the text that annals proof checkpoint prints"
	text, err := os.ReadFile(name)
	if err != nil {
		return "", terminal.Wrong(fix, "the checkpoint cannot be read: %s", err)
	}
	if !proof.IsCheckpoint(string(text)) {
		return "", terminal.Wrong(fix, "%s is no checkpoint", name)
	}
	return string(text), nil
}

func (p *proofConsistencyCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	key, err := publicKey(ctx, server, p.Key)
	if err != nil {
		return err
	}
	text, err := checkpointIn(p.File)
	if err != nil {
		return err
	}
	kept, err := proof.Open(text, key)
	if err != nil {
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "the checkpoint that was kept: " + err.Error(),
			Fix: "name the key that signed it with --key",
		}
	}
	note, _, err := newestNote(ctx, server)
	if err != nil {
		return err
	}
	now, err := proof.Open(note, key)
	if err != nil {
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: "the newest checkpoint: " + err.Error()}
	}
	if now.Size < kept.Size {
		detail := fmt.Sprintf("the log was cut: it had %d events, and has %d", kept.Size, now.Size)
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: detail}
	}
	var path api.Consistency
	if kept.Size > 0 {
		q := client.Get("v1", "log", "consistency")
		q.Query = url.Values{"from": {strconv.FormatInt(kept.Size, 10)}, "to": {strconv.FormatInt(now.Size, 10)}}
		if _, err := server.Do(ctx, q, &path); err != nil {
			return err
		}
		if err := proof.CheckConsistency(kept, now, path.Path); err != nil {
			return notVerified(err, "annals verify names the place")
		}
	}
	if c.JSON {
		return c.Document(map[string]any{
			"verified": true, "from": kept.Size, "to": now.Size, "origin": now.Origin,
			"earlier": text, "later": now.Note, "path": path.Path,
		})
	}
	c.Say("%s: %s has %d events, and the first %d are those of the checkpoint",
		terminal.Green.Render("verified"), now.Origin, now.Size, kept.Size)
	return nil
}

type proofNewKeyCommand struct {
	serve.Storage

	LogName string `env:"ANNALS_LOG_NAME" default:"annals" placeholder:"NAME"`
}

func (p *proofNewKeyCommand) Run(c *terminal.Console) error {
	if err := signing.CheckName(p.LogName); err != nil {
		return terminal.Wrong("as in --log-name annals.example.com", "%s", err)
	}
	data := p.Opened(c).Data
	if err := serve.CreateData(data); err != nil {
		return err
	}
	key, err := signing.NewKey(data, p.LogName)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"key": key.Public(), "known": signing.PublicKeys(data)})
	}
	c.Print("%s", key.Public())
	return nil
}
