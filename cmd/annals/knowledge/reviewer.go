package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// Reviewer lets a person decide on items one by one. Each act is a request to the API with the revision that the
// person saw.
type Reviewer struct {
	Server *client.Client
	Screen *terminal.Screen
	List   []*Reviewed
	Edit   func(ctx context.Context, text string) (string, error) // default: [inEditor]

	at, top int
	notice  string
	done    map[int]string // what was done with an item
	undo    []undoing
}

// undoing takes an act back.
type undoing struct {
	at      int
	request client.Request // for the revision after the act; without a path, there is none
	stays   string         // what is not taken back
}

const (
	keysShown = "c confirm · e edit · s supersede · d forget · n next · p previous · u undo · ? help · q quit"
	keysHelp  = "c confirm; C confirm until a date; e edit the content in $EDITOR; E edit and confirm it; " +
		"s supersede by another item; ← or → keep the left or the right item of a pair, which " +
		"takes the place of the other; 1, 2 … keep this item of a group, which takes the place of " +
		"all others; M merge them into the first with a text that you edit; k keep all of them; d " +
		"forget; n or ↓ next; p or ↑ previous; space more of this item; u undo the last act; q " +
		"quit"
	proposalKeys = "a accept · e edit and accept · d decline · n next · p previous · u undo · ? help · q quit"
	proposalHelp = "a accept, which confirms it and shows it to its readers; e edit the content in $EDITOR and accept " +
		"it; d decline and say why to the author; n or ↓ next; p or ↑ previous; space more of this item; u undo the " +
		"last act; q quit"
	acceptanceStays   = "an acceptance stays: forget the item if it is wrong"
	confirmationStays = "a confirmation stays: report the item stale if it is wrong"
)

