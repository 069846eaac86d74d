package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// Reviewer lets a person decide on items one by one. Each act is a request to the API with the revision that the
// person saw.
type Reviewer struct {
	Server *client.Client
	Screen *terminal.Screen
	List   []*Reviewed
	Edit   func(ctx context.Context, text string) (string, error) // default: with $EDITOR

	at, top int
	said    string
	done    map[int]string // what was done with an item
	undo    []undoing
}

// undoing takes an act back.
type undoing struct {
	at      int
	request client.Request // without a revision; the item may have changed since
	none    string         // why there is no such request
}

const (
	keysShown = "c confirm · e edit · s supersede · d forget · n next · p previous · u undo · ? help · q quit"
	keysHelp  = "c confirm; C confirm until a date; e edit the content in $EDITOR; s supersede by another item; m merge " +
		"a pair; k keep both of a pair; d forget; n or → next; p or ← previous; space more of this item; u undo the " +
		"last act; q quit"
)

// Run shows items and reads keys until the person quits.
func (r *Reviewer) Run(ctx context.Context) error {
	r.done = map[int]string{}
	if r.Edit == nil {
		r.Edit = r.inEditor
	}
	for {
		more := r.show()
		key, err := r.Screen.Key(ctx)
		if err != nil {
			return err
		}
		r.said = ""
		switch key {
		case 'q', terminal.KeyInterrupt, '\x04':
			return nil
		case '?':
			r.said = keysHelp
		case 'n':
			r.step(+1)
		case 'p':
			r.step(-1)
		case ' ':
			if !more {
				r.top = 0
			} else {
				r.top += 10
			}
		case 'u':
			r.try(ctx, r.takeBack)
		default:
			r.decide(ctx, key)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (r *Reviewer) show() (more bool) {
	one := r.List[r.at]
	head := fmt.Sprintf("%d of %d", r.at+1, len(r.List))
	status := terminal.Joined("  ", r.said, cmp.Or(r.doneAt(), keysShown))
	if one.Pair != nil && r.done[r.at] == "" {
		status = terminal.Joined("  ", r.said, "m merge · k keep both · "+keysShown)
	}
	return r.Screen.Show(r.top, status, func(c *terminal.Console) {
		c.Say("%s", terminal.Faint.Render(head))
		one.show(c)
	})
}

func (r *Reviewer) doneAt() string {
	if r.done[r.at] == "" {
		return ""
	}
	return r.done[r.at] + " · n next · u undo · q quit"
}

func (r *Reviewer) step(by int) {
	if to := r.at + by; to < 0 || to >= len(r.List) {
		r.said = "there are no more: q quits"
		return
	}
	r.at, r.top = r.at+by, 0
}

// decide carries out the act of a key on the item that is shown.
func (r *Reviewer) decide(ctx context.Context, key rune) {
	acts := map[rune]func(context.Context) error{
		'c': r.confirm, 'C': r.confirmUntil, 'e': r.edit, 's': r.supersede, 'd': r.forget, 'm': r.merge, 'k': r.keep,
	}
	act, known := acts[key]
	switch {
	case !known:
		r.said = "no such key: ? lists them"
	case r.done[r.at] != "":
		r.said = "this was " + r.done[r.at] + " already"
	case (key == 'm' || key == 'k') && r.List[r.at].Pair == nil:
		r.said = "this item is in no pair"
	default:
		r.try(ctx, act)
	}
}

// errCancelled says that the person did not go on.
var errCancelled = errors.New("cancelled: nothing was done")

// try carries out an act, and says what went wrong. An item that others changed is read again.
func (r *Reviewer) try(ctx context.Context, act func(context.Context) error) {
	err := act(ctx)
	if err == nil {
		return
	}
	f := terminal.AsFailure(err)
	r.said = terminal.Joined(": ", f.Detail, f.Fix)
	if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusPreconditionFailed {
		k := r.List[r.at].Item
		if _, err := r.Server.Do(ctx, client.Get("v1", "knowledge", k.ID), k); err == nil {
			r.said = "somebody changed it, and nothing was done: look at it again"
		}
	}
}

// send sends an act, and goes to the next item.
func (r *Reviewer) send(ctx context.Context, request client.Request, done string, undo undoing) error {
	k := r.List[r.at].Item
	a, err := r.Server.Do(ctx, request, nil)
	if err != nil {
		return err
	}
	if len(a.Body) > 0 {
		var after api.Knowledge
		if json.Unmarshal(a.Body, &after) == nil && after.ID == k.ID {
			*k = after
		}
	}
	undo.at = r.at
	r.undo, r.done[r.at] = append(r.undo, undo), done
	said := k.ID + " was " + done
	if r.at+1 < len(r.List) {
		r.step(+1)
	}
	r.said = said
	return nil
}

// ask asks for a line that must not be empty.
func (r *Reviewer) ask(ctx context.Context, question string, required bool) (string, error) {
	text, given, err := r.Screen.Line(ctx, question)
	if err == nil && (!given || required && text == "") {
		err = errCancelled
	}
	return text, err
}

func (r *Reviewer) confirm(ctx context.Context) error {
	request := about(r.List[r.at].Item, http.MethodPost, api.Confirmation{}, "confirm")
	return r.send(ctx, request, "confirmed", undoing{none: "a confirmation stays: report the item stale if it is wrong"})
}

func (r *Reviewer) confirmUntil(ctx context.Context) error {
	said, err := r.ask(ctx, "until which date, such as 2027-03-01?", true)
	if err != nil {
		return err
	}
	until, err := terminal.WhenOf("until", said, time.Now())
	if err != nil {
		return err
	}
	request := about(r.List[r.at].Item, http.MethodPost, api.Confirmation{Until: &until}, "confirm")
	return r.send(ctx, request, "confirmed", undoing{none: "a confirmation stays: report the item stale if it is wrong"})
}

func (r *Reviewer) supersede(ctx context.Context) error {
	by, err := r.ask(ctx, "by which item? id:", true)
	if err != nil {
		return err
	}
	reason, err := r.ask(ctx, "why?", false)
	if err != nil {
		return err
	}
	k := r.List[r.at].Item
	return r.send(
		ctx, about(k, http.MethodPost, api.Supersession{By: by, Reason: reason}, "supersede"), "superseded", restoring(k),
	)
}

func (r *Reviewer) forget(ctx context.Context) error {
	k := r.List[r.at].Item
	sure, err := r.ask(ctx, "forget "+k.ID+"? y or n:", true)
	if err == nil && !strings.EqualFold(sure, "y") {
		err = errCancelled
	}
	if err != nil {
		return err
	}
	reason, err := r.ask(ctx, "why?", false)
	if err != nil {
		return err
	}
	return r.send(ctx, about(k, http.MethodDelete, api.Reason{Reason: reason}), "forgotten", restoring(k))
}

func restoring(k *api.Knowledge) undoing {
	return undoing{request: client.Post(api.Reason{Reason: "undone in a review"}, "v1", "knowledge", k.ID, "restore")}
}

func (r *Reviewer) edit(ctx context.Context) error {
	k := r.List[r.at].Item
	var text string
	err := r.Screen.Suspended(func() (err error) {
		text, err = r.Edit(ctx, k.Content)
		return err
	})
	switch {
	case err != nil:
		return err
	case text == k.Content:
		return errCancelled
	}
	reason, err := r.ask(ctx, "why?", false)
	if err != nil {
		return err
	}
	change := func(content, reason string) any { return map[string]string{"content": content, "reason": reason} }
	back := client.Request{
		Method: http.MethodPatch, Path: []string{"v1", "knowledge", k.ID}, Body: change(k.Content, "undone in a review"),
	}
	return r.send(ctx, about(k, http.MethodPatch, change(text, reason)), "revised", undoing{request: back})
}

// inEditor lets a person edit a text with the program that VISUAL or EDITOR names. Default: vi.
func (r *Reviewer) inEditor(ctx context.Context, text string) (string, error) {
	file, err := os.CreateTemp("", "annals-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // leftovers are harmless
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	words := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	editor := exec.CommandContext(ctx, words[0], append(words[1:], file.Name())...) //nolint:gosec // the person's own
	editor.Stdin, editor.Stdout, editor.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := editor.Run(); err != nil {
		return "", fmt.Errorf("run %s: %w", words[0], err)
	}
	edited, err := os.ReadFile(file.Name())
	after := string(edited)
	if !strings.HasSuffix(text, "\n") { // which editors add
		after = strings.TrimSuffix(after, "\n")
	}
	return after, err
}

func (r *Reviewer) merge(ctx context.Context) error {
	one := r.List[r.at]
	reason, err := r.ask(ctx, "merge the others into "+one.Item.ID+": why?", false)
	if err != nil {
		return err
	}
	others := make([]string, len(one.Pair.Items))
	for i, other := range one.Pair.Items {
		others[i] = other.ID
	}
	merge := about(one.Item, http.MethodPost, map[string]any{
		"items": others, "carry_votes": true, "reason": reason,
	}, "merge")
	back := client.Post(api.Reason{Reason: "undone in a review"}, "v1", "knowledge", one.Item.ID, "unmerge")
	return r.send(ctx, merge, "merged", undoing{request: back})
}

func (r *Reviewer) keep(ctx context.Context) error {
	reason, err := r.ask(ctx, "keep both: why?", false)
	if err != nil {
		return err
	}
	closing := client.Post(
		map[string]string{"outcome": "distinct", "reason": reason}, "v1", "reviews", "proposals",
		r.List[r.at].Pair.Proposal, "close",
	)
	return r.send(ctx, closing, "kept", undoing{none: "a closed proposal stays closed: merge the items by hand"})
}

// takeBack undoes the last act.
func (r *Reviewer) takeBack(ctx context.Context) error {
	if len(r.undo) == 0 {
		return errors.New("nothing was done yet")
	}
	last := r.undo[len(r.undo)-1]
	if last.none != "" { // the act before it can still be undone
		r.undo = r.undo[:len(r.undo)-1]
		return errors.New(last.none)
	}
	k := r.List[last.at].Item
	if _, err := r.Server.Do(ctx, last.request, k); err != nil {
		return err
	}
	r.undo = slices.Delete(r.undo, len(r.undo)-1, len(r.undo))
	delete(r.done, last.at)
	r.at, r.top, r.said = last.at, 0, "undone"
	return nil
}
