package main

import (
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/operate"
	"github.com/annals-kb/annals/cmd/annals/record"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// grammar is the command line: one field per command, its flags in the command's own struct.
type grammar struct {
	JSON bool `name:"json" help:"Answer in JSON, for scripts. Errors come as JSON on standard error."`

	Config string `env:"ANNALS_CONFIG" complete:"file" placeholder:"FILE" help:"The configuration file. Default: ~/.config/annals/annals.yaml, if it exists. annals config shows what is in effect."`

	Remember  knowledge.RememberCommand  `cmd:"" group:"know" help:"Remember a piece of knowledge."`
	Search    knowledge.SearchCommand    `cmd:"" group:"know" help:"Find what is known about something."`
	Context   knowledge.ContextCommand   `cmd:"" group:"know" help:"Show what an agent should know at a moment of its work, as Markdown for its prompt."`
	List      knowledge.ListCommand      `cmd:"" group:"know" help:"List what is known, newest first."`
	Get       knowledge.GetCommand       `cmd:"" group:"know" help:"Show a piece of knowledge."`
	Revise    knowledge.ReviseCommand    `cmd:"" group:"know" help:"Change what a piece of knowledge says, whom it reaches or whose it is."`
	Supersede knowledge.SupersedeCommand `cmd:"" group:"know" help:"Let another piece of knowledge take this one's place."`
	Forget    knowledge.ForgetCommand    `cmd:"" group:"know" help:"Take a piece of knowledge out of all answers. Its history stays."`
	Erase     operate.EraseCommand       `cmd:"" group:"know" help:"Destroy what people wrote about a piece of knowledge, or all of somebody's, for good."`
	Restore   knowledge.RestoreCommand   `cmd:"" group:"know" help:"Bring back what was forgotten or superseded."`

	Session knowledge.SessionCommands `cmd:"" group:"know" help:"Keep conversations, and learn from them."`

	Feedback knowledge.FeedbackCommand `cmd:"" group:"learn" help:"Say that knowledge was helpful or harmful, or take that back."`
	Stale    knowledge.StaleCommand    `cmd:"" group:"learn" help:"Report that knowledge is out of date."`
	Confirm  knowledge.ConfirmCommand  `cmd:"" group:"learn" help:"Say that knowledge still holds: reports of staleness end."`

	History record.HistoryCommand `cmd:"" group:"record" help:"Show how a piece of knowledge came to be: who, when, why, what."`
	Log     record.LogCommand     `cmd:"" group:"record" help:"Show the log: everything that happened, to any piece of knowledge."`
	Report  record.ReportCommands `cmd:"" group:"record" help:"Answer an auditor: who did what, what changed, what did harm, who relied on it."`
	Import  record.ImportCommand  `cmd:"" group:"record" help:"Remember many pieces of knowledge from a file."`
	Export  record.ExportCommands `cmd:"" group:"record" help:"Write the knowledge or the log as lines of JSON."`

	Verify record.VerifyCommand `cmd:"" group:"record" help:"Verify that nobody rewrote the log, in the database or in an export."`
	Proof  record.ProofCommands `cmd:"" group:"record" help:"Ask for what the log can be held to: its key, checkpoints, proofs."`

	Serve      serve.ServeCommand         `cmd:"" group:"run" help:"Run the server."`
	MCP        serve.McpCommand           `cmd:"" name:"mcp" group:"run" help:"Let an MCP host that starts this command use the memory."`
	Migrate    operate.MigrateCommand     `cmd:"" group:"run" help:"Bring the database to this version's schema."`
	Rebuild    operate.RebuildCommand     `cmd:"" group:"run" help:"Compute a projection anew while everybody keeps working; go back to the one before."`
	Reread     operate.RereadCommand      `cmd:"" group:"run" help:"Let a background projection read the log again from its beginning."`
	Quarantine operate.QuarantineCommands `cmd:"" group:"run" help:"See, replay or skip what a background projection could not take in."`
	Doctor     operate.DoctorCommand      `cmd:"" group:"run" help:"Check that everything works, and say how to mend what does not."`
	Hold       operate.HoldCommand        `cmd:"" group:"run" help:"Keep a piece of knowledge from being erased, for a legal case."`
	Release    operate.ReleaseCommand     `cmd:"" group:"run" help:"End a legal hold."`
	Key        operate.KeyCommands        `cmd:"" group:"run" help:"Give, list, rotate and revoke keys."`
	Scrub      operate.ScrubCommands      `cmd:"" group:"run" help:"Redact what is recorded already; say what is redacted in what people write."`
	Tenant     operate.TenantCommands     `cmd:"" group:"run" help:"Create and list tenants."`
	Settings   serve.ConfigCommand        `cmd:"" name:"config" group:"run" help:"Show the settings in effect, and what each comes from."`
	Whoami     operate.WhoamiCommand      `cmd:"" group:"run" help:"Show as whom the server knows you."`
	Version    terminal.VersionCommand    `cmd:"" group:"run" help:"Show the version."`
	Completion completionCommand          `cmd:"" group:"run" help:"Print the completion script of a shell."`
}

const description = `The memory that people and AI agents share, and the record of how it came to be.

  annals serve                                        in one shell, and in another
  annals remember "Retry 429s with jitter" --task "calling rate-limited APIs"
  annals search "how do I call a rate-limited API?"

Exit codes: 0 done · 1 failed, wholly or partly · 2 wrong usage, or a value that is not right ·
3 not found, forgotten or erased · 4 refused: forbidden, taken, in conflict · 5 server or database unavailable,
try again · 130 interrupted by Ctrl-C. docs/troubleshooting.md has the whole table.`
