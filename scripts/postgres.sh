#!/usr/bin/env bash
# PostgreSQL with pgvector for tests and benchmarks: found, installed or built,
# and run as a throw-away cluster on a port of its own.
# It never starts, stops, configures or connects to a cluster that it did not make.
set -euo pipefail

usage() {
	cat <<'HELP'
usage: scripts/postgres.sh COMMAND

  install      make sure PostgreSQL and pgvector 0.8 or newer are there; says what it installs
  start        start a cluster that stays, and print: export ANNALS_TEST_POSTGRES='postgres://…'
  url          print that cluster's URL
  standby      start it, if it does not run, and a standby that streams from it, and print both URLs
  stop         stop that cluster, and its standby, and delete their data
  run CMD…     run CMD with a cluster of its own, deleted when CMD ends or is interrupted

  With ANNALS_TEST_POSTGRES set, that server is used as it is and nothing is installed or started.

environment
  ANNALS_PG_BIN       directory of initdb and postgres, instead of the newest one found
  ANNALS_PG_DIR       where the running cluster is remembered (.postgres in the project)
  ANNALS_PG_SETTINGS  more server settings, as in: -c work_mem=64MB -c jit=off
  ANNALS_PG_HOME      where cluster data lies (TMPDIR or /var/tmp)
HELP
}

needed_pgvector=0.8.0
project=$(cd "$(dirname "$0")/.." && pwd)
memory=${ANNALS_PG_DIR:-$project/.postgres}
otherwise="run the image pgvector/pgvector:pg17 and set ANNALS_TEST_POSTGRES to its postgres:// URL"

