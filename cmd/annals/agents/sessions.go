package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/client"
)

// Session is the file of a session of a coding agent.
type Session struct {
	Path  string `json:"file"`
	Host  string `json:"host"`
	ID    string `json:"id"` // on the server
	Count int    `json:"messages"`
	At    string `json:"at"`    // of the first message
	About string `json:"about"` // the first message

	messages []message
}

// sessions are the sessions in a file or folder; none if it has no transcripts.
func sessions(root string) (all []Session, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "subagents":
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".jsonl" || !entry.Type().IsRegular():
			return nil
		}
		if host := hostOf(path); host != "" {
			all = append(all, Session{Path: path, Host: host, ID: host + "-" + sessionID(path)})
		}
		return nil
	})
	return all, err
}

// hostOf is whose transcript a file is; empty for none.
func hostOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // it was only read
	const beginning = 1 << 20
	head, _ := bufio.NewReaderSize(body.UTF8(file), beginning).Peek(beginning) // a shorter file is whole
	for line := range bytes.Lines(head) {
		var l struct {
			Type, SessionID, ProjectHash string
			Payload                      json.RawMessage
		}
		switch {
		case json.Unmarshal(line, &l) != nil:
			return ""
		case l.Type == "session_meta" && l.Payload != nil:
			return "codex"
		case l.ProjectHash != "":
			return "gemini"
		case l.SessionID != "" && l.Type != "":
			return "claude-code"
		case l.Type != "summary" && l.Type != "file-history-snapshot":
			return ""
		}
	}
	return ""
}

// sessionID is the id of a session, which ends the name of its file.
func sessionID(path string) string {
	const uuid = 36
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if len(name) > uuid && strings.HasPrefix(name, "rollout-") {
		name = name[len(name)-uuid:]
	}
	return name
}

// Read reads what was said.
func (s *Session) Read() error {
	if info, err := os.Stat(s.Path); err == nil && !info.Mode().IsRegular() { // a pipe might block
		return errors.New("the transcript is no ordinary file")
	}
	file, err := os.Open(s.Path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	s.messages, err = transcript(s.Host, file)
	if s.Count = len(s.messages); s.Count > 0 {
		s.At, s.About = s.messages[0].At, s.messages[0].Content
	}
	return err
}

// Store stores what was read on a server, each message once, for it to learn from.
func (s *Session) Store(ctx context.Context, server *client.Client) error {
	return store(ctx, server, s.ID, s.messages)
}
