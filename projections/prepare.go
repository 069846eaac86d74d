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
	bag  bag
}

var _ events.Preparation = (*Knowledge)(nil)

// Prepare implements [events.Preparation]: it cuts a new item's text into terms.
func (p *Knowledge) Prepare(command domain.Command) domain.Command {
	remember, ok := command.(domain.Remember)
	if !ok {
		return command
	}
	text := remember.Knowledge.Text
	return prepared{Command: command, id: remember.ID, text: text, bag: bagOf(&domain.Knowledge{Text: text})}
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
		return p.bag
	}
	return bagOf(k)
}
