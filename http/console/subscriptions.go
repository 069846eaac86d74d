package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// subscriptions is the page of the subscriptions of the reader, or of all, with the form of another.
type subscriptions struct {
	form
	Items []api.Subscription
	All   bool
}

func subscriptionFields() []field {
	return []field{
		{Name: "follows", Label: "Follows", Values: []string{"scope", "item", "tag", "query"}},
		{Name: "what", Label: "Which: a name, an item, service=payments, or words", Required: true, Kinds: anyone},
		{Name: "events", Label: "Events, one a line; the usual ones if empty", Rows: 2},
		{Name: "webhook", Label: "URL of the webhook; a feed without one"},
		{Name: "note", Label: "What it is for"},
	}
}

// subscriptionActs are what a reader does with a subscription. The first names what making one has done.
func subscriptionActs() []act {
	return []act{
		{Name: "subscribed", Done: "The subscription begins now."},
		{Name: "test", Label: "Test"},
		{Name: "pause", Label: "Pause", Done: "The subscription is paused."},
		{Name: "resume", Label: "Resume", Done: "The subscription goes on."},
		{Name: "replay", Label: "Deliver the dead ones again", Done: "The deliveries are made again."},
		{
			Name: "rotate", Label: "Replace the secret",
			Explain: "You see the new secret once. For 24 hours webhooks are signed with the old one, too.",
		},
		{
			Name: "unsubscribe", Label: "End", Done: "The subscription has ended.", Danger: true,
			Explain: "It ends for good and cannot be resumed. What still waits for its delivery is dropped.",
		},
	}
}

func showSubscriptions(p *page) (any, error) {
	data := &subscriptions{form: *newForm(p, subscriptionFields())}
	return data, data.read(p)
}

func (d *subscriptions) read(p *page) (err error) {
	d.All = p.param("all") == "true" && p.Administers()
	query := url.Values{
		"all": {strconv.FormatBool(d.All)}, "ended": {strconv.FormatBool(p.param("ended") == "true")},
	}
	d.Items, _, err = pageOf[api.Subscription](p, query, "v1", "subscriptions")
	return err
}

// follows says what a subscription follows.
func follows(s api.Subscription) string { return cmp.Or(s.Scope, s.Item, s.Tag, s.Query) }

// subscribe makes a subscription. The secret of a webhook is in this answer alone.
func subscribe(p *page) (any, error) {
	data := &subscriptions{form: *newForm(p, subscriptionFields())}
	data.names = map[string]string{"scope": "what", "item": "what", "tag": "what", "query": "what"}
	follows := cmp.Or(data.text("follows"), "scope")
	if follows != "scope" {
		data.Values["what"], data.unknown = p.r.PostFormValue("what"), nil
	}
	request := map[string]any{follows: data.text("what")}
	data.put(request, false, "webhook", "note")
	data.put(request, true, "events")
	var made api.Subscription
	_, err := p.write(client.Post(request, "v1", "subscriptions"), &made)
	if err := data.failed(p, err, "subscriptions", data, data.read); err != nil {
		return nil, err
	}
	if made.Secret != "" {
		return nil, answer(p, "subscription", &subscription{Subscription: made}, http.StatusCreated)
	}
	return goBack(p, subscriptionActs()[0].Name, "subscriptions/"+url.PathEscape(made.ID))
}

// subscription is the page of a subscription, with the log of its deliveries.
type subscription struct {
	api.Subscription
	Acts       []act
	Deliveries []api.Delivery
	Next       string
	Events     []api.Event // of a feed, newest first
	Before     int64       // the position before which there may be more of them; 0 if there are no more
	Tested     *api.WebhookTest
	Refused    *problem
}

func showSubscription(p *page) (any, error) {
	data := &subscription{}
	return data, data.read(p)
}

