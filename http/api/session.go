package api

import (
	"time"
)

type NewSession struct {
	ID    string `json:"id,omitempty" doc:"Default: a new UUID."`
	Agent string `json:"agent,omitempty" doc:"The id of the agent that takes part."`
}

type NewMessages struct {
	Agent    string       `json:"agent,omitempty" doc:"The id of the agent that takes part, if the session is new."`
	Messages []NewMessage `json:"messages" doc:"1 to 500, oldest first."`
	First    int64        `json:"first,omitempty" minimum:"1" doc:"The number of the first of them. Messages that the session has already are left out, so a repeated request adds nothing. Default: all are new."`
}

type NewMessage struct {
	Role    string     `json:"role" enum:"user,assistant,system,tool"`
	Content string     `json:"content"`
	At      *time.Time `json:"at,omitempty" doc:"When it was said. Default: now."`
	Peer    string     `json:"peer,omitempty" doc:"The id of another person who said it."`
}

type SessionCommit struct {
	Keep    int64    `json:"keep,omitempty" doc:"How many of the newest messages stay with the session."`
	Trigger string   `json:"trigger,omitempty" enum:"stated,task_done,compaction,feedback,periodic" doc:"Why it is committed."`
	Scopes  []string `json:"scopes,omitempty" doc:"Who may see what is learned about work. Default: the owner, and the agent that commits."`
}

type ExtractionRetry struct {
	Archive int64 `json:"archive,omitempty" doc:"The number of an archive. Default: every archive whose extraction failed."`
}

type Session struct {
	ID           string         `json:"id"`
	Owner        string         `json:"owner"`
	Agent        string         `json:"agent,omitempty"`
	URI          string         `json:"uri"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
	SaidFrom     *time.Time     `json:"said_from,omitempty" doc:"When the first message was said."`
	SaidUntil    *time.Time     `json:"said_until,omitempty" doc:"When the last message was said."`
	MessageCount int            `json:"message_count" doc:"Messages that are in no archive."`
	Newest       int64          `json:"newest,omitempty" doc:"The number of the newest message: 1, 2, 3 … over the whole life of the session."`
	Archives     int            `json:"archives"`
	LastTask     string         `json:"last_task,omitempty" doc:"The id of the newest commit's task."`
	Learned      map[string]int `json:"learned,omitempty" doc:"How many items were made, by category."`
	Messages     []Message      `json:"messages,omitempty" doc:"The messages that are in no archive, oldest first; not in lists."`
}

type Message struct {
	EventID string    `json:"event_id"`
	Role    string    `json:"role"`
	At      time.Time `json:"at"`
	Peer    string    `json:"peer,omitempty"`
	Content string    `json:"content" doc:"The text parts, joined by a line break."`
}

// Task is the extraction of one archive.
type Task struct {
	ID        string       `json:"id"`
	Session   string       `json:"session"`
	Owner     string       `json:"owner"`
	Archive   string       `json:"archive" doc:"The URI of the archive."`
	Status    string       `json:"status" enum:"pending,running,completed,failed"`
	Error     string       `json:"error,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
	Extractor string       `json:"extractor,omitempty"`
	Lessons   []TaskLesson `json:"lessons,omitempty"`
}

type TaskLesson struct {
	Decision string   `json:"decision" enum:"create,merge,supersede,vote,skip"`
	Category string   `json:"category"`
	Item     string   `json:"item,omitempty" doc:"The id of the item that was made."`
	Target   string   `json:"target,omitempty" doc:"The id of the item that was voted for, merged or superseded."`
	Scopes   []string `json:"scopes,omitempty" doc:"Who may see the item."`
	Private  string   `json:"private,omitempty" doc:"Why only the session's user may see the item."`
	Content  string   `json:"content"`
	Reason   string   `json:"reason,omitempty"`
}

// Tasks are the newest extractions.
type Tasks struct {
	Items []Task `json:"items" nullable:"false"`
}
