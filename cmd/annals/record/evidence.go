package record

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/client"
)

// EvidenceCommand exports evidence of what was told.
type EvidenceCommand struct {
	terminal.Remote
	chosenReceipts

	Containment string `group:"answers" placeholder:"ID"`
	Output      string `short:"o" required:"" complete:"file" placeholder:"FILE"`
}

func (e *EvidenceCommand) Run(ctx context.Context, c *terminal.Console) error {
	query, err := e.query()
	if err != nil {
		return err
	}
	terminal.Put(query, "containment", e.Containment)
	if len(query) == 0 {
		return terminal.Wrong("as in --trace ID, --agent agent:coder --since 7d, or --item ID",
			"evidence needs something that it is about")
	}
	server, err := e.Connect()
	if err != nil {
		return err
	}
	q := client.Get(receiptPath("evidence")...)
	q.Query = query
	size := 0
	err = terminal.WriteFile(c, e.Output, func(out *bytes.Buffer, flush func() error) error {
		body, err := server.Open(ctx, q)
		if err != nil {
			return err
		}
		defer body.Close() //nolint:errcheck // it was only read
		for piece := make([]byte, 64<<10); ; {
			n, err := body.Read(piece)
			size += n
			out.Write(piece[:n])
			if flushed := flush(); flushed != nil {
				return flushed
			}
			if err == io.EOF { //nolint:errorlint // a body that was cut off wraps another
				return nil
			}
			if err != nil {
				return terminal.Unreachable(err, "the server broke off")
			}
		}
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(map[string]any{"file": e.Output, "bytes": size})
	}
	c.Say("%d bytes written to %s", size, e.Output)
	c.Note("%s", fmt.Sprintf("whoever gets it verifies it with the key that annals proof key prints: "+
		"unzip %s -d evidence && python3 evidence/verify.py --key KEY", e.Output))
	return nil
}
