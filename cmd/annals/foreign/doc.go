// Package foreign reads what other programs export: Notion, Confluence, Slack, and memories of agents.
package foreign
