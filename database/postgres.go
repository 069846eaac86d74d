package database

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

func openPostgres(ctx context.Context, rawURL string, log *slog.Logger) (*DB, error) {
	config, dsn, connections, err := parsePostgres(rawURL)
	if err != nil {
		return nil, misnamed{err}
	}
	connector, err := newConnector(config, dsn)
	if err != nil {
		return nil, misnamed{fmt.Errorf("the database URL does not fit: %w", err)}
	}
	writers := max(1, connections/4)
	db := &DB{
		Engine:    Postgres,
		DB:        newPool(connector, max(1, connections-writers)),
		writers:   newPool(connector, writers),
		connector: connector,
	}
	guarded, err := checkPostgres(ctx, db, config, log)
	if err != nil {
		return nil, errors.Join(err, db.closeAll())
	}
	connector.guarded.Store(guarded)
	if system := connector.fence.system(); system != 0 {
		whole := sha256.Sum256(fmt.Appendf(nil, "%d/%s", system, config.Database))
		db.id = hex.EncodeToString(whole[:8])
	} else {
		log.WarnContext(ctx, "this role may not ask which server it uses, so that a former primary is not recognised: "+
			"GRANT EXECUTE ON FUNCTION pg_control_system, pg_control_checkpoint to it")
	}
	return db, nil
}

// newPool keeps idle connections: a new one costs several round trips and a server process. Connections have a
// limited lifetime, so that the pool finds a server that moved.
func newPool(connector *connector, connections int) *bun.DB {
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	pool.SetConnMaxLifetime(30 * time.Minute)
	return bun.NewDB(pool, pgdialect.New())
}

// parsePostgres reads a URL as lib/pq does, with our own defaults for pool_max_conns (all connections of this
// process), sslmode, application_name and connect_timeout. The URL dsn has the first two.
func parsePostgres(rawURL string) (config pq.Config, dsn string, connections int, err error) {
	address, hosts, ports := splitHosts(rawURL)
	parsed, err := url.Parse(address)
	if err != nil { // err would repeat the URL
		return config, "", 0, errors.New(
			"the database URL does not parse: write special characters of the password as %XX, " + accepted,
		)
	}
	if *parsed == (url.URL{Scheme: parsed.Scheme}) {
		return config, "", 0, errors.New("the database URL names no server: " + accepted)
	}
	query := parsed.Query()
	if hosts != "" && !query.Has("host") {
		query.Set("host", hosts)
		if ports != "" && !query.Has("port") {
			query.Set("port", ports)
		}
	}
	if spilled(parsed, query) {
		return config, "", 0, errors.New(
			"the database URL has a # or an @ where none can stand: write special characters of the password as %XX " +
				"(# as %23, @ as %40, / as %2F), or give it as PGPASSWORD and leave it out of the URL",
		)
	}
	connections = max(16, 4*runtime.GOMAXPROCS(0))
	if query.Has("pool_max_conns") {
		connections, err = strconv.Atoi(query.Get("pool_max_conns"))
		if err != nil || connections < 2 {
			return config, "", 0, errors.New("the database URL's pool_max_conns is no number of connections: use 2 or more")
		}
		query.Del("pool_max_conns")
	}
	parsed.RawQuery = query.Encode()

	config, err = pq.NewConfig(parsed.String())
	if err != nil {
		return config, "", 0, fmt.Errorf("the database URL does not fit: %w", err)
	}
	if !query.Has("sslmode") && os.Getenv("PGSSLMODE") == "" && isLocal(config) {
		config.SSLMode = pq.SSLModeDisable
		query.Set("sslmode", string(pq.SSLModeDisable))
		parsed.RawQuery = query.Encode()
	}
	if config.ApplicationName == "" {
		config.ApplicationName = "annals"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	return config, parsed.String(), connections, nil
}

// splitHosts extracts a list of hosts from a URL, as in postgres://host1:port1,host2:port2/database, which net/url
// cannot parse. It leaves a single host in place.
func splitHosts(rawURL string) (address, hosts, ports string) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	authority, after := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, after = rest[:end], rest[end:]
	}
	at := strings.LastIndex(authority, "@") + 1
	list := strings.Split(authority[at:], ",")
	if len(list) == 1 {
		return rawURL, "", ""
	}
	var names, numbers []string
	numbered := false
	for _, host := range list {
		name, port, _ := strings.Cut(host, ":")
		if strings.HasPrefix(host, "[") { // an address of IPv6
			name, port, _ = strings.Cut(host[1:], "]")
			port = strings.TrimPrefix(port, ":")
		}
		if socket, err := url.PathUnescape(name); err == nil {
			name = socket
		}
		numbered = numbered || port != ""
		names, numbers = append(names, name), append(numbers, cmp.Or(port, "5432"))
	}
	if numbered {
		ports = strings.Join(numbers, ",")
	}
	return scheme + "://" + authority[:at] + after, strings.Join(names, ","), ports
}

// spilled tells whether the text after the host looks like the rest of a password with a / or #. The host is then a
// part of the password, and must be neither contacted nor named.
func spilled(u *url.URL, query url.Values) bool {
	for name := range query {
		if strings.Contains(name, "@") {
			return true
		}
	}
	return u.Fragment != "" || strings.Contains(u.EscapedPath(), "@")
}

// isLocal tells whether all servers are on this machine, where TLS protects nothing.
func isLocal(config pq.Config) bool {
	local := isLocalHost(config.Host)
	for _, other := range config.Multi {
		local = local && isLocalHost(other.Host)
	}
	return local && (!config.Hostaddr.IsValid() || config.Hostaddr.IsLoopback())
}

func isLocalHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || host == "localhost" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") ||
		ip.IsLoopback()
}

// where names the servers without their secrets.
func where(config pq.Config) string {
	servers := []string{whereOne(config.Host, config.Hostaddr, config.Port)}
	for _, other := range config.Multi {
		servers = append(servers, whereOne(other.Host, other.Hostaddr, other.Port))
	}
	return strings.Join(servers, ",")
}

func whereOne(host string, address netip.Addr, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return host
	}
	if host == "" && address.IsValid() {
		host = address.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// Where names the servers and the database of a PostgreSQL URL without its secrets, as in db1:5432,db2:5432/annals.
// It is empty if the URL is invalid.
func Where(rawURL string) string {
	config, _, _, err := parsePostgres(rawURL)
	if err != nil {
		return ""
	}
	return where(config) + "/" + config.Database
}
