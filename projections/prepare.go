package projections

import (
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// prepared is a command with what takes longest of writing what follows from it: the words of what is
// to be remembered.
type prepared struct {
	domain.Command
	id   string
	text domain.Text
	bags map[string]bag // by the tokenizer's version
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
	bags := map[string]bag{}
	for _, v := range p.lineup.Load().versions {
		if _, cut := bags[v.tokenizer.Version]; !cut && !v.foreign {
			bags[v.tokenizer.Version] = bagOf(v.tokenizer, &domain.Knowledge{Text: text})
		}
	}
	return prepared{Command: command, id: remember.ID, text: text, bags: bags}
}

// bags are those of prepared commands, by item.
func bags(commands []domain.Command) map[string]prepared {
	found := make(map[string]prepared, len(commands))
	for _, command := range commands {
		if p, ok := command.(prepared); ok {
			found[p.id] = p
		}
	}
	return found
}

// bagOf is the bag of an item as it is by now, from its command if that foresaw it.
func (s *stage) bagOf(k *domain.Knowledge) bag {
	if p, found := s.bags[k.ID]; found && saySame(p.text, k.Text) {
		if b, cut := p.bags[s.version.tokenizer.Version]; cut {
			return b
		}
	}
	return bagOf(s.version.tokenizer, k)
}
