// Package mcp lets MCP hosts use Annals. It offers tools that find, remember, judge and forget knowledge, knowledge
// as resources, and prompts for the stages of an agent's work.
//
// Its one rule: a tool makes requests to the HTTP API as its caller. The API decides, records and refuses.
package mcp
