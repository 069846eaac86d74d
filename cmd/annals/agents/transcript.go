package agents

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/body"
)

// message is what somebody said in a session.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	At      string `json:"created_at,omitempty"`
}

// line is a line of a transcript, in the forms of all hosts.
type line struct {
	Type      string  `json:"type"`
	Role      string  `json:"role"`
	Timestamp string  `json:"timestamp"`
	Meta      bool    `json:"isMeta"`
	Side      bool    `json:"isSidechain"`
	Compact   bool    `json:"isCompactSummary"`
	Message   *spoken `json:"message"`
	Payload   *spoken `json:"payload"`
	Content   content `json:"content"`
}

// spoken is the message in a line.
type spoken struct {
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Content content `json:"content"`
	Parts   content `json:"parts"`
}

// content is the text of a message: a string, or the texts of a list of parts. What tools were asked or answered is
// left out.
type content string

func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Thought bool   `json:"thought"`
	}
	_ = json.Unmarshal(raw, &parts) // another form has no text
	var texts []string
	for _, part := range parts {
		switch part.Type {
		case "", "text", "input_text", "output_text":
			if part.Text != "" && !part.Thought {
				texts = append(texts, part.Text)
			}
		}
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// machinery are the beginnings of texts that a host wrote in the name of the user.
var machinery = []string{
	"<command-", "<local-command-", "<system-reminder>", "<task-notification>", "<environment_context>",
	"<user_instructions>", "<permissions instructions>", "<qwen:", "# AGENTS.md instructions", "Caveat:",
	"[Request interrupted by user",
}

const (
	longestLine = 64 << 20 // bytes of a transcript's line
	longestText = 1 << 20  // bytes of a message that the server takes: the rest is left out
)

// transcript reads what user and assistant said in the file of a session. A half-written last line is left out.
func transcript(host string, in io.Reader) (messages []message, err error) {
	lines := bufio.NewScanner(body.UTF8(in))
	lines.Buffer(nil, longestLine)
	bad := 0
	at := map[string]int{} // in Gemini CLI, a line may replace an earlier one
	for lines.Scan() {
		var l struct {
			line
			ID string `json:"id"`
		}
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			bad++
			continue
		}
		m := l.message(host)
		text := strings.TrimSpace(strings.ReplaceAll(m.Content, "\x00", ""))
		if len(text) > longestText {
			text = strings.ToValidUTF8(text[:longestText], "")
		}
		if _, err := time.Parse(time.RFC3339, m.At); err != nil {
			m.At = ""
		}
		byHost := func(beginning string) bool { return strings.HasPrefix(text, beginning) }
		if m.Role == "" || text == "" || slices.ContainsFunc(machinery, byHost) {
			continue
		}
		m.Content = text
		if i, known := at[l.ID]; known && l.ID != "" {
			messages[i] = m
			continue
		}
		at[l.ID] = len(messages)
		messages = append(messages, m)
	}
	if err = lines.Err(); err == nil && len(messages) == 0 && bad > 0 {
		err = errors.New("the file is no transcript in JSON lines")
	}
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	return messages, nil
}

// message is the message in a line; without a role if there is none.
func (l line) message(host string) message {
	m := message{Role: l.Type, At: l.Timestamp}
	switch {
	case l.Meta || l.Side || l.Compact:
		m.Role = ""
	case host == "codex":
		if l.Type != "response_item" || l.Payload == nil || l.Payload.Type != "message" {
			return message{}
		}
		m.Role, m.Content = l.Payload.Role, string(l.Payload.Content)
	case host == "gemini":
		m.Content = string(l.Content)
	case l.Message != nil:
		m.Content = string(l.Message.Content + l.Message.Parts)
		if l.Role != "" { // in Cursor, lines have no type
			m.Role = l.Role
		}
	}
	switch m.Role {
	case "user", "assistant":
	case "gemini":
		m.Role = "assistant"
	default:
		m.Role = ""
	}
	return m
}
