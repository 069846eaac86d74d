// Package people answers who the members of tenants are, and which groups they belong to, from their streams.
package people

import (
	"context"
	"maps"
	"slices"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Directory answers who the members of tenants are, and which groups they belong to. It is safe for concurrent use.
type Directory struct{ Log *events.Reader }

// Belongings are the groups of a member. It takes a query for each level of groups, and one for an unknown member.
func (d Directory) Belongings(
	ctx context.Context, tenant string, member domain.Entity, stated []domain.Entity,
) (domain.Belongings, error) {
	ctx = database.ForTenant(ctx, tenant)
	entries := func(entities []domain.Entity) (map[domain.Entity]domain.MemberEntry, error) {
		return EntriesOf(ctx, d.Log, tenant, entities)
	}
	return domain.BelongingsOf(member, stated, entries)
}

// EntriesOf are the entries of members, with one query.
func EntriesOf(
	ctx context.Context, log *events.Reader, tenant string, members []domain.Entity,
) (map[domain.Entity]domain.MemberEntry, error) {
	names := make([]string, len(members))
	for i, e := range members {
		names[i] = domain.DirectoryStream(e)
	}
	states, err := log.StatesOf(ctx, tenant, names)
	found := map[domain.Entity]domain.MemberEntry{}
	for name, state := range states {
		found[domain.Entity(name)], _ = state.(domain.MemberEntry)
	}
	return found, err
}

// Known are those of some members that the directory has, in order of their names, with their display names.
func (d Directory) Known(
	ctx context.Context, tenant string, some []domain.Entity,
) (members []domain.DirectoryMember, err error) {
	ctx = database.ForTenant(ctx, tenant)
	entries, err := EntriesOf(ctx, d.Log, tenant, some)
	for _, member := range slices.Sorted(maps.Keys(entries)) {
		members = append(members, domain.DirectoryMember{MemberEntry: entries[member]})
	}
	if err != nil {
		return nil, err
	}
	return members, d.Name(ctx, tenant, members)
}

// Members lists up to limit members of a kind ("user") after a member, in order of their names, with their display
// names.
func (d Directory) Members(
	ctx context.Context, tenant, kind string, after domain.Entity, limit int,
) ([]domain.DirectoryMember, error) {
	ctx = database.ForTenant(ctx, tenant)
	states, err := d.Log.States(ctx, tenant, kind+":", domain.DirectoryStream(after), limit)
	if err != nil || len(states) == 0 {
		return nil, err
	}
	members := make([]domain.DirectoryMember, len(states))
	for i, s := range states {
		members[i].MemberEntry, _ = s.State.(domain.MemberEntry)
	}
	return members, d.Name(ctx, tenant, members)
}

// Name adds the display names, external ids and user names of members.
func (d Directory) Name(ctx context.Context, tenant string, members []domain.DirectoryMember) error {
	if len(members) == 0 {
		return nil
	}
	streams := make([]string, len(members))
	for i, m := range members {
		streams[i] = domain.DirectoryStream(m.Member)
	}
	newest, err := d.Log.NewestOf(ctx, tenant, streams, []string{
		domain.MemberAdded{}.Name(), domain.MemberRenamed{}.Name(),
	})
	for i, name := range streams {
		m := &members[i]
		switch f := newest[name].Fact.(type) {
		case domain.MemberAdded:
			m.DisplayName, m.ExternalID, m.UserName = f.DisplayName, f.ExternalID, f.UserName
		case domain.MemberRenamed:
			m.DisplayName, m.ExternalID, m.UserName = f.DisplayName, f.ExternalID, f.UserName
		}
	}
	return err
}

// InGroup lists the direct members of a group, in order of their names, with their display names. It reads the states
// of all members of the tenant.
func (d Directory) InGroup(
	ctx context.Context, tenant string, group domain.Entity,
) (members []domain.DirectoryMember, err error) {
	const page = 500
	for _, kind := range slices.Sorted(slices.Values(domain.EntityKinds)) {
		for after := ""; ; {
			states, err := d.Log.States(ctx, tenant, kind+":", after, page)
			if err != nil {
				return nil, err
			}
			for _, s := range states {
				after = s.Name
				entry, _ := s.State.(domain.MemberEntry)
				if entry.RoleIn(group) != "" {
					members = append(members, domain.DirectoryMember{MemberEntry: entry})
				}
			}
			if len(states) < page {
				break
			}
		}
	}
	return members, d.Name(ctx, tenant, members)
}
