package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
)

// noteState is what an import does with an item of a file, or did.
type noteState string

const (
	isNew       noteState = "new"
	isRevised   noteState = "revised"
	isUnchanged noteState = "unchanged"
	isConflict  noteState = "conflict"
	isRefused   noteState = "refused"
)

// toRevise returns those of some items, as lines, that have changed since they were imported last. Items that somebody
// has revised here since stay as they are: they are conflicts if their files have changed, too.
func (i *ImportCommand) toRevise(
	ctx context.Context, server *client.Client, items []markdown.Item, s *summary,
) ([]byte, error) {
	var lines bytes.Buffer
	for _, item := range items {
		state, revision, err := sinceImport(ctx, server, item)
		switch failure := terminal.AsFailure(err); {
		case err != nil && (failure.Status == 0 || failure.Code == terminal.ExitUnavailable):
			return nil, err
		case err != nil:
			s.refuse(item, failure)
		case state == isRevised:
			if err := json.NewEncoder(&lines).Encode(item); err != nil {
				return nil, err
			}
		case state == isUnchanged:
			s.count("unchanged")
		default:
			s.Lines++
			s.Conflicts = append(s.Conflicts, conflict{item.ID, item.Origin, 0, revision})
		}
	}
	return lines.Bytes(), nil
}

// ofNotes are the fields of an item that its note may change.
var ofNotes = []string{"content", "task", "abstract", "overview", "category", "tags", "meta"}

// sinceImport compares an item whose file and whose item here differ with its last import.
func sinceImport(
	ctx context.Context, server *client.Client, item markdown.Item,
) (state noteState, revision int64, err error) {
	path := []string{"v1", "knowledge", item.ID, "history"}
	history, err := terminal.ReadList[api.Event](ctx, server, path, url.Values{})
	imported, here := map[string]string{}, false
	for _, event := range history {
		for _, change := range event.Changes {
			if name, _, _ := strings.Cut(change.Field, "."); !slices.Contains(ofNotes, name) {
				continue
			}
			if here = !strings.HasPrefix(event.CausationID, "file:"); !here {
				imported[change.Field], _ = change.After.(string)
			}
		}
		revision = max(revision, event.Revision)
	}
	switch {
	case !here:
		return isRevised, revision, err
	case imported["content"] == item.Content && imported["task"] == item.Task:
		return isUnchanged, revision, err
	}
	return isConflict, revision, err
}

// originals splits notes that were written from items. Where several have the id of one item, the note in the place
// that it was written to is the item's, and the others are copies, which are new items. If that tells no single note,
// all of them are doubtful.
func originals(notes []markdown.Item) (all, copies, doubtful []markdown.Item) {
	groups := map[string][]markdown.Item{}
	for _, note := range notes {
		groups[note.Known.ID] = append(groups[note.Known.ID], note)
	}
	for _, note := range notes {
		group := groups[note.Known.ID]
		inPlace := slices.DeleteFunc(slices.Clone(group), func(n markdown.Item) bool { return !n.InPlace() })
		switch {
		case len(group) > 1 && len(inPlace) != 1:
			doubtful = append(doubtful, note)
		case len(group) > 1 && !note.InPlace(), note.IsCopy():
			note.Type = cmp.Or(note.Type, "definition")
			copies = append(copies, note)
		default:
			note.ID = note.Known.ID
			all = append(all, note)
		}
	}
	return all, copies, doubtful
}

// doubt says what is doubtful about a note.
func doubt(note markdown.Item) *terminal.Failure {
	return &terminal.Failure{
		Detail: "is one of several files of the item " + note.Known.ID,
		Fix:    "take the line annals out of those that are new items",
	}
}

// renew writes into the first lines of a note what item it is of.
func renew(c *terminal.Console, note markdown.Item, id string, revision int64) error {
	text, err := os.ReadFile(note.Path)
	if note.Path == "" || err != nil {
		return nil // in an archive, or gone
	}
	return terminal.WriteText(c, note.Path, markdown.Renewed(text, note, id, revision))
}

