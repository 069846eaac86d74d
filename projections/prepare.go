package projections

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// prepared is a command with what takes longest of writing what follows from it: the words of what is
// to be remembered.
type prepared struct {
	domain.Command
	id    string
	text  domain.Text
	terms map[string]itemTerms // by the tokenizer's version
}

var _ events.Preparation = (*Knowledge)(nil)

// Prepare implements [events.Preparation]: it cuts a new item's text into terms, as each version does that
// is written.
func (p *Knowledge) Prepare(command domain.Command) domain.Command {
	remember, ok := command.(domain.Remember)
	if !ok {
		return command
	}
	text := remember.Knowledge.Text
	wordings := map[string]itemTerms{}
	for _, v := range p.versionSet.Load().versions {
		if _, cut := wordings[v.tokenizer.Version]; !cut && !v.unsupported {
			wordings[v.tokenizer.Version] = itemTermsOf(v.tokenizer, &domain.Knowledge{Text: text})
		}
	}
	return prepared{Command: command, id: remember.ID, text: text, terms: wordings}
}

// preparedOf are the prepared commands, by item.
func preparedOf(commands []domain.Command) map[string]prepared {
	found := make(map[string]prepared, len(commands))
	for _, command := range commands {
		if p, ok := command.(prepared); ok {
			found[p.id] = p
		}
	}
	return found
}

// itemTermsOf are the terms of an item as it is by now, from its command if that foresaw it.
func (s *stage) itemTermsOf(k *domain.Knowledge) itemTerms {
	if p, found := s.prepared[k.ID]; found && saySame(p.text, k.Text) {
		if w, cut := p.terms[s.version.tokenizer.Version]; cut {
			return w
		}
	}
	return itemTermsOf(s.version.tokenizer, k)
}