func (d *subscription) read(p *page) (err error) {
	id := p.r.PathValue("id")
	if err := p.get(&d.Subscription, nil, "v1", "subscriptions", id); err != nil {
		return err
	}
	for _, a := range subscriptionActs() {
		if a.Label != "" && p.MayWrite() && d.fits(a.Name) {
			d.Acts = append(d.Acts, a)
		}
	}
	if d.Webhook == "" {
		return d.readFeed(p)
	}
	query := url.Values{"limit": {"50"}, "cursor": p.values("cursor")}
	if state := p.param("state"); slices.Contains([]string{"pending", "delivered", "dead", "dropped"}, state) {
		query.Set("state", state)
	}
	d.Deliveries, d.Next, err = pageOf[api.Delivery](p, query, "v1", "subscriptions", id, "deliveries")
	return err
}

// readFeed reads the newest events of a feed. The API begins with the oldest one, so this goes back in the log, some
// positions at a time, until it finds any.
func (d *subscription) readFeed(p *page) error {
	const span, most = 500, 20
	var start api.Moment // of the subscription
	created := url.Values{"as_of": {d.CreatedAt.Format(time.RFC3339Nano)}}
	if err := p.get(&start, created, "v1", "log", "moment"); err != nil {
		return err
	}
	d.Before = cmp.Or(int64(number(p.Query, "before")), p.Moment.Position+1)
	for i := 0; i < most && d.Before > 0 && len(d.Events) == 0; i++ {
		before, after := d.Before, max(d.Before-1-span, start.Position)
		query := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(span)}}
		events, _, err := pageOf[api.Event](p, query, "v1", "subscriptions", d.ID, "events")
		if err != nil {
			return err
		}
		d.Events = slices.DeleteFunc(events, func(e api.Event) bool { return e.Position >= before })
		if d.Before = after + 1; after == start.Position {
			d.Before = 0
		}
	}
	slices.Reverse(d.Events)
	return nil
}

// fits tells whether an act makes sense for the subscription.
func (d *subscription) fits(act string) bool {
	switch act {
	case "pause":
		return d.State == "active"
	case "resume":
		return d.State == "paused"
	case "test", "rotate":
		return d.Webhook != "" && d.State != "ended"
	case "replay":
		return d.State != "ended" && d.Subscription.Deliveries["dead"] > 0
	}
	return d.State != "ended"
}

// doSubscription does an act with a subscription, or delivers one event again.
func doSubscription(p *page) (any, error) {
	name := p.r.PostFormValue("act")
	i := slices.IndexFunc(subscriptionActs()[1:], func(a act) bool { return a.Name == name })
	if i < 0 {
		return nil, notFound(p)
	}
	path := []string{"v1", "subscriptions", p.r.PathValue("id")}
	request := client.Post(api.Reason{}, append(path, name)...)
	data := &subscription{}
	var out any = &data.Subscription
	switch event := p.r.PostFormValue("event"); {
	case name == "unsubscribe":
		request = client.Request{Method: http.MethodDelete, Path: path, Body: api.Reason{}}
	case name == "replay" && event != "":
		request, out = client.Post(nil, append(path, "deliveries", event, "replay")...), nil
	case name == "replay":
		request.Body, out = nil, nil
	case name == "test":
		data.Tested = &api.WebhookTest{}
		request.Body, out = nil, data.Tested
	}
	_, err := p.write(request, out)
	switch {
	case isRefused(err):
		data.Refused = problemOf(err)
	case err != nil:
		return nil, err
	case name != "test" && name != "rotate":
		return goBack(p, name, "subscriptions/"+url.PathEscape(p.r.PathValue("id")))
	}
	secret := data.Secret
	if err := data.read(p); err != nil {
		return nil, err
	}
	if data.Secret = secret; data.Refused != nil {
		return nil, answer(p, "subscription", data, data.Refused.Status)
	}
	return data, nil
}

// deliveryTone is how a state of a delivery looks.
func deliveryTone(state string) string {
	return map[string]string{"delivered": "good", "dead": "bad", "pending": "warn"}[strings.TrimSpace(state)]
}