say() { printf 'postgres.sh: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# shellcheck source=scripts/apt.sh
. "$project/scripts/apt.sh"

# --- finding -----------------------------------------------------------------

# server_directories lists the directories that hold a server, newest version first.
server_directories() {
	local dir
	if [ -n "${ANNALS_PG_BIN:-}" ]; then
		printf '%s\n' "$ANNALS_PG_BIN"
		return
	fi
	{
		printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin
		if command -v brew >/dev/null; then printf '%s\n' "$(brew --prefix)"/opt/postgresql@*/bin; fi
		if command -v pg_config >/dev/null; then pg_config --bindir; fi
	} | sort -rVu | while read -r dir; do
		if [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then printf '%s\n' "$dir"; fi
	done
}

major_version() { "$1/postgres" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/'; }

# at_least succeeds if version $1 is $2 or newer.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# has_pgvector succeeds if the server in $1 can create a new enough extension.
has_pgvector() {
	local control version
	if [ -x "$1/pg_config" ]; then
		control=$("$1/pg_config" --sharedir)/extension/vector.control
	else
		control=/usr/share/postgresql/$(major_version "$1")/extension/vector.control
	fi
	[ -r "$control" ] || return 1
	version=$(sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" "$control")
	at_least "$version" "$needed_pgvector"
}

# ready_server prints the directory of the newest server that has pgvector.
ready_server() {
	local dir
	for dir in $(server_directories); do
		if has_pgvector "$dir"; then
			printf '%s\n' "$dir"
			return
		fi
	done
	return 1
}

# --- installing --------------------------------------------------------------

# install_server keeps Debian's postgresql-common from making a cluster of its own.
install_server() {
	local conf=/etc/postgresql-common/createcluster.conf kept=yes
	if [ ! -e "$conf" ]; then
		kept=no
		as_root mkdir -p /etc/postgresql-common
		echo 'create_main_cluster = false' | as_root tee "$conf" >/dev/null
	fi
	apt_install postgresql
	if [ "$kept" = no ]; then
		say "left create_main_cluster = false in $conf: no system-wide cluster was made"
	fi
}

# install_headers installs the version of the installed server: another version would upgrade that server
# and restart the clusters that run on it.
install_headers() {
	local server=postgresql-$1 headers=postgresql-server-dev-$1 version
	version=$(dpkg-query -W -f '${Version}' "$server" 2>/dev/null || true)
	if [ -n "$version" ] && LC_ALL=C apt-cache madison "$headers" | grep -qF "| $version |"; then
		headers=$headers=$version
	fi
	if command -v pg_lsclusters >/dev/null && pg_lsclusters -h | grep -q "^$1 .* online" &&
		apt-get install -s --no-install-recommends "$headers" | grep -q "^Inst $server "; then
		die "installing $headers would upgrade $server and restart the clusters running on it: upgrade it yourself (apt-get install $server), or $otherwise"
	fi
	apt_install "$headers" make gcc libc6-dev
}

# unpack_and_make is given the server's directory, a directory to work in, and apt's options. It builds
# as the distribution's packages are: for any processor of this kind, and without bitcode for the JIT.
unpack_and_make() {
	local build="make -s -C source OPTFLAGS= with_llvm=no PG_CONFIG=$1/pg_config"
	# shellcheck disable=SC2086 # one word per option
	cd "$2" &&
		apt-get $3 update &&
		apt-get $3 source --download-only pgvector &&
		mkdir source &&
		tar -xzf pgvector_*.orig.tar.gz -C source --strip-components=1 &&
		$build &&
		as_root $build install &&
		cd "$project"
}

# build_pgvector builds Debian's own source package of pgvector. apt checks the archive's signature and
# every checksum, in a state of its own: the machine's list of sources stays as it is.
build_pgvector() {
	local bin=$1 version work keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror=http://deb.debian.org/debian options
	version=$(major_version "$bin")
	install_headers "$version"
	[ -r "$keyring" ] || apt_install debian-archive-keyring
	work=$(mktemp -d "${TMPDIR:-/var/tmp}/annals-pgvector.XXXXXX")
	chmod 755 "$work"
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
	if grep -q '^ID=debian' /etc/os-release; then
		# shellcheck disable=SC2016 # apt expands it
		mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' 2>/dev/null |
			grep -v security | head -n 1 || true)
		mirror=${mirror:-http://deb.debian.org/debian}
	fi
	printf 'deb-src [signed-by=%s] %s trixie main\n' "$keyring" "$mirror" >"$work/sources.list"
	options="-q -o Dir::Etc::sourcelist=$work/sources.list -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State::lists=$work/lists -o Dir::Cache=$work/cache -o APT::Sandbox::User=$(id -un)"
	say "building pgvector from the source in Debian trixie ($mirror) for PostgreSQL $version, and installing it into $("$bin/pg_config" --pkglibdir)"
	quietly unpack_and_make "$bin" "$work" "$options" ||
		die "pgvector could not be built (its source is left in $work): install pgvector $needed_pgvector or newer for PostgreSQL $version, or $otherwise"
	as_root rm -rf "$work"
}

install_with_apt() {
	local bin package candidate
	apt_update "PostgreSQL with pgvector" postgres.sh
	bin=$(server_directories | head -n 1)
	if [ -z "$bin" ]; then
		install_server
		bin=$(server_directories | head -n 1)
		[ -n "$bin" ] || die "apt installed PostgreSQL, but no server is in /usr/lib/postgresql: set ANNALS_PG_BIN to its bin directory"
	fi
	package=postgresql-$(major_version "$bin")-pgvector
	candidate=$(LC_ALL=C apt-cache policy "$package" | sed -n 's/^ *Candidate: *\([0-9][^ ]*\).*/\1/p')
	if [ -n "$candidate" ] && at_least "$candidate" "$needed_pgvector"; then
		apt_install "$package"
	else
		build_pgvector "$bin"
	fi
}

install() {
	local bin
	if [ -n "${ANNALS_TEST_POSTGRES:-}" ]; then
		say "ANNALS_TEST_POSTGRES is set: using that server as it is, nothing to install"
		return
	fi
	if bin=$(ready_server); then return; fi
	if command -v apt-get >/dev/null; then
		install_with_apt
	elif command -v brew >/dev/null; then
		say "installing postgresql@17 and pgvector (brew)"
		brew install postgresql@17 pgvector >&2 || die "brew could not install PostgreSQL and pgvector: repair brew (brew doctor), or $otherwise"
	else
		die "PostgreSQL with pgvector is missing and there is neither apt-get nor brew to install it: $otherwise"
	fi
	bin=$(ready_server) || die "PostgreSQL is there, but still without pgvector $needed_pgvector: $otherwise"
	say "PostgreSQL with pgvector is ready in $bin"
}

# --- running -----------------------------------------------------------------

# as_owner runs a command as the account that owns the cluster: initdb and postgres refuse to be root.
as_owner() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u "$owner" -- "$@"
	else
		"$@"
	fi
}

choose_owner() {
	owner=$(id -un)
	[ "$(id -u)" = 0 ] || return 0
	command -v runuser >/dev/null || die "PostgreSQL refuses to run as root and there is no runuser: run this as another user, or $otherwise"
	owner=postgres
	if ! id -u "$owner" >/dev/null 2>&1; then
		owner=annals-postgres
		if ! id -u "$owner" >/dev/null 2>&1; then
			say "adding the system account $owner, since PostgreSQL refuses to run as root"
			useradd --system --no-create-home --shell /usr/sbin/nologin "$owner" ||
				die "the account $owner could not be added: run this as another user than root, or $otherwise"
		fi
	fi
}

# make_home makes the directory of a cluster and leaves it in $home, with the server's directory in $bin.
make_home() {
	bin=$(ready_server) || die "PostgreSQL with pgvector $needed_pgvector is missing: run 'scripts/postgres.sh install', or $otherwise"
	choose_owner
	home=$(mktemp -d "${ANNALS_PG_HOME:-${TMPDIR:-/var/tmp}}/annals-postgres.XXXXXX")
	mkdir "$home/socket"
	printf '%s\n' "$bin" >"$home/bin"
	touch "$home/log"
}

own_home() {
	if [ "$(id -u)" = 0 ]; then chown -R "$owner" "$home"; fi
	cd "$home"
}

# run_cluster starts the cluster in $home, whose password is $1, and leaves its URL in $home/url.
run_cluster() {
	local port attempt
	for attempt in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 10000))
		if as_owner "$bin/pg_ctl" -D "$home/data" -l "$home/log" -w -t 60 -s -o "-p $port -c listen_addresses=127.0.0.1 \
			-c unix_socket_directories=$home/socket -c unix_socket_permissions=0700 -c max_connections=300 \
			-c shared_buffers=256MB -c fsync=on ${ANNALS_PG_SETTINGS:-}" start >/dev/null 2>&1; then
			printf 'postgres://annals:%s@127.0.0.1:%s/postgres?sslmode=disable\n' "$1" "$port" >"$home/url"
			cd "$project"
			return
		fi
		grep -q 'Address already in use' "$home/log" || break
	done
	tail -n 5 "$home/log" >&2
	die "PostgreSQL did not start after $attempt attempts: mend what its log says above (too little memory, or ANNALS_PG_SETTINGS), or $otherwise"
}

# make_cluster makes a cluster, starts it, and leaves its directory in $home and its URL in $home/url.
make_cluster() {
	local bin password locale="--locale=C"
	make_home
	password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	printf '%s\n' "$password" >"$home/password"
	own_home
	# A linguistic collation, as in production: SQL that needs byte order must say so to pass here.
	if [ "$(major_version "$bin")" -ge 15 ] && "$bin/pg_config" --configure 2>/dev/null | grep -q with-icu; then
		locale="--locale=C --locale-provider=icu --icu-locale=en-US"
	fi
	# shellcheck disable=SC2086 # one word per option
	as_owner "$bin/initdb" -D "$home/data" -U annals --pwfile="$home/password" --auth-local=trust --auth-host=scram-sha-256 \
		--encoding=UTF8 $locale --no-sync >"$home/log" 2>&1 || {
		tail -n 5 "$home/log" >&2
		die "initdb could not make a cluster in $home: mend what it says above, or set ANNALS_PG_HOME to another disk"
	}
	rm "$home/password"
	run_cluster "$password"
}

# make_standby makes a standby of the cluster at URL $1, starts it, and leaves its directory in $home and its URL in $home/url.
make_standby() {
	local bin password=${1#*:*:}
	make_home
	own_home
	as_owner "$bin/pg_basebackup" -D "$home/data" -d "$1" --write-recovery-conf --checkpoint=fast --no-sync >"$home/log" 2>&1 || {
		tail -n 5 "$home/log" >&2
		die "pg_basebackup could not copy the primary to $home: mend what it says above, or set ANNALS_PG_HOME to another disk"
	}
	run_cluster "${password%%@*}"
}

# unmake_cluster stops the cluster in $1 and deletes it.
unmake_cluster() {
	case $1 in */annals-postgres.??????) ;; *) die "$1 is not a cluster of ours: nothing deleted" ;; esac
	[ -d "$1" ] || return 0
	choose_owner
	cd "$1" && if [ -e "$1/data/postmaster.pid" ]; then
		as_owner "$(cat "$1/bin")/pg_ctl" -D "$1/data" -m immediate -w -s stop >/dev/null 2>&1 || true
	fi
	cd "$project"
	rm -rf "$1"
}

