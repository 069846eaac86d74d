package events

import "context"

// Wake lets those who follow the log look whether their checkpoints are where the logs end, as they do
// after an append: somebody has set one back.
func (l *Log) Wake(ctx context.Context) error {
	tenants, err := l.Tenants(ctx)
	for _, tenant := range tenants {
		l.news.tell(tenant)
	}
	return err
}
