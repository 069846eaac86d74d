package console

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// Administers tells whether the caller's role is one that administers its tenant. The API decides.
func (p *page) Administers() bool {
	return p.Caller != nil && (p.Caller.Role == "admin" || p.Caller.Role == "root")
}

// unusedFor is for how long a key may go unused before the page marks it.
const unusedFor = 90 * 24 * time.Hour

// access is the page of the tenant's keys.
type access struct {
	Keys   []issuedKey // newest first
	Ended  int         // the number of keys that are not valid any more, and not among Keys
	Create *form       // of a new key; nil in the past
	First  bool        // the next key is the first one
}

// issuedKey is a key, and what follows from its times.
type issuedKey struct {
	api.IssuedKey
	Unused bool // it is valid, and was not used for a long time
	Own    bool // the reader uses it

	Unknown bool // its subject is not in the directory, which has others
}

func issued(p *page, k api.IssuedKey) issuedKey {
	one := issuedKey{IssuedKey: k, Own: p.Caller.Authentication == domain.KeyStreams.Of(k.Prefix)}
	if k.State == "valid" {
		since := k.CreatedAt
		if k.UsedAt != nil {
			since = *k.UsedAt
		}
		one.Unused = p.Now.Sub(since) >= unusedFor
	}
	return one
}

// Allows tells whether an act makes sense for the key.
func (k issuedKey) Allows(act string) bool {
	return k.State == "valid" && (act != "rotate" || k.ReplacedBy == "") ||
		act == "revoke" && (k.State == "invited" || k.State == "ended")
}

// isLastAdmin tells whether no other valid key administers the tenant.
func isLastAdmin(all []issuedKey, key issuedKey) bool {
	administers := func(k issuedKey) bool { return k.State == "valid" && (k.Role == "admin" || k.Role == "root") }
	return administers(key) && !slices.ContainsFunc(all, func(k issuedKey) bool {
		return k.Prefix != key.Prefix && administers(k)
	})
}

// readKeys reads the tenant's keys, newest first.
func readKeys(p *page) ([]issuedKey, error) {
	keys, _, err := pageOf[api.IssuedKey](p, nil, "v1", "keys")
	all := make([]issuedKey, len(keys))
	for i, k := range keys {
		all[len(all)-1-i] = issued(p, k)
	}
	return all, err
}

// readMembers reads who is in the directory.
func readMembers(p *page) (map[string]bool, error) {
	known := map[string]bool{}
	for _, of := range memberKinds() {
		query := url.Values{"kind": {of.Name}, "limit": {"500"}}
		for next := "first"; next != ""; query.Set("cursor", next) {
			var members []api.Member
			var err error
			if members, next, err = pageOf[api.Member](p, query, "v1", "directory"); err != nil {
				return nil, err
			}
			for _, m := range members {
				known[m.Member] = true
			}
		}
	}
	return known, nil
}

// showAccess shows the keys that are valid, or those that were not used for a long time, or all.
func showAccess(p *page) (any, error) {
	data := &access{Create: newForm(p, newKeyFields())}
	if p.NoAuth() {
		data.Create.Values["role"] = "admin" // the API requires it of the first key
	}
	return data, data.read(p)
}

func (d *access) read(p *page) error {
	all, err := readKeys(p)
	if err != nil {
		return err
	}
	known, err := readMembers(p)
	if err != nil {
		return err
	}
	show := p.param("show")
	d.First = p.NoAuth()
	for _, k := range all {
		k.Unknown = len(known) > 0 && !known[k.Subject]
		switch {
		case show == "unused" && !k.Unused:
		case k.State == "valid" || k.State == "invited" || show == "all":
			d.Keys = append(d.Keys, k)
		default:
			d.Ended++
		}
	}
	if p.Moment.Past() {
		d.Create = nil
	}
	return nil
}

func newKeyFields() []field {
	return []field{
		{Name: "subject", Label: "Whose it is", Required: true, Kinds: []string{"user", "agent"}},
		{Name: "role", Label: "Role", Values: []string{"member", "service", "auditor", "admin", "root"}},
		{Name: "memberships", Label: "What they belong to", Kinds: groups, Several: true},
		{Name: "acts_for", Label: "May act on behalf of others", Check: true},
		{
			Name: "acts_for_only", Label: "Only on behalf of these and of members of these groups", Kinds: anyone, Several: true,
		},
		{Name: "publish_public", Label: "May write to the public scope", Check: true},
		{Name: "expires_at", Label: "Expires on, such as 2027-01-31; never if empty"},
		{Name: "note", Label: "What it is for"},
	}
}

// createKey creates the key of a form. The key itself is in this answer alone.
func createKey(p *page) (any, error) {
	data := &access{Create: newForm(p, newKeyFields())}
	var made api.IssuedKey
	_, err := p.write(client.Post(newKeyOf(data.Create), "v1", "keys"), &made)
	if err := data.Create.failed(p, err, "access", data, data.read); err != nil {
		return nil, err
	}
	return nil, showKey(p, made)
}