# remembered prints the directory of the cluster, or of the standby, that was started here.
remembered() { [ -r "$memory/${1:-cluster}" ] && cat "$memory/${1:-cluster}"; }

running() {
	local home
	home=$(remembered "$@") && [ -r "$home/data/postmaster.pid" ] && kill -0 "$(head -n 1 "$home/data/postmaster.pid")" 2>/dev/null
}

start() {
	if [ -n "${ANNALS_TEST_POSTGRES:-}" ]; then
		say "ANNALS_TEST_POSTGRES is set: using that server as it is"
	elif running; then
		ANNALS_TEST_POSTGRES=$(cat "$(remembered)/url")
	else
		if [ -r "$memory/cluster" ]; then unmake_cluster "$(remembered)"; fi
		make_cluster
		mkdir -p "$memory"
		printf '%s\n' "$home" >"$memory/cluster"
		ANNALS_TEST_POSTGRES=$(cat "$home/url")
	fi
	printf "export ANNALS_TEST_POSTGRES='%s'\n" "$ANNALS_TEST_POSTGRES"
}

standby() {
	[ -z "${ANNALS_TEST_POSTGRES:-}" ] || die "ANNALS_TEST_POSTGRES is set: unset it, since a standby is made of a cluster of our own"
	start
	if ! running standby; then
		if [ -r "$memory/standby" ]; then unmake_cluster "$(remembered standby)"; fi
		make_standby "$ANNALS_TEST_POSTGRES"
		printf '%s\n' "$home" >"$memory/standby"
	fi
	printf "export ANNALS_TEST_STANDBY='%s'\n" "$(cat "$(remembered standby)/url")"
}

