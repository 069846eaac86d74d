// Package mcp lets MCP hosts use Annals: tools that find, remember, judge and forget knowledge, knowledge as
// resources, and prompts that tell an agent what it should know.
//
// Its one rule: a tool is a few requests to the HTTP API, made as the caller of the tool. What may be done, what is
// recorded and what is refused is decided there, and nowhere else.
package mcp
