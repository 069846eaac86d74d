package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync/atomic"
)

// transaction is a running transaction of [DB.Transact].
type transaction struct {
	db         *DB
	last       string                  // statements to send with COMMIT, each with its semicolon
	statements map[statement]*sql.Stmt // SQLite: the statements that it used, prepared for it
	executed   map[string]string       // PostgreSQL: the statements that its next message executes, by name
}

// execute is the text that executes a prepared statement. To parse and plan a query takes longer than to run it. If
// sessions are shared, it is the query with its values: the next one would not know the statement.
func (t *transaction) execute(q Query) string {
	if t.db.sharesSessions {
		return filled(q.SQL, func(i int) string { return string(AppendLiteral(nil, Postgres, q.Values[i])) })
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(q.SQL)) // never fails
	name := fmt.Sprintf("annals_%x", hash.Sum64())
	if t.executed == nil {
		t.executed = map[string]string{}
	}
	t.executed[name] = q.SQL
	return "EXECUTE " + name + " " + string(AppendRow(nil, Postgres, q.Values))
}

// opening marks the context in which [DB.Transact] opens its transaction.
type opening struct{}

// pipelinedConn is lib/pq's connection without separate round trips for BEGIN and COMMIT in a transaction of
// [DB.Transact]. It sends BEGIN with the first statement, and COMMIT with the statements of [Script.Finish]. It sends
// the tenant of [ForTenant] with a statement, too.
type pipelinedConn struct {
	pqConn
	unread  func() bool  // whether the server has sent something unasked, or closed the connection
	guarded *atomic.Bool // whether this role sees only the rows of the tenant that it names
	server  identity     // when the session began
	fence   *fence
	begin   string          // not sent yet
	open    *transaction    // its last statements may not be sent yet
	has     map[string]bool // names of prepared statements
	unsure  bool            // which of them it has, after an error
	within  bool            // a transaction that was opened without [DB.Transact]
}

// pqConn are the methods of lib/pq's connections.
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

// ResetSession is called before the connection is reused. It refuses a connection that the server has closed.
// Otherwise, since BEGIN is delayed, the failure would appear only later in the transaction. It also refuses one to a
// former primary.
func (c *pipelinedConn) ResetSession(ctx context.Context) error {
	if c.unread() || c.unsure || c.fence.isOutdated(c.server) {
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
	if c.server.recovering {
		// If it was promoted since, a new session knows its timeline.
		return nil, fmt.Errorf("%w: PostgreSQL was a standby when the session began: %w", ErrReadOnly, driver.ErrBadConn)
	}
	c.begin, c.open = "BEGIN ISOLATION LEVEL READ COMMITTED;\n"+c.confinement(ctx), t
	return c, nil
}

// confinement is the statement that names the tenant, for a role with row-level security.
func (c *pipelinedConn) confinement(ctx context.Context) string {
	if !c.guarded.Load() {
		return ""
	}
	return confinement(ctx)
}

// unsaid are the statements to send before the next one.
func (c *pipelinedConn) unsaid() string {
	before := []string{c.begin}
	if c.open != nil {
		for name, query := range c.open.executed {
			if !c.has[name] {
				c.has[name] = true
				before = append(before, "PREPARE "+name+" AS "+filled(query, parameter)+";\n")
			}
		}
		before = append(before, c.open.last)
		c.open.executed, c.open.last = nil, ""
	}
	c.begin = ""
	return strings.Join(before, "")
}

// filled is a query with a text for each question mark, counted from 0.
func filled(query string, text func(i int) string) string {
	parts := strings.Split(query, "?")
	for i := range parts[1:] {
		parts[i] += text(i)
	}
	return strings.Join(parts, "")
}

// parameter is $1 for the first question mark.
func parameter(i int) string { return "$" + strconv.Itoa(i+1) }

// before is what to send in the same message as a statement.
func (c *pipelinedConn) before(ctx context.Context, query string) string {
	if c.open == nil && !c.within && !alone.MatchString(query) {
		return c.confinement(ctx) // it applies to this message, which is a transaction of its own
	}
	return c.unsaid()
}

// speak sends that separately, before a statement with values.
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
		query = c.before(ctx, query) + query
	} else if err := c.speak(ctx); err != nil {
		return nil, err
	}
	rows, err := c.pqConn.QueryContext(ctx, query, values)
	if c.open == nil && !c.within && isRecoveryConflict(err) {
		rows, err = c.pqConn.QueryContext(ctx, query, values)
	}
	c.unsure = c.unsure || err != nil && c.open != nil
	return rows, err
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

// Commit implements [driver.Tx]. It sends nothing if BEGIN was not sent.
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

func (c *pipelinedConn) Rollback() error {
	defer c.end()
	if !c.within && c.begin != "" { // BEGIN was not sent
		return nil
	}
	return c.pqConn.Rollback()
}

// end forgets a transaction that has ended.
func (c *pipelinedConn) end() { c.begin, c.open, c.within = "", nil, false }
