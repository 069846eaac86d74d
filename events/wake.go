package events

import "context"

// NotifyAll lets those who follow the log look whether their checkpoints are where the logs end, as they do
// after an append: somebody has set one back.
func (l *Log) NotifyAll(ctx context.Context) error {
	tenants, err := l.Tenants(ctx)
	for _, tenant := range tenants {
		l.appended.notify(tenant)
	}
	return err
}
