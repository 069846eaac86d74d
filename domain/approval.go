package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// asking are the policies that ask for approval of what one of the classes writes in these scopes. Without classes, it
// is those that ask for any.
func (v Verification) asking(scopes []Scope, of Type, classes ...Trust) (found []VerificationPolicy) {
	for _, p := range v.Policies {
		if len(p.Approve) > 0 && p.matches(scopes, of) &&
			(len(classes) == 0 || slices.ContainsFunc(p.Approve, func(t Trust) bool { return slices.Contains(classes, t) })) {
			found = append(found, p)
		}
	}
	return found
}

// MayApprove tells whether p may accept and decline k, which is proposed: in person, as a maintainer of each group
// whose policy asks for approval, or as an admin. What a person wrote is not accepted by themselves, if a policy asks
// for approval of what people write.
func (p Principal) MayApprove(k *Knowledge, v Verification) bool {
	asking := v.asking(k.Scopes, k.Type)
	mine := slices.ContainsFunc(p.Selves(), func(e Entity) bool { return slices.Contains(k.Voices.Authors, e) })
	if p.Role == Auditor || p.Trust() != FromPerson || !p.MaySee(k) {
		return false
	}
	for _, policy := range asking {
		switch group := policy.Scope.Entity(); {
		case mine && slices.Contains(policy.Approve, FromPerson):
			return false
		case p.IsTenantAdmin(), slices.Contains(p.Maintains, group), group != "" && group == p.EffectiveSubject(),
			policy.Scope == "" && p.maintainsScopeOf(k):
		default:
			return false
		}
	}
	return len(asking) > 0 || p.IsTenantAdmin() || p.maintainsScopeOf(k)
}

// mustApprove refuses a change by a class of which a policy asks for approval.
func mustApprove(dc DecisionContext, k *Knowledge, scopes []Scope, of Type, classes ...Trust) error {
	asking := StateOf[Verification](dc, VerificationStream).asking(scopes, of, classes...)
	if len(asking) == 0 {
		return nil
	}
	where := cmp.Or(string(asking[0].Scope), "the tenant")
	return Refuse(ErrForbidden, "%s asks for approval of what comes from %s", where, listed(asking[0].Approve)).
		WithFix("remember it as an item of its own, which is proposed to the stewards; they may let it supersede %s", k.ID)
}

// proposal finds an item that waits for the caller's approval, in an expected revision.
func (t Target) proposal(dc DecisionContext) (*Knowledge, error) {
	k, err := t.visible(dc)
	switch {
	case err != nil:
		return nil, err
	case k.Status != IsProposed:
		return nil, Refuse(ErrConflict, "%s does not wait for approval: it is %s", k.ID, k.Status)
	case !t.By.MayApprove(k, StateOf[Verification](dc, VerificationStream)):
		return nil, Refuse(ErrForbidden, "%s waits for the approval of a maintainer of its groups, or of an admin", k.ID).
			WithFix("ask them; nobody accepts as an agent, or for another")
	}
	return k, t.expected(k)
}

// Accept asks to show a proposed item to its readers, with changes of its text if there are any.
type Accept struct {
	Target
	Changes Revised
	Reason  string
}

// Validate names every bad field at once.
func (c Accept) Validate() error {
	return Revise{Target: c.Target, Changes: c.Changes, Reason: c.Reason}.Validate()
}

// Decide implements [Command]. If another item has the URI by now, the item gets one beside it.
func (c Accept) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.proposal(dc)
	if err != nil {
		return nil, err
	}
	var facts []Fact
	if revised, changed := c.Changes.withoutSummary(dc, k).different(k); changed {
		revised.Reason = c.Reason
		facts = append(facts, revised)
	}
	return inPlace(dc, k, append(facts, Accepted{
		By: c.By.EffectiveSubject(), Verifier: c.By.verifier(k, StateOf[Verification](dc, VerificationStream)),
		Reason: c.Reason,
	})), nil
}

// Decline asks to delete a proposed item, and says why.
type Decline struct {
	Target
	Reason string
}

// Validate names every bad field at once.
func (c Decline) Validate() error {
	if strings.TrimSpace(c.Reason) == "" {
		var p Problems
		p.Add("reason", "must say why, to the author")
		return p.Err()
	}
	return checkReason(c.Reason)
}

func (c Decline) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if _, err := c.proposal(dc); err != nil {
		return nil, err
	}
	return []Fact{Deleted{Proposed: true, Reason: c.Reason}}, nil
}

func (c Accept) RewriteText(r TextRewriter) Command {
	c.Changes = Revise{Changes: c.Changes}.RewriteText(r).(Revise).Changes
	r.all(&c.Reason)
	return c
}

func (c Decline) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

var (
	_ TextCommand = Accept{}
	_ TextCommand = Decline{}
)