// Run shows items and reads keys until the person quits.
func (r *Reviewer) Run(ctx context.Context) error {
	r.done = map[int]string{}
	if r.Edit == nil {
		r.Edit = inEditor
	}
	for {
		more := r.show()
		key, err := r.Screen.Key(ctx)
		if err != nil {
			return err
		}
		r.notice = ""
		switch key {
		case 'q', terminal.KeyInterrupt, '\x04':
			return nil
		case '?':
			if r.notice = keysHelp; r.proposed() {
				r.notice = proposalHelp
			}
		case 'n':
			r.step(+1)
		case 'p':
			r.step(-1)
		case ' ':
			switch {
			case more:
				r.top += 10
			case r.top == 0:
				r.notice = "there is no more of this item"
			default:
				r.top = 0
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
	keys := cmp.Or(r.doneAt(), keysShown)
	switch all := len(one.items()); {
	case r.done[r.at] != "":
	case r.proposed():
		keys = proposalKeys
	case all == 1:
	case all == 2:
		keys = "← keep left · → keep right · k keep both · " + keysShown
	default:
		keys = fmt.Sprintf("1 to %d keep one · k keep all · %s", all, keysShown)
	}
	return r.Screen.Show(r.top, terminal.Joined("\n", r.notice, keys), func(c *terminal.Console) {
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
		r.notice = "there are no more: q quits"
		return
	}
	r.at, r.top = r.at+by, 0
}

// decide carries out the act of a key on the item that is shown.
func (r *Reviewer) decide(ctx context.Context, key rune) {
	left := func(ctx context.Context) error { return r.keepSide(ctx, 0) }
	acts := map[rune]func(context.Context) error{
		'c': r.confirm, 'C': r.confirmUntil, 's': r.supersede, 'd': r.forget, 'k': r.keepAll, 'M': r.mergeEdited,
		'e': func(ctx context.Context) error { return r.edit(ctx, false) },
		'E': func(ctx context.Context) error { return r.edit(ctx, true) },
		'm': left, terminal.KeyLeft: left,
		terminal.KeyRight: func(ctx context.Context) error { return r.keepSide(ctx, 1) },
	}
	if r.proposed() {
		acts = map[rune]func(context.Context) error{'a': r.accept, 'e': r.acceptEdited, 'd': r.decline}
	}
	act, known := acts[key]
	if key >= '1' && key <= '9' {
		act, known = func(ctx context.Context) error { return r.keepNumbered(ctx, int(key-'0')) }, true
	}
	switch {
	case !known:
		r.notice = "no such key: ? lists them"
	case r.done[r.at] != "":
		r.notice = "this was " + r.done[r.at] + " already"
	case !strings.ContainsRune("acCeEsd", key) && len(r.List[r.at].items()) == 1:
		r.notice = "this item is in no pair"
	default:
		r.try(ctx, act)
	}
}

// try carries out an act, and says what went wrong. Items that others changed are read again.
func (r *Reviewer) try(ctx context.Context, act func(context.Context) error) {
	err := act(ctx)
	if err == nil {
		return
	}
	r.notice = terminal.AsFailure(err).Line()
	if errors.Is(err, client.ErrOvertaken) && r.reread(ctx) == nil {
		r.notice = "somebody changed it, and nothing was done: look at it again"
	}
}

// reread reads the item that is shown and the others of its group again.
func (r *Reviewer) reread(ctx context.Context) error {
	for _, k := range r.List[r.at].items() {
		var now api.Knowledge
		if _, err := r.Server.Do(ctx, client.Get("v1", "knowledge", k.ID), &now); err != nil {
			return err
		}
		*k = now
	}
	return nil
}

// send sends an act, and goes to the next item.
func (r *Reviewer) send(ctx context.Context, request client.Request, done string, undo undoing) error {
	if err := r.submit(ctx, request, undo); err != nil {
		return err
	}
	r.done[r.at] = done
	notice := r.List[r.at].Item.ID + " was " + done
	if r.at+1 < len(r.List) {
		r.step(+1)
	}
	r.notice = notice
	return nil
}

// submit sends an act, and notes what it changed and how to undo it.
func (r *Reviewer) submit(ctx context.Context, request client.Request, undo undoing) error {
	a, err := r.Server.Do(ctx, request, nil)
	if err != nil {
		return err
	}
	var after api.Knowledge
	if len(a.Body) > 0 && json.Unmarshal(a.Body, &after) == nil {
		for _, k := range r.List[r.at].items() {
			if k.ID == after.ID {
				*k = after
			}
		}
	}
	undo.at, undo.request.Header = r.at, http.Header{"If-Match": a.Header.Values("ETag")}
	r.undo = append(r.undo, undo)
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

func (r *Reviewer) confirm(ctx context.Context) error { return r.confirmed(ctx, nil) }

func (r *Reviewer) confirmUntil(ctx context.Context) error {
	answer, err := r.ask(ctx, "until which date, such as 2027-03-01?", true)
	if err != nil {
		return err
	}
	until, err := terminal.WhenOf("until", answer, time.Now())
	if err != nil {
		return errors.New("that is no date such as 2027-03-01, and no while such as 90d")
	}
	return r.confirmed(ctx, &until)
}

func (r *Reviewer) confirmed(ctx context.Context, until *time.Time) error {
	request := about(r.List[r.at].Item, http.MethodPost, api.Confirmation{Until: until}, "confirm")
	return r.send(ctx, request, "confirmed", undoing{stays: confirmationStays})
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

// proposed tells whether the item that is shown waits for approval.
func (r *Reviewer) proposed() bool { return r.List[r.at].Item.Status == string(domain.IsProposed) }

func (r *Reviewer) accept(ctx context.Context) error {
	request := about(r.List[r.at].Item, http.MethodPost, api.Acceptance{}, "accept")
	return r.send(ctx, request, "accepted", undoing{stays: acceptanceStays})
}

func (r *Reviewer) acceptEdited(ctx context.Context) error {
	k := r.List[r.at].Item
	text, reason, err := r.rewritten(ctx, k)
	if err != nil {
		return err
	}
	request := about(k, http.MethodPost, api.Acceptance{Content: &text, Reason: reason}, "accept")
	return r.send(ctx, request, "edited and accepted", undoing{stays: acceptanceStays})
}

// rewritten is the content that the person edits, and why.
func (r *Reviewer) rewritten(ctx context.Context, k *api.Knowledge) (text, reason string, err error) {
	if text, err = r.edited(ctx, k); err == nil {
		reason, err = r.ask(ctx, "why?", false)
	}
	return text, reason, err
}

func (r *Reviewer) decline(ctx context.Context) error {
	k := r.List[r.at].Item
	reason, err := r.ask(ctx, "why is it declined?", true)
	if err != nil {
		return err
	}
	return r.send(ctx, about(k, http.MethodPost, api.Reason{Reason: reason}, "decline"), "declined", restoring(k))
}

func restoring(k *api.Knowledge) undoing {
	return undoing{request: client.Post(api.Reason{Reason: "undone in a review"}, "v1", "knowledge", k.ID, "restore")}
}

func (r *Reviewer) edit(ctx context.Context, confirm bool) error {
	k := r.List[r.at].Item
	text, reason, err := r.rewritten(ctx, k)
	if err != nil {
		return err
	}
	change := func(content, reason string, confirm bool) any {
		return map[string]any{"content": content, "reason": reason, "confirm": confirm}
	}
	undo := undoing{request: client.Request{
		Method: http.MethodPatch, Path: []string{"v1", "knowledge", k.ID},
		Body: change(k.Content, "undone in a review", false),
	}}
	if confirm {
		undo.stays = confirmationStays
		return r.send(ctx, about(k, http.MethodPatch, change(text, reason, true)), "revised and confirmed", undo)
	}
	err = r.submit(ctx, about(k, http.MethodPatch, change(text, reason, false)), undo)
	if err == nil {
		r.notice = k.ID + " was revised, and still waits: c confirms it"
	}
	return err
}

// edited are the contents of items, one after the other, as the person edited them.
func (r *Reviewer) edited(ctx context.Context, items ...*api.Knowledge) (text string, err error) {
	err = r.Screen.Suspended(func() (err error) {
		text, err = r.Edit(ctx, contents(items))
		return err
	})
	return text, err
}

func (r *Reviewer) mergeEdited(ctx context.Context) error {
	text, err := r.edited(ctx, r.List[r.at].items()...)
	if err != nil {
		return err
	}
	return r.merged(ctx, 0, &text)
}

// takeBack undoes the last act, unless the item was changed since.
func (r *Reviewer) takeBack(ctx context.Context) error {
	if len(r.undo) == 0 {
		return errors.New("nothing was done yet")
	}
	rest, last := r.undo[:len(r.undo)-1], r.undo[len(r.undo)-1]
	if last.request.Path == nil { // the act before it can still be undone
		r.undo = rest
		return errors.New(last.stays)
	}
	r.at, r.top = last.at, 0
	_, err := r.Server.Do(ctx, last.request, nil)
	refused := errors.Is(err, client.ErrForbidden) // the act before it can still be undone
	if err == nil || refused || errors.Is(err, client.ErrOvertaken) {
		r.undo = rest
	}
	if path := last.request.Path; refused && path[len(path)-1] == "restore" {
		return errors.New("only the owner or an admin can restore it")
	}
	if err != nil {
		return err
	}
	delete(r.done, last.at)
	r.notice = terminal.Joined("; ", "undone", last.stays)
	return r.reread(ctx)
}
