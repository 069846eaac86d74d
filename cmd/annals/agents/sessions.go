package agents

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

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

	Stored int `json:"stored"` // messages that the server did not have

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
		if host, id := identify(path); host != "" {
			all = append(all, Session{Path: path, Host: host, ID: host + "-" + id})
		}
		return nil
	})
	return all, err
}

// identify returns whose transcript a file is, and the session's id there, which the host also tells its hooks. The
// host is empty if it is no transcript.
func identify(path string) (host, id string) {
	file, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close() //nolint:errcheck // it was only read
	const beginning = 1 << 20
	head, _ := bufio.NewReaderSize(body.UTF8(file), beginning).Peek(beginning) // a shorter file is whole
	for line := range bytes.Lines(head) {
		var l struct {
			Type, SessionID, ProjectHash string
			Payload, Message             json.RawMessage
		}
		switch {
		case json.Unmarshal(line, &l) != nil:
			continue // it costs itself
		case l.Type == "session_meta" && l.Payload != nil:
			var of struct{ ID string }
			_ = json.Unmarshal(l.Payload, &of) // the name of the file tells it, too
			return "codex", sessionID(path, of.ID)
		case l.ProjectHash != "":
			return "gemini", sessionID(path, l.SessionID)
		case l.SessionID != "" && l.Type != "":
			host, id = "claude-code", sessionID(path, l.SessionID)
			if bytes.Contains(l.Message, []byte(`"parts":`)) {
				host = "qwen"
			}
			if l.Message != nil {
				return host, id
			}
		case host == "" && l.Type != "summary" && l.Type != "file-history-snapshot":
			return "", ""
		}
	}
	return host, id
}

// sessionID is the UUID that ends the name of a session's file, or else the id that a line there tells.
func sessionID(path, told string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if end := name[max(0, len(name)-len(uuid.Nil.String())):]; uuid.Validate(end) == nil {
		return end
	}
	return cmp.Or(told, name)
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

// The most that one request stores. A host may end a hook at any time, which then loses one request.
const (
	mostMessages = 500
	mostBytes    = 512 << 10
)

// Store stores what was read on a server for it to learn from, and counts the new messages. It begins after the
// messages that the server has, so an interrupted one is continued by the next.
func (s *Session) Store(ctx context.Context, server *client.Client) (stored int, err error) {
	if len(s.messages) == 0 {
		return 0, nil
	}
	var on struct { // the server
		Messages int `json:"message_count"` // not committed yet
		Newest   int `json:"newest_message"`
		Added    int `json:"added"`
	}
	route := "sessions/" + s.ID
	if err = server.Viking(ctx, http.MethodGet, route, nil, nil, &on); errors.Is(err, client.ErrNotFound) {
		err = nil // it is new, or was deleted
	}
	for err == nil && on.Newest < len(s.messages) {
		next, size := s.messages[on.Newest:], 0
		for n, m := range next {
			if size += len(m.Content); n > 0 && size > mostBytes || n == mostMessages {
				next = next[:n]
				break
			}
		}
		last := on.Newest + len(next)
		body := map[string]any{"messages": next, "first": on.Newest + 1}
		err = server.Viking(ctx, http.MethodPost, route+"/messages/batch", nil, body, &on)
		if stored += on.Added; err == nil && on.Newest < last {
			return stored, errors.New("the server is older than this program: it cannot continue sessions")
		}
	}
	if err == nil && on.Messages > 0 {
		_, err = server.CommitSession(ctx, s.ID, "task_done")
	}
	return stored, err
}
