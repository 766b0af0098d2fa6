# memoir: build, run on sample sessions, test. `make help` lists the targets.

# Directories called testdata are not matched by ./... and are named here.
PACKAGES := ./... ./testdata ./testdata/mockmodel ./testdata/cmd/write ./testdata/cmd/sessions ./testdata/cmd/picture ./testdata/cmd/screens ./testdata/browser

# Packages that are built in seconds are tested first. RACED are those whose goroutines share memory; they run with the
# race detector, without which the tests are several times faster. So do the tests SHARED of other packages. The tests
# SERIAL of RACED take long and share nothing.
QUICK := memoir memoir/config memoir/integrate memoir/prompts memoir/internal/failpoint memoir/internal/lazyregexp \
	memoir/internal/yamledit
RACED := memoir/hub memoir/pipeline memoir/lease memoir/model memoir/pages memoir/store
SHARED := ^Test(Walk|AScannerServesManyAtOnce|ADFAStaysRight|ReadersSeeWholeGenerationsOnly)
SERIAL := ^Test(A(SessionWithMore|SecretOfEvery|SecretInTheID|HomeOfAn|RunStoresNo|DamagedFile|ModelThatObeys|nyEdits|TranscriptIsExtracted)|EachLineOf|Poisoned|Redacting|What(IsHeldOf|IsKilled|EarlierQ))
COMMANDS := memoir/cmd/memoir

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
DATE := $(shell TZ=UTC git show -s --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
# -s -w leave out symbols and DWARF, a third of the binary. Stack traces and pprof have
# tables of their own.
LDFLAGS := -s -w -X main.Version=$(VERSION) -X main.Commit=$(COMMIT) -X main.Date=$(DATE)

# Pinned, and kept out of go.mod: they are tools of this Makefile, not of the program.
STATICCHECK_VERSION := v0.8.2
STATICCHECK := $(CURDIR)/.tools/staticcheck-$(STATICCHECK_VERSION)
GORELEASER := $(CURDIR)/.tools/goreleaser-v2.15.4/goreleaser
CYCLONEDX := $(CURDIR)/.tools/cyclonedx-gomod-v1.10.0/cyclonedx-gomod

# What `make run` reads; empty means the fixture sessions.
SESSIONS ?=
DEMO := $(CURDIR)/bin/demo

# The coding agents that `make sessions` runs: where it looks besides PATH, and those
# to run (all).
AGENTS_PREFIX ?= $(CURDIR)/.tools/agents
AGENTS ?=

# How much `make torture` does: few moments; sample, some minutes; dense, an hour; all.
DEPTH ?= sample

# How long `make fleet` takes for its day.
DAY ?= 10m

export CGO_ENABLED := 1
TESTS := test sqlite commands raced plain lint forbidden torture
# SQLite with -Og compiles in half the time of -O1; its tests take some 5 % more. ccache compiles it once for the builds
# with and without the race detector, which differ in the seed alone.
$(TESTS): export CGO_CFLAGS := -Og -g0
$(TESTS): export CC := $(firstword $(wildcard /usr/lib/ccache/gcc /usr/lib64/ccache/gcc) $(shell go env CC))
$(TESTS): export CCACHE_SLOPPINESS := random_seed
# The compiler and the tests collect garbage less often: a fifth of their time for some hundred megabytes.
$(TESTS): export GOGC := 400
# No DWARF, and nothing of other modules is inlined: a quarter of the compiler's time. The tests build the program with
# failpoints, whose packages are then the tested ones.
$(TESTS): export GOFLAGS := -buildvcs=false '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false \
	-gcflags=memoir/...=-dwarf=false -tags=urfave_cli_no_docs,sqlite_fts5,failpoint

# The version comes from git describe; a checkout owned by somebody else must build too.
# urfave/cli's tag leaves out its manual pages, whose library would cost every start. SQLite's
# full-text index is what `memoir search` needs.
export GOFLAGS := $(GOFLAGS) -buildvcs=false -tags=urfave_cli_no_docs,sqlite_fts5

# A program with the race detector sleeps for a second before it exits, in case another
# goroutine is about to report a race, and the tests start hundreds of programs.
export GORACE := atexit_sleep_ms=0 $(GORACE)

# Where `make install` puts the program, its manual page and completions.
PREFIX ?= /usr/local
SHARED_FILES := man/man1/memoir.1 bash-completion/completions/memoir zsh/site-functions/_memoir \
	fish/vendor_completions.d/memoir.fish

.PHONY: build install uninstall dist dist-needs run test sqlite commands raced plain forbidden torture torture-hub lint bench fleet try-hub sessions agents picture screens clean help

build: ## build bin/memoir, its manual page and completions, and bin/memoir-hub
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/memoir ./cmd/memoir
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/memoir-hub ./cmd/memoir-hub
	mkdir -p $(addprefix bin/share/,$(dir $(SHARED_FILES)))
	bin/memoir man >bin/share/man/man1/memoir.1
	bin/memoir completion bash >bin/share/bash-completion/completions/memoir
	bin/memoir completion zsh >bin/share/zsh/site-functions/_memoir
	bin/memoir completion fish >bin/share/fish/vendor_completions.d/memoir.fish

# It builds only where nothing was built: root may have no go.
install: $(if $(wildcard bin/memoir),,build) ## install what was built below PREFIX (/usr/local), or DESTDIR and PREFIX
	mkdir -p '$(DESTDIR)$(PREFIX)/bin' $(patsubst %,'$(DESTDIR)$(PREFIX)/share/%',$(dir $(SHARED_FILES)))
	install -m 755 bin/memoir bin/memoir-hub '$(DESTDIR)$(PREFIX)/bin'
	for f in $(SHARED_FILES); do install -m 644 "bin/share/$$f" '$(DESTDIR)$(PREFIX)/share/'"$$f" || exit; done

uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(PREFIX)/bin/memoir' '$(DESTDIR)$(PREFIX)/bin/memoir-hub' $(patsubst %,'$(DESTDIR)$(PREFIX)/share/%',$(SHARED_FILES))

# To goreleaser everything is a snapshot, so that it asks for no tag and no remote. RELEASES, NPM_SCOPE and SUMS are told
# in packaging/packages.
dist: export VERSION := $(VERSION)
dist: export PACKAGE_VERSION := $(if $(filter v%,$(VERSION)),$(VERSION:v%=%),0.0.0-dev.$(VERSION))
dist: export COMMIT := $(COMMIT)
dist: export DATE := $(DATE)
dist: export EPOCH := $(shell git show -s --format=%ct 2>/dev/null)
dist: dist-needs $(GORELEASER) $(CYCLONEDX) ## build archives, packages, a formula, checksums and lists of components in dist/
	PATH='$(dir $(CYCLONEDX))':"$$PATH" $(GORELEASER) release --clean --snapshot
	packaging/packages

# What dist needs is found missing before it builds for minutes. The C library is linked statically on Linux.
dist-needs:
	@need() { echo "make dist: there is no $$1: apt-get install $$2" >&2; exit 1; }; \
	command -v npm >/dev/null || need npm npm; \
	for of in x86_64:x86-64:amd64 aarch64:aarch64:arm64; do \
		cc=$${of%%:*}-linux-gnu-gcc package="gcc-$$(echo $$of | cut -d: -f2)-linux-gnu libc6-dev-$${of##*:}-cross"; \
		[ "$$(uname -m)" != $${of%%:*} ] || package='gcc libc6-dev'; \
		[ "$$(uname)" != Linux ] || [ -e "$$($$cc -print-file-name=libc.a 2>/dev/null)" ] || need "$$cc with libc.a" "$$package"; \
	done

# The environment is emptied so that nobody's own settings, and with them
# perhaps a paid model, get into the demonstration.
MEMOIR := env -i PATH="$$PATH" TERM="$$TERM" HOME="$(DEMO)/user" bin/memoir

run: build ## run both phases over SESSIONS (default: the fixtures) and show the memory
	rm -rf $(DEMO)
	mkdir -p $(DEMO)/user
ifeq ($(strip $(SESSIONS)),)
	go run ./testdata/cmd/write $(DEMO)/sessions >/dev/null
	$(MEMOIR) run --sessions $(DEMO)/sessions --home $(DEMO)/home --min-idle 0 --max-age 0 --all
else
	$(MEMOIR) run --sessions $(SESSIONS) --home $(DEMO)/home --min-idle 0 --max-age 0 --all
endif
	@for root in $(DEMO)/home/projects/*/memory; do \
		test -e "$$root/MEMORY.md" || continue; \
		printf '\n%s\n\n' "$$root/MEMORY.md"; head -n 40 "$$root/MEMORY.md"; \
	done

test: ## vet, staticcheck, and every test, with the race detector where goroutines share memory
	@echo 'About 15 minutes on 2 cores, less if the Go build cache is warm; first results within a minute.'
	go test -vet=off $(QUICK)
	@$(MAKE) --no-print-directory -j2 sqlite $(STATICCHECK)
	@$(MAKE) --no-print-directory -j2 commands raced plain lint forbidden

# Before both builds begin, so that the second one finds it in ccache.
sqlite:
	go build github.com/mattn/go-sqlite3

# Without go test's own vet, which lint covers, and which would vet all imports once more.
commands:
	go test -vet=off -timeout 25m $(COMMANDS)

raced:
	go test -vet=off -race -timeout 25m -skip '$(SERIAL)' $(RACED)
	go test -vet=off -race -run '$(SHARED)' ./memory ./rollout ./secrets

plain:
	go test -vet=off $(filter-out $(QUICK) $(RACED) $(COMMANDS),$(shell go list $(PACKAGES)))
	go test -vet=off -run '$(SERIAL)' ./hub ./pipeline ./store

forbidden:
	.ci/forbidden

lint: $(STATICCHECK) ## gofmt, vet, staticcheck
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt -w $$unformatted"; exit 1; }
	go vet $(PACKAGES)
	GOGC=1600 $(STATICCHECK) $(PACKAGES)

torture: ## kill, stop, starve and damage what writes: minutes; DEPTH=dense: an hour; all: many
	MEMOIR_TORTURE_TESTS=$(DEPTH) go test -vet=off -count=1 -v -timeout $(if $(filter all,$(DEPTH)),24h,90m) \
		-run '^Test(AnEditByHandAtAnyMoment|ACommandThatIs|ARunThatIs|ARunWithAModelThatIsDisturbed|AMigrationThatIsDisturbed|RedactingThatIs|CommandsOfAllKinds|ManyProcesses|AProcessThatWasStopped|ALockInTheMiddle|ADiskWithout|TooFewHandles|NoSecretComesOut|SecretsAndNames|NoDamageOfAFile)' ./cmd/memoir

torture-hub: ## kill hubs, workers, homes and PostgreSQL 200 times while machines push and pull
	MEMOIR_TORTURE_KILLS=200 go test -vet=off -count=1 -v -timeout 90m -run '^TestWhatIsKilled' ./hub

bench: ## benchmarks, as ratios taken in the same run where a number has to be held
	go test -run '^$$' -bench . -benchmem -timeout 60m $(PACKAGES)
	go run ./bench/memory
	go run ./bench/stale
	go run ./bench/search

fleet: build ## replay a day of 1,000 containers against a hub in DAY (10m); FLEET='-memory 1m' or '-rates 5s' measures those
	go run ./hub/hubtest/fleet -hub bin/memoir-hub $(or $(FLEET),-day $(DAY))

try-hub: ## start PostgreSQL, PgBouncer and a hub, print where they are as JSON, and end with standard input
	@go run ./hub/hubtest/tryhub

sessions: ## run the coding agents that are installed and compare what is read with what was said
	go run ./testdata/cmd/sessions -prefix '$(AGENTS_PREFIX)' -only '$(AGENTS)'
	AGENTS_PREFIX='$(AGENTS_PREFIX)' go test -count=1 -v -run AgentsAnswerAsModels ./testdata/cmd/sessions

agents: sessions ## the same, with memoir installed in them: does the memory reach the model, once?
	go run ./testdata/cmd/sessions -installed -prefix '$(AGENTS_PREFIX)' -only '$(AGENTS)'

picture: build ## draw what the README shows of a first run; needs tmux
	go run ./testdata/cmd/picture bin/memoir docs/init.svg

screens: build ## draw the pages that docs/usage.md shows; needs Chromium
	go run ./testdata/cmd/screens bin/memoir docs

clean: ## remove what the other targets made
	rm -rf bin dist .tools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(STATICCHECK):
	mkdir -p $(@D)
	GOBIN=$(@D) GOFLAGS=-gcflags=all=-dwarf=false go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	mv $(@D)/staticcheck $@

$(GORELEASER):
	GOBIN=$(@D) GOFLAGS= CGO_ENABLED=0 go install github.com/goreleaser/goreleaser/v2@$(patsubst goreleaser-%,%,$(notdir $(@D)))

$(CYCLONEDX):
	GOBIN=$(@D) GOFLAGS= go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(patsubst cyclonedx-gomod-%,%,$(notdir $(@D)))
