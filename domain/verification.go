package domain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

var VerificationStreams = StreamKind{
	Name: "verification", State: Verification{}, Form: 2, Facts: []Fact{PolicySet{}, PolicyRemoved{}},
}

// VerificationStream is the stream of the verification policies, one per tenant.
var VerificationStream = VerificationStreams.Of("policies")

// The limits of verification policies.
const (
	MaxVerificationDays = 3650
	maxPolicies         = 500
)

// Verification is the state of [VerificationStream]: the policies by which items are verified.
type Verification struct {
	Policies []VerificationPolicy `json:"policies,omitempty"` // in the order of their scopes and types
}

// VerificationPolicy says how often the items of a scope and a type are verified, and by whom.
type VerificationPolicy struct {
	PolicyKey

	EveryDays int       `json:"every_days"`         // 0 if they are not verified
	Verifier  Entity    `json:"verifier,omitempty"` // a user, an agent or a group; empty for none
	Approve   []Trust   `json:"approve,omitempty"`  // what these classes write is proposed
	SetAt     time.Time `json:"set_at"`
}

// PolicyKey names a policy. A tenant has at most one of each key.
type PolicyKey struct {
	Scope Scope `json:"scope,omitempty"` // empty for all
	Type  Type  `json:"type,omitempty"`  // empty for all
}

// Every is the period of the policy.
func (p VerificationPolicy) Every() time.Duration { return time.Duration(p.EveryDays) * 24 * time.Hour }

// compare orders keys by their scopes, then by their types.
func (k PolicyKey) compare(other PolicyKey) int {
	return cmp.Or(cmp.Compare(k.Scope, other.Scope), cmp.Compare(k.Type, other.Type))
}

// matches tells whether items of these scopes and this type are verified by the policy.
func (k PolicyKey) matches(scopes []Scope, of Type) bool {
	return (k.Scope == "" || slices.Contains(scopes, k.Scope)) && (k.Type == "" || k.Type == of)
}

// specificity is the higher, the fewer items a policy is about. A scope counts more than a type.
func (k PolicyKey) specificity() (n int) {
	if k.Scope != "" {
		n += 2
	}
	if k.Type != "" {
		n++
	}
	return n
}

// For is the policy of items of these scopes and this type: the most specific one, and of several the one with the
// shortest period. false if there is none.
func (v Verification) For(scopes []Scope, of Type) (best VerificationPolicy, found bool) {
	for _, p := range v.Policies {
		if p.EveryDays == 0 || !p.matches(scopes, of) {
			continue
		}
		if !found || cmp.Or(best.specificity()-p.specificity(), p.EveryDays-best.EveryDays) < 0 {
			best, found = p, true
		}
	}
	return best, found
}

func (v Verification) place(key PolicyKey) (int, bool) {
	return slices.BinarySearchFunc(v.Policies, key, func(p VerificationPolicy, key PolicyKey) int {
		return p.compare(key)
	})
}

func (v Verification) Evolve(fact Fact, at EventMetadata) (State, error) {
	v.Policies = slices.Clone(v.Policies)
	switch f := fact.(type) {
	case PolicySet:
		p := VerificationPolicy{
			PolicyKey: PolicyKey{f.Scope, f.Type}, EveryDays: f.EveryDays, Verifier: f.Verifier, Approve: f.Approve,
			SetAt: at.RecordedAt,
		}
		i, found := v.place(p.PolicyKey)
		if found {
			v.Policies = slices.Delete(v.Policies, i, i+1)
		}
		v.Policies = slices.Insert(v.Policies, i, p)
	case PolicyRemoved:
		if i, found := v.place(PolicyKey(f)); found {
			v.Policies = slices.Delete(v.Policies, i, i+1)
		}
	default:
		return v, errors.New("not a fact about verification")
	}
	return v, nil
}

// OverdueFactor multiplies the weight of a hit whose verification is overdue.
const OverdueFactor = 0.9

// ConfirmedFactor multiplies the weight of a hit that its verifier confirmed, up to the score.
const ConfirmedFactor = 1.1

// Verified is who confirmed an item last, and until when that counts.
type Verified struct {
	By      Entity    // empty if it was never confirmed
	At      time.Time // zero if it was never confirmed
	Until   time.Time // zero for ever
	Overdue bool
	Counts  bool // in rank: its verifier confirmed it
}

// Until is the end of the last confirmation of k or, without one, the time by which the policies ask for the next; zero
// if there is neither.
func (v Verification) Until(k *Knowledge) time.Time {
	if !k.ConfirmUntil.IsZero() {
		return k.ConfirmUntil
	}
	policy, found := v.For(k.Scopes, k.Type)
	switch {
	case !found:
		return time.Time{}
	case k.ConfirmedAt.IsZero():
		return k.CreatedAt.Add(policy.Every())
	}
	return k.ConfirmedAt.Add(policy.Every())
}

