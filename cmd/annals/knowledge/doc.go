// Package knowledge has the commands that remember, find and judge knowledge, and keep sessions.
package knowledge
