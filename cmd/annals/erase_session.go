package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// isSession tells whether something that is to be erased is what was said in a session.
func (d doomed) isSession() bool { return strings.HasPrefix(d.Stream, "session:") }

// name is what people call it.
func (d doomed) name() string {
	if d.ID != "" {
		return d.ID
	}
	return strings.TrimPrefix(d.Stream, "knowledge:")
}

// sessions are those of a user or an agent, deleted ones too.
func (e *eraseCommand) sessions(ctx context.Context) ([]doomed, error) {
	owner := domain.Entity(e.What)
	if kind := owner.Kind(); kind != domain.User && kind != domain.Agent {
		return nil, nil
	}
	var list []struct {
		ID string `json:"session_id"`
	}
	query := url.Values{"owner": {e.What}, "deleted": {"true"}}
	if _, err := e.inSession(ctx, request{Method: http.MethodGet, Path: []string{"sessions"}, Query: query}, &list); err != nil {
		return nil, err
	}
	var all []doomed
	for _, s := range list {
		all = append(all, doomed{Stream: domain.SessionStream(owner, s.ID), Owner: e.What, Status: "session"})
	}
	return all, nil
}

// eraseSession erases what was said in a session; false if that was done before.
func (e *eraseCommand) eraseSession(ctx context.Context, stream string) (bool, error) {
	owner, id, is := domain.SessionOf(stream)
	if !is {
		return false, wrong("as in session:123/planning", "a session is named by its user and its id")
	}
	query := e.grounds()
	query.Set("owner", string(owner))
	var done struct {
		Erased bool `json:"erased"`
	}
	_, err := e.inSession(ctx, request{Method: http.MethodDelete, Path: []string{"sessions", id}, Query: query}, &done)
	return done.Erased, err
}
