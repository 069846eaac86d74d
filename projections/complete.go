package projections

import "context"

// Complete is nil if the database has every column that this program reads. The error says what it lacks and which
// command helps.
func (p *Knowledge) Complete(ctx context.Context) error {
	if err := p.db.CheckComplete(ctx); err != nil {
		return err
	}
	if err := p.look(ctx, p.db); err != nil {
		return err
	}
	active := p.active()
	made, err := definition(p.db.Engine, knowledgeName, active.Version)
	if err != nil {
		return err
	}
	if err := p.db.CheckColumns(ctx, made, "run annals rebuild knowledge --repair"); err != nil {
		return err
	}
	if made, err = definition(p.db.Engine, pastName, pastVersion); err != nil {
		return err
	}
	if err := p.db.CheckColumns(ctx, made, "restart annals serve, which makes these tables again"); err != nil {
		return err
	}
	if made, err = meaningDefinition(p.db.Engine, p.models.read.Load().tables); err != nil {
		return err
	}
	return p.db.CheckColumns(ctx, made, "put a backup back, as described in docs/backup.md#restore")
}