// Overdue tells whether the verification of k has ended.
func (v Verification) Overdue(k *Knowledge, now time.Time) bool {
	until := v.Until(k)
	return !until.IsZero() && !until.After(now)
}

// Counts tells whether the last confirmation of k counts in rank if it was by a verifier: a policy names a verifier, k
// was neither revised nor reported stale since, and its verification is not overdue.
func (v Verification) Counts(k *Knowledge, now time.Time) bool {
	policy, found := v.For(k.Scopes, k.Type)
	return found && policy.Verifier != "" && !k.ConfirmedAt.IsZero() && !k.ConfirmedAt.Before(k.UpdatedAt) &&
		k.Stale.Reporters == 0 && !v.Overdue(k, now)
}

// Verify sets k.Verified, given who confirmed k last, and whether as its verifier.
func (v Verification) Verify(k *Knowledge, last Verified, now time.Time) {
	k.Verified = &Verified{
		By: last.By, At: k.ConfirmedAt, Until: v.Until(k), Overdue: v.Overdue(k, now),
		Counts: last.Counts && v.Counts(k, now),
	}
	if *k.Verified == (Verified{}) {
		k.Verified = nil
	}
}

// Assignment is who should review an item, and why.
type Assignment struct {
	To  []Entity // in order of their names; none if there is nobody
	Why string   // "verifier", "owner" or "maintainer"
}

// Has tells whether the assignment is to one of the entities.
func (a Assignment) Has(some ...Entity) bool {
	return slices.ContainsFunc(a.To, func(e Entity) bool { return slices.Contains(some, e) })
}

// Assign says who should review k: the verifier of its policy, or else its owner, or else the maintainers of the
// groups that it is meant for. It passes over verifiers who cannot read a scope any more, and over who was deactivated.
func (v Verification) Assign(
	k *Knowledge, reads func(Entity, Scope) bool, deactivated func(Entity) bool, maintainers func(group Entity) []Entity,
) Assignment {
	if k.Status == IsProposed {
		deactivated, v = func(Entity) bool { return true }, Verification{} // its maintainers decide
	}
	if p, found := v.For(k.Scopes, k.Type); found && p.Verifier != "" && reads(p.Verifier, p.Scope) {
		return Assignment{To: []Entity{p.Verifier}, Why: "verifier"}
	}
	if !deactivated(k.Owner) {
		return Assignment{To: []Entity{k.Owner}, Why: "owner"}
	}
	a := Assignment{Why: "maintainer"}
	for _, scope := range k.Scopes {
		a.To = append(a.To, maintainers(scope.Entity())...)
	}
	slices.Sort(a.To)
	a.To = slices.Compact(a.To)
	return a
}

// MaySteward tells whether p may confirm, supersede and merge k: it may change k, maintains a group that k is meant
// for, or is or belongs to the verifier that the policies v name, and still reads the scope of that policy.
func (p Principal) MaySteward(k *Knowledge, v Verification) bool {
	if p.MayChange(k) || p.Role != Auditor && p.maintainsScopeOf(k) {
		return true
	}
	return p.verifier(k, v) != ""
}

// verifier is whom the policies v name as the verifier of k, if p may act as that; empty otherwise.
func (p Principal) verifier(k *Knowledge, v Verification) Entity {
	policy, found := v.For(k.Scopes, k.Type)
	if !found || p.Role == Auditor || policy.Verifier == "" || !p.belongs(policy.Verifier) ||
		policy.Scope != "" && policy.Scope != Public && !p.ActsFor(policy.Scope.Entity()) {
		return ""
	}
	return policy.Verifier
}

func (p Principal) maintainsScopeOf(k *Knowledge) bool {
	return slices.ContainsFunc(k.Scopes, func(s Scope) bool { return slices.Contains(p.Maintains, s.Entity()) })
}

// stewarded finds the item if the caller may see it and is its steward, in an expected revision.
func (t Target) stewarded(dc DecisionContext) (*Knowledge, error) {
	k, err := t.visible(dc)
	switch {
	case err != nil:
		return nil, err
	case t.By.Role == Auditor:
		return nil, errAuditor()
	case t.By.MayChange(k) || t.By.maintainsScopeOf(k): // without the policies, which cost a query
	case !t.By.MaySteward(k, StateOf[Verification](dc, VerificationStream)):
		return nil, Refuse(ErrForbidden, "%s belongs to %s", k.ID, k.Owner).
			WithFix("ask its owner, a maintainer of a group that it is meant for, its verifier, or an admin")
	}
	return k, t.expected(k)
}

// OfPolicy is what the commands about a verification policy have in common.
type OfPolicy struct {
	By Principal
	PolicyKey
}

func (OfPolicy) Stream() string { return VerificationStream }