// revise revises the items whose notes were edited. A note whose item was revised since it was written is a conflict.
// A note that was imported says so in its first lines.
func (i *ImportCommand) revise(
	ctx context.Context, c *terminal.Console, server *client.Client, notes []markdown.Item, s *summary,
) error {
	for _, item := range notes {
		state, now, err := compareNote(ctx, server, item)
		id, changed := item.Known.ID, now.Revision != item.Known.Revision
		if state == isRevised {
			patch := map[string]any{"content": item.Content, "reason": cmp.Or(i.Reason, "edited in "+item.Origin)}
			if item.Task != "" {
				patch["task"] = item.Task
			}
			_, err = server.Do(ctx, client.Request{
				Method: http.MethodPatch, Path: []string{"v1", "knowledge", id}, Body: patch, Header: http.Header{
					"Content-Type": {"application/merge-patch+json"}, "If-Match": {fmt.Sprintf(`"%d"`, item.Known.Revision)},
				},
			}, &now)
		}
		switch failure := terminal.AsFailure(err); {
		case state == isConflict:
			s.Lines++
			s.Conflicts = append(s.Conflicts, conflict{id, item.Origin, item.Known.Revision, now.Revision})
		case err != nil && failure.Code == terminal.ExitUnavailable:
			return err
		case err != nil:
			s.refuse(item, failure)
		case state == isUnchanged && (now.ID == "" || !changed):
			s.count("unchanged")
		default:
			s.count(string(state))
			if err := renew(c, item, id, now.Revision); err != nil {
				return err
			}
		}
	}
	return nil
}

// copied remembers copies of notes that were written from items.
func (i *ImportCommand) copied(
	ctx context.Context, c *terminal.Console, server *client.Client, copies []markdown.Item, s *summary,
) error {
	for _, item := range copies {
		var now api.Knowledge
		answer, err := server.Do(ctx, client.Request{
			Method: http.MethodPost, Path: []string{"v1", "knowledge"}, Query: url.Values{"update": {"true"}}, Body: item,
		}, &now)
		switch failure := terminal.AsFailure(err); {
		case err == nil && answer.Status == http.StatusCreated:
			s.count("created")
		case err == nil:
			s.count("unchanged")
		case failure.Status == 0 || failure.Code == terminal.ExitUnavailable:
			return err
		default:
			s.refuse(item, failure)
			continue
		}
		if err := renew(c, item, item.ID, now.Revision); err != nil {
			return err
		}
	}
	return nil
}

// refuse counts an item that the server has refused, and keeps the reason.
func (s *summary) refuse(item markdown.Item, why *terminal.Failure) {
	s.Lines, s.Failed, s.refused, s.otherwise = s.Lines+1, s.Failed+1, s.refused+1, true
	s.kept.refused(item, why)
	s.Unread = append(s.Unread, markdown.Unread{File: strings.TrimPrefix(item.Origin, "file:"), Why: why.Line()})
}

// conflict is an item that was changed in its note and on the server.
type conflict struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Revision int64  `json:"revision,omitempty"` // that was edited, if the file says so
	Now      int64  `json:"now"`                // that the server has
}

// planned is an item of a file with what an import would do.
type planned struct {
	markdown.Item

	State noteState `json:"state"`
	Why   string    `json:"why,omitempty"` // it is refused, or a conflict
}

