package main

import (
	"fmt"

	"github.com/annals-kb/annals/cmd/annals/terminal"

	_ "embed"
)

type completionCommand struct {
	Shell string `arg:"" complete:"shells"`
}

//go:embed completion/annals.bash
var bashCompletion string

//go:embed completion/annals.zsh
var zshCompletion string

//go:embed completion/annals.fish
var fishCompletion string

func (s *completionCommand) Run(c *terminal.Console) error {
	script, known := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[s.Shell]
	if !known {
		return terminal.Wrong("as in: annals completion bash", "there is completion for bash, zsh and fish")
	}
	if c.JSON {
		return c.Document(map[string]string{"shell": s.Shell, "script": script})
	}
	_, err := fmt.Fprint(c.Out, script)
	return err
}
