package proof

import (
	"context"
	"slices"

	"golang.org/x/mod/sumdb/note"
)

// lookedThrough is how many of the newest checkpoints of a log are looked at for signatures by other keys.
const lookedThrough = 1000

// strangers are the keys that have signed a tenant's log lately, and that this server does not know: it could not
// verify what they signed, nor could another one what this one signs.
func (p *Prover) strangers(ctx context.Context, tenant string) ([]string, error) {
	signers, err := namesIn(ctx, p.db, `
		SELECT DISTINCT signer
		FROM (
			SELECT signer
			FROM signed_checkpoints
			WHERE tenant = ?
			ORDER BY size DESC
			LIMIT ?
		) AS newest
		ORDER BY signer`, tenant, lookedThrough)
	if err != nil {
		return nil, failed("look who signed", err)
	}
	return slices.DeleteFunc(signers, func(signer string) bool { return slices.Contains(p.known, signer) }), nil
}

// warnOfStrangers says in the log that other servers sign with other keys.
func (p *Prover) warnOfStrangers(ctx context.Context) {
	tenants, err := p.log.Tenants(ctx)
	var unknown []string
	for _, tenant := range tenants {
		signers, refused := p.strangers(ctx, tenant)
		if refused != nil {
			err = refused
		}
		unknown = append(unknown, signers...)
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	switch {
	case err != nil && ctx.Err() == nil:
		p.options.Logger.WarnContext(ctx, "it is not known who else signs the log", "error", err)
	case len(unknown) > 0:
		p.options.Logger.WarnContext(ctx, "the log was also signed with keys that this server does not have, so that it cannot be verified with its own: all servers of a database need the same log.key and log.pub",
			"keys", unknown, "own", signerID(p.key.signer))
	}
}

// idsOf are the public keys' [signerID]; what is no key is left out.
func idsOf(public []string) (ids []string) {
	for _, text := range public {
		if key, err := note.NewVerifier(text); err == nil {
			ids = append(ids, signerID(key))
		}
	}
	return ids
}