// plan shows what would be imported. It keeps the items only to print them as JSON.
func (i *ImportCommand) plan(
	ctx context.Context, c *terminal.Console, server *client.Client, from *markdown.Input, me domain.Principal,
) error {
	var some, notes []markdown.Item
	all, why, counts, total := []planned{}, []string(nil), map[noteState]int{}, 0
	table, progress := terminal.NewTable("", "FROM", "SCOPE", "DATE", "ABOUT"), terminal.Watch(c, "comparing")
	defer progress.End()
	var err error
	judge := func(some []markdown.Item, state func(markdown.Item) (noteState, error)) {
		for _, item := range some {
			if err != nil {
				return
			}
			one, reason := planned{Item: item}, error(nil)
			one.State, reason = state(item)
			switch failure := terminal.AsFailure(reason); {
			case reason != nil && (failure.Status == 0 && one.State == "" || failure.Code == terminal.ExitUnavailable):
				err = reason
				return
			case reason != nil:
				one.State, one.Why = cmp.Or(one.State, isRefused), failure.Line()
				why = append(why, string(one.State)+": "+strings.TrimPrefix(item.Origin, "file:")+" "+one.Why)
			}
			counts[one.State]++
			total++
			progress.Set(int64(total), 0)
			date := ""
			if item.OccurredAt != nil {
				date = item.OccurredAt.Format("2006-01-02")
			}
			if c.JSON {
				all = append(all, one)
				continue
			}
			table.Row(string(one.State), strings.TrimPrefix(item.Origin, "file:"), strings.Join(item.Scopes, ", "), date,
				cmp.Or(item.Task, item.Content))
		}
	}
	judgeSome := func() error {
		has, failed := fingerprintsOf(ctx, server, serve.Map(some, func(item markdown.Item) string { return item.ID }))
		if failed != nil {
			has = nil // the server may be older than fingerprints
		}
		judge(some, func(item markdown.Item) (noteState, error) { return compare(ctx, server, item, me, has) })
		some = some[:0]
		return err
	}
	err = from.Items(func(item markdown.Item) error {
		if item.Known != nil {
			notes = append(notes, item)
		} else if some = append(some, item); len(some) == batchRecords {
			return judgeSome()
		}
		return nil
	})
	if err == nil && len(some) > 0 {
		err = judgeSome()
	}
	known, copies, doubtful := originals(notes)
	judge(known, func(note markdown.Item) (noteState, error) {
		state, _, err := compareNote(ctx, server, note)
		return state, err
	})
	judge(copies, func(markdown.Item) (noteState, error) { return isNew, nil })
	judge(doubtful, func(note markdown.Item) (noteState, error) { return isRefused, doubt(note) })
	if err != nil {
		return err
	}
	if progress.End(); c.JSON {
		err = c.Document(map[string]any{"items": all, "unread": from.Unread})
	} else {
		if total > 0 {
			c.Table(table)
		}
		for _, line := range why {
			c.Note("%s", line)
		}
		markdown.PrintUnread(c, from.Unread)
		c.Say("\n%s. Nothing is written yet: leave --dry-run out.", terminal.Several(total, "item"))
		c.Say("%d new · %d revised · %d unchanged · %d in conflict · %d refused", counts[isNew], counts[isRevised],
			counts[isUnchanged], counts[isConflict], counts[isRefused])
	}
	switch {
	case err != nil:
		return err
	case total == 0:
		return nothingRead()
	case total == counts[isRefused]:
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: "nothing would be imported: every item is refused"}
	}
	return nil
}

// nothingRead is the failure of an import that has nothing to import.
func nothingRead() error {
	return &terminal.Failure{
		Code: terminal.ExitFailed, Detail: "nothing to import: there is no item in what was read",
		Fix: "name a file or folder with notes, or with lines as annals export writes them",
	}
}

// compare tells what an import would do with an item, by the fingerprints of what the server has; nil to ask for the
// item itself. An error says why it is refused, or in conflict.
func compare(
	ctx context.Context, server *client.Client, item markdown.Item, me domain.Principal, has map[string]api.Fingerprint,
) (noteState, error) {
	var in, now api.Knowledge
	written, err := json.Marshal(item)
	if err = errors.Join(err, json.Unmarshal(written, &in)); err != nil {
		return "", err
	}
	command, err := serve.RememberOf(in, me).Complete()
	if err != nil {
		return isRefused, unreadable(err).Why()
	}
	switch of, is := has[item.ID]; {
	case !is && has != nil:
		return isNew, nil
	case repeats(command, of):
		return isUnchanged, nil
	}
	_, err = server.Do(ctx, client.Get("v1", "knowledge", item.ID), &now)
	if err != nil && terminal.AsFailure(err).Status == http.StatusNotFound {
		return isNew, nil
	}
	text := command.Knowledge.Text
	same := text.Task == now.Task && text.Content == now.Content && text.Abstract == now.Abstract &&
		maps.EqualFunc(text.Tags, domain.Tags(now.Tags), slices.Equal)
	if err != nil {
		return "", err
	} else if same {
		return isUnchanged, nil
	}
	state, revision, err := sinceImport(ctx, server, item)
	if state == isConflict {
		err = changedToo(item.ID, revision)
	}
	return state, err
}

// compareNote tells what an import does with a note that was written from an item, and what the item is now if the
// note was edited.
func compareNote(
	ctx context.Context, server *client.Client, note markdown.Item,
) (state noteState, now api.Knowledge, err error) {
	written := markdown.HashOf(note.Task, note.Content)
	if note.Known.Hash == written {
		return isUnchanged, now, nil
	}
	_, err = server.Do(ctx, client.Get("v1", "knowledge", note.Known.ID), &now)
	switch {
	case err != nil:
		return "", now, err
	case markdown.HashOf(now.Task, now.Content) == written:
		return isUnchanged, now, nil
	case now.Revision != note.Known.Revision:
		return isConflict, now, changedToo(now.ID, now.Revision)
	}
	return isRevised, now, nil
}

func changedToo(id string, revision int64) error {
	detail := fmt.Sprintf("and %s, which has revision %d now", id, revision)
	return &terminal.Failure{Code: terminal.ExitRefused, Detail: detail}
}