url() {
	running || die "no cluster is running: run 'scripts/postgres.sh start'"
	cat "$(remembered)/url"
}

stop() {
	local home kind
	remembered >/dev/null || die "no cluster was started here: nothing to stop"
	for kind in standby cluster; do
		home=$(remembered "$kind") || continue
		unmake_cluster "$home"
		rm -f "$memory/$kind"
		say "stopped, and deleted $home"
	done
}

# sweep deletes the clusters of runs that were killed before they could.
sweep() {
	local note
	for note in "$memory"/run.*; do
		if [ -r "$note" ] && ! kill -0 "${note##*.}" 2>/dev/null; then
			unmake_cluster "$(cat "$note")"
			rm -f "$note"
		fi
	done
}

finish() {
	trap '' INT TERM HUP
	if [ -n "${command:-}" ]; then
		kill -TERM -- "-$command" 2>/dev/null || true
		wait "$command" 2>/dev/null || true
	fi
	if [ -n "${home:-}" ]; then unmake_cluster "$home"; fi
	rm -f "$memory/run.$$"
}

run() {
	local status=0
	[ $# -gt 0 ] || die "run needs a command: scripts/postgres.sh run go test ./..."
	if [ -n "${ANNALS_TEST_POSTGRES:-}" ]; then exec "$@"; fi
	mkdir -p "$memory"
	sweep
	trap finish EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	make_cluster
	printf '%s\n' "$home" >"$memory/run.$$"
	ANNALS_TEST_POSTGRES=$(cat "$home/url")
	export ANNALS_TEST_POSTGRES
	# In a process group of its own, so that a signal to this script ends all that CMD started.
	set -m
	"$@" &
	command=$!
	set +m
	wait "$command" || status=$?
	command=
	return "$status"
}

case ${1:-} in
install | start | url | standby | stop) "$1" ;;
run)
	shift
	run "$@"
	;;
-h | --help | help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