// newKeyOf is the key that a form describes. The API finds what is wrong with it.
func newKeyOf(f *form) map[string]any {
	request := map[string]any{
		"subject": f.text("subject"), "role": f.text("role"), "note": f.text("note"), "acts_for": f.Values["acts_for"] != "",
		"publish_public": f.Values["publish_public"] != "",
	}
	f.put(request, true, "memberships", "acts_for_only")
	if until := f.text("expires_at"); until != "" {
		request["expires_at"] = until
		if date, err := time.Parse(time.DateOnly, until); err == nil {
			request["expires_at"] = date
		}
	}
	return request
}

// newKey is a key that was just made. No other page shows it.
type newKey struct {
	api.IssuedKey
	First bool // the server accepted every caller until now
}

// showKey answers with a new key.
func showKey(p *page, k api.IssuedKey) error {
	data := newKey{k, p.NoAuth()}
	if data.First {
		p.Caller = nil // from now on, the server does not know them
	}
	return answer(p, "newkey", data, http.StatusCreated)
}

// keyActs are what an admin does to keys.
func keyActs() []act {
	overlap := field{Name: "overlap", Label: "The old key stays valid", Values: overlaps()}
	return []act{
		{
			Name: "rotate", Label: "Rotate", Fields: []field{overlap},
			Explain: "Another key takes its place, and allows the same. You see the new key once.",
		},
		{
			Name: "revoke", Label: "Revoke", Done: "The key is revoked.", Danger: true, Fields: []field{reasonField()},
			Explain: "Every request and every session with this key is refused from now on. That cannot be undone.",
		},
	}
}

// overlaps are how long a key stays valid beside the one that takes its place.
func overlaps() []string {
	return []string{"for a day", "for an hour", "for a week", "for 30 days", "not at all"}
}

// secondsOf are the seconds of an overlap; nil if there is none with this label.
func secondsOf(label string) *int64 {
	const hour = 60 * 60
	seconds, is := map[string]int64{
		"for a day": 24 * hour, "for an hour": hour, "for a week": 7 * 24 * hour, "for 30 days": 30 * 24 * hour,
		"not at all": 0,
	}[label]
	if !is {
		return nil
	}
	return &seconds
}

// keyAct is the form of an act on a key.
type keyAct struct {
	form
	Act  act
	Key  issuedKey
	Last bool // no other key administers the tenant
}

func keyActOf(p *page) (*keyAct, error) {
	one, err := actOf(p, keyActs())
	if err != nil {
		return nil, err
	}
	all, err := readKeys(p)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(k issuedKey) bool { return k.Prefix == p.r.PathValue("prefix") })
	if i < 0 {
		return nil, notFound(p)
	}
	return &keyAct{*newForm(p, one.Fields), one, all[i], isLastAdmin(all, all[i])}, nil
}

// askKeyAct asks whether to do something to a key.
func askKeyAct(p *page) (any, error) {
	data, err := keyActOf(p)
	if err == nil && !data.Key.Allows(data.Act.Name) {
		return nil, notFound(p)
	}
	return data, err
}

// doKeyAct rotates or revokes a key.
func doKeyAct(p *page) (any, error) {
	data, err := keyActOf(p)
	if err != nil {
		return nil, err
	}
	path := []string{"v1", "keys", data.Key.Prefix}
	request := client.Request{Method: http.MethodDelete, Path: path, Body: api.Reason{Reason: data.text("reason")}}
	if data.Act.Name == "rotate" {
		request = client.Post(api.KeyRotation{Overlap: secondsOf(data.Values["overlap"])}, append(path, "rotate")...)
	}
	var made api.IssuedKey
	_, err = p.write(request, &made)
	if err := data.failed(p, err, "keyact", data); err != nil {
		return nil, err
	}
	if data.Act.Name == "rotate" {
		return nil, showKey(p, made)
	}
	return goBack(p, data.Act.Name, "access")
}

// tenants are the tenants of the server, with the form of another.
type tenants struct {
	form
	Items []api.Tenant
}

func tenantFields() []field { return []field{{Name: "name", Label: "Name", Required: true}} }

func showTenants(p *page) (any, error) {
	data := &tenants{form: *newForm(p, tenantFields())}
	return data, data.read(p)
}

func (t *tenants) read(p *page) (err error) {
	t.Items, _, err = pageOf[api.Tenant](p, nil, "v1", "tenants")
	return err
}

// createTenant creates a tenant. The page says how to give its admin a key.
func createTenant(p *page) (any, error) {
	data := &tenants{form: *newForm(p, tenantFields())}
	_, err := p.write(client.Post(api.NewTenant{Name: data.text("name")}, "v1", "tenants"), nil)
	if err := data.failed(p, err, "tenants", data, data.read); err != nil {
		return nil, err
	}
	return goBack(p, "tenant", "access/tenants")
}