func (OfPolicy) Reads() Reads { return Reads{} }

// check names bad fields.
func (c OfPolicy) check(p *Problems) {
	if c.Scope != "" {
		if _, err := ParseScope(string(c.Scope)); err != nil {
			p.Add("scope", "%s", err)
		}
	}
	oneOf(p, "type", c.Type, Types, false)
}

// SetPolicy asks to verify the items of a scope and a type every few days, or for approval of what some classes write
// there. Of the policy of the same key, what it does not name stays.
type SetPolicy struct {
	OfPolicy
	EveryDays int      // with Verifier; 0 to keep both
	Verifier  Entity   // empty for none
	Approve   *[]Trust // nil to keep it
}

// Validate names every bad field at once.
func (c SetPolicy) Validate() error {
	var p Problems
	c.check(&p)
	if (c.EveryDays != 0 || c.Verifier != "" || c.Approve == nil) &&
		(c.EveryDays < 1 || c.EveryDays > MaxVerificationDays) {
		p.Add("every_days", "must be 1 to %d", MaxVerificationDays)
	}
	if c.Verifier != "" {
		checkEntity(&p, "verifier", c.Verifier)
	}
	ifSet(c.Approve, func(all []Trust) {
		for i, t := range all {
			oneOf(&p, fmt.Sprintf("approve[%d]", i), t, Trusts, true)
		}
	})
	return p.Err()
}

func (c SetPolicy) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.By.mayKeep(dc, "policies", c.Scope.Entity()); err != nil {
		return nil, err
	}
	if err := c.mayVerify(dc); err != nil {
		return nil, err
	}
	now := StateOf[Verification](dc, VerificationStream)
	i, found := now.place(c.PolicyKey)
	next := VerificationPolicy{}
	if found {
		next = now.Policies[i]
	}
	if c.EveryDays > 0 {
		next.EveryDays, next.Verifier = c.EveryDays, c.Verifier
	}
	if c.Approve != nil {
		next.Approve = nil
		for _, t := range Trusts { // each once, in this order
			if slices.Contains(*c.Approve, t) {
				next.Approve = append(next.Approve, t)
			}
		}
	}
	empty := next.EveryDays == 0 && len(next.Approve) == 0
	switch {
	case !found && empty:
		return nil, nil
	case empty:
		return []Fact{PolicyRemoved{Scope: c.Scope, Type: c.Type}}, nil
	case found && next.EveryDays == now.Policies[i].EveryDays && next.Verifier == now.Policies[i].Verifier &&
		slices.Equal(next.Approve, now.Policies[i].Approve):
		return nil, nil
	case !found && len(now.Policies) >= maxPolicies:
		return nil, Refuse(ErrConflict, "there are %d policies, the most that a tenant may have", maxPolicies).
			WithFix("remove one: annals policy remove SCOPE")
	}
	return []Fact{PolicySet{
		Scope: c.Scope, Type: c.Type, EveryDays: next.EveryDays, Verifier: next.Verifier, Approve: next.Approve,
	}}, nil
}

// mayVerify refuses a verifier who could not read the scope, by the directory.
func (c SetPolicy) mayVerify(dc DecisionContext) error {
	if c.Verifier == "" {
		return nil
	}
	var p Problems
	scope := c.Scope.Entity() // empty for public and for all scopes
	switch entry := StateOf[MemberEntry](dc, DirectoryStream(c.Verifier)); {
	case entry.AddedAt.IsZero():
		p.Add("verifier", "%s is not in the directory: add it with annals %s add %s", c.Verifier, c.Verifier.Kind(),
			c.Verifier.ID())
	case !entry.Active():
		p.Add("verifier", "%s was deactivated", c.Verifier)
	case scope != "":
		if belongsTo(c.Verifier, groupsOf(dc, c.Verifier), scope) {
			return nil
		}
		p.Add("verifier", "%s cannot read %s: name it, or a member of it", c.Verifier, c.Scope)
	}
	return p.Err()
}

// RemovePolicy asks to remove a policy.
type RemovePolicy struct{ OfPolicy }

// Validate names every bad field at once.
func (c RemovePolicy) Validate() error {
	var p Problems
	c.check(&p)
	return p.Err()
}

func (c RemovePolicy) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if err := c.By.mayKeep(dc, "policies", c.Scope.Entity()); err != nil {
		return nil, err
	}
	if _, found := StateOf[Verification](dc, VerificationStream).place(c.PolicyKey); !found {
		return nil, Refuse(ErrNotFound, "there is no such policy").WithFix("list them: annals policy list")
	}
	return []Fact{PolicyRemoved{Scope: c.Scope, Type: c.Type}}, nil
}

var (
	_ State   = Verification{}
	_ Command = SetPolicy{}
	_ Command = RemovePolicy{}
)
