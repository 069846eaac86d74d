package main

import (
	"github.com/annals-kb/annals/cmd/annals/agents" // part: agents
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/operate"
	"github.com/annals-kb/annals/cmd/annals/record"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// grammar is the command line: one field per command, its flags in the command's own struct.
type grammar struct {
	JSON bool `name:"json"`

	Config string `env:"ANNALS_CONFIG" complete:"file" placeholder:"FILE"`

	Remember  knowledge.RememberCommand  `cmd:"" group:"know"`
	Search    knowledge.SearchCommand    `cmd:"" group:"know"`
	Context   knowledge.ContextCommand   `cmd:"" group:"know"`
	List      knowledge.ListCommand      `cmd:"" group:"know"`
	Who       knowledge.WhoCommand       `cmd:"" group:"know"`
	Get       knowledge.GetCommand       `cmd:"" group:"know"`
	Revise    knowledge.ReviseCommand    `cmd:"" group:"know"`
	Supersede knowledge.SupersedeCommand `cmd:"" group:"know"`
	Merge     knowledge.MergeCommand     `cmd:"" group:"know"`
	Unmerge   knowledge.UnmergeCommand   `cmd:"" group:"know"`
	Propose   knowledge.ProposeCommand   `cmd:"" group:"know"`
	Forget    knowledge.ForgetCommand    `cmd:"" group:"know"`
	Erase     operate.EraseCommand       `cmd:"" group:"know"`
	Restore   operate.RestoreCommand     `cmd:"" group:"know"`

	Session knowledge.SessionCommands `cmd:"" group:"know"`

	Feedback knowledge.FeedbackCommand `cmd:"" group:"learn"`
	Stale    knowledge.StaleCommand    `cmd:"" group:"learn"`
	Confirm  knowledge.ConfirmCommand  `cmd:"" group:"learn"`
	Review   knowledge.ReviewCommand   `cmd:"" group:"learn"`

	History record.HistoryCommand `cmd:"" group:"record"`
	Log     record.LogCommand     `cmd:"" group:"record"`
	Watch   record.WatchCommand   `cmd:"" group:"record"`
	Digest  record.DigestCommand  `cmd:"" group:"record"` // part: webhooks
	Report  record.ReportCommands `cmd:"" group:"record"`
	Import  record.ImportCommand  `cmd:"" group:"record"`
	Export  record.ExportCommands `cmd:"" group:"record"`

	Subscription record.SubscriptionCommands `cmd:"" group:"record"` // part: webhooks

	Receipt  record.ReceiptCommands `cmd:"" group:"record"` // part: receipts
	Evidence record.EvidenceCommand `cmd:"" group:"record"` // part: receipts

	Verify record.VerifyCommand `cmd:"" group:"record"` // part: proofs
	Proof  record.ProofCommands `cmd:"" group:"record"` // part: proofs

	Serve      serve.ServeCommand            `cmd:"" group:"run"`
	MCP        serve.McpCommand              `cmd:"" name:"mcp" group:"run"` // part: mcp
	Install    agents.InstallCommand         `cmd:"" group:"run"`            // part: agents
	Uninstall  agents.UninstallCommand       `cmd:"" group:"run"`            // part: agents
	Hook       agents.HookCommand            `cmd:"" group:"run"`            // part: agents
	Console    serve.ConsoleCommand          `cmd:"" group:"run"`            // part: console
	Backup     operate.BackupCommand         `cmd:"" group:"run"`            // part: backup
	Migrate    operate.MigrateCommand        `cmd:"" group:"run"`
	Rebuild    operate.RebuildCommand        `cmd:"" group:"run"`
	Replay     operate.ReplayCommand         `cmd:"" group:"run"`
	Quarantine operate.QuarantineCommands    `cmd:"" group:"run"`
	Doctor     operate.DoctorCommand         `cmd:"" group:"run"`
	Support    operate.SupportCommand        `cmd:"" group:"run"`
	Contain    operate.ContainCommands       `cmd:"" group:"run"` // part: contain
	Hold       operate.HoldCommand           `cmd:"" group:"run"`
	Release    operate.ReleaseCommand        `cmd:"" group:"run"`
	Key        operate.KeyCommands           `cmd:"" group:"run"`
	Scrub      operate.ScrubCommands         `cmd:"" group:"run"`
	Tenant     operate.TenantCommands        `cmd:"" group:"run"`
	Directory  operate.DirectoryFileCommands `cmd:"" group:"people"`
	User       operate.DirectoryCommands     `cmd:"" group:"people"`
	Agent      operate.DirectoryCommands     `cmd:"" group:"people"`
	Team       operate.DirectoryCommands     `cmd:"" group:"people"`
	Project    operate.DirectoryCommands     `cmd:"" group:"people"`
	Org        operate.DirectoryCommands     `cmd:"" group:"people"`
	Member     operate.MemberCommands        `cmd:"" group:"people"`
	Policy     operate.PolicyCommands        `cmd:"" group:"people"` // part: policies
	Settings   serve.ConfigCommand           `cmd:"" name:"config" group:"run"`
	Whoami     operate.WhoamiCommand         `cmd:"" group:"run"`
	Version    terminal.VersionCommand       `cmd:"" group:"run"`
	Completion completionCommand             `cmd:"" group:"run"`
}
