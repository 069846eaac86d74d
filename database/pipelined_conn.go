package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync/atomic"
)

// transaction is a running transaction of [DB.Transact].
type transaction struct {
	db         *DB
	last       string                  // statements that go with COMMIT, each with its semicolon
	statements map[statement]*sql.Stmt // SQLite: those that it has used, prepared for it
}

// opening marks the context in which [DB.Transact] opens its transaction.
type opening struct{}

// pipelinedConn is lib/pq's connection, for a transaction of [DB.Transact] without the round trips in which nothing
// but BEGIN or COMMIT is said: BEGIN goes with the first statement, and COMMIT with the last ones if
// they were handed over with [Script.Finish]. Whose rows a statement sees goes with it, too.
type pipelinedConn struct {
	pqConn
	unread  func() bool  // whether the server has said something, or hung up, unasked
	guarded *atomic.Bool // whether this role sees only the rows that it says it wants to see
	begin   string       // not said yet
	open    *transaction // whose last statements may not have been said yet
	within  bool         // a transaction that was opened without [DB.Transact]
}

// pqConn is what lib/pq's connections can do.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Tx
	driver.Validator
}

var _ pqConn = (*pipelinedConn)(nil)

// ResetSession is asked before the connection is used again. One that the server has ended meanwhile is
// refused, since there is no BEGIN any more that would find out while nothing is lost.
func (c *pipelinedConn) ResetSession(ctx context.Context) error {
	if c.unread() {
		return driver.ErrBadConn
	}
	return c.pqConn.ResetSession(ctx)
}

func (c *pipelinedConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	t, ours := ctx.Value(opening{}).(*transaction)
	if !ours {
		if _, err := c.pqConn.BeginTx(ctx, options); err != nil {
			return nil, err
		}
		c.begin, c.within = c.confinement(ctx), true
		return c, nil
	}
	c.begin, c.open = "BEGIN ISOLATION LEVEL READ COMMITTED;\n"+c.confinement(ctx), t
	return c, nil
}

// confinement says whose rows are seen, to a server that asks.
func (c *pipelinedConn) confinement(ctx context.Context) string {
	if !c.guarded.Load() {
		return ""
	}
	return confinement(ctx)
}

// unsaid is what is to be said before the next statement.
func (c *pipelinedConn) unsaid() string {
	before := c.begin
	if c.open != nil {
		before += c.open.last
		c.open.last = ""
	}
	c.begin = ""
	return before
}

// before is what goes with a statement.
func (c *pipelinedConn) before(ctx context.Context, query string) string {
	if c.open == nil && !c.within && !alone.MatchString(query) {
		return c.confinement(ctx) // holds for this message, which is a transaction of its own
	}
	return c.unsaid()
}

// speak says it by itself, before a statement that takes values.
func (c *pipelinedConn) speak(ctx context.Context) error {
	before := c.unsaid()
	if before == "" {
		return nil
	}
	_, err := c.pqConn.ExecContext(ctx, before, nil)
	return err
}

func (c *pipelinedConn) QueryContext(
	ctx context.Context, query string, values []driver.NamedValue,
) (driver.Rows, error) {
	if len(values) == 0 {
		return c.pqConn.QueryContext(ctx, c.before(ctx, query)+query, nil)
	}
	if err := c.speak(ctx); err != nil {
		return nil, err
	}
	return c.pqConn.QueryContext(ctx, query, values)
}

func (c *pipelinedConn) ExecContext(
	ctx context.Context, query string, values []driver.NamedValue,
) (driver.Result, error) {
	if len(values) == 0 {
		return c.pqConn.ExecContext(ctx, c.before(ctx, query)+query, nil)
	}
	if err := c.speak(ctx); err != nil {
		return nil, err
	}
	return c.pqConn.ExecContext(ctx, query, values)
}

func (c *pipelinedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.speak(ctx); err != nil {
		return nil, err
	}
	return c.pqConn.PrepareContext(ctx, query)
}

// Commit implements [driver.Tx]. What was never begun needs no end.
func (c *pipelinedConn) Commit() error {
	defer c.end()
	switch {
	case c.within:
		return c.pqConn.Commit()
	case c.open.last != "":
		_, err := c.pqConn.ExecContext(context.Background(), c.unsaid()+"COMMIT", nil)
		if err != nil {
			_ = c.pqConn.Rollback() // if even that fails, the connection knows that it is of no more use
		}
		return err
	case c.begin != "":
		return nil
	}
	return c.pqConn.Commit()
}

// Rollback implements [driver.Tx].
func (c *pipelinedConn) Rollback() error {
	defer c.end()
	if !c.within && c.begin != "" { // unbegun
		return nil
	}
	return c.pqConn.Rollback()
}

// end forgets a transaction that has ended.
func (c *pipelinedConn) end() { c.begin, c.open, c.within = "", nil, false }
