# All that is needed is Go and make; what else a target wants, it builds from
# Go modules into .cache, which git ignores.

GO            ?= go
GOLANGCI_LINT := v2.15.0
CACHE         := $(CURDIR)/.cache
LINTER        := $(CACHE)/bin/golangci-lint-$(GOLANGCI_LINT)
SUMMARY       := $(CACHE)/summary
VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS       := -s -w -X main.version=$(VERSION)
ARGS          ?=

# The race detector needs a C compiler. Without one the tests still run.
ifneq ($(shell command -v $(CC) 2>/dev/null),)
RACE := -race
endif

.DEFAULT_GOAL := help
.PHONY: help build demo run test e2e e2e-full playground bench lint fmt tidy check golden clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/claimref: static, trimmed, versioned
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/claimref .

demo: build ## build it and open a small cluster in memory, where nothing is real
	bin/claimref --demo $(ARGS)

run: build ## build it and run it on the current kubeconfig; ARGS="..." passes flags
	bin/claimref $(ARGS)

test: ## unit, screen and in-process tests: all that needs only Go
	$(GO) test $(RACE) -timeout 30m ./...

# One package at a time: each starts a control plane of its own. What a passing
# test prints is not shown, so results are left in files and shown at the end,
# also when a test has failed.
define run-e2e
	cd test && $(GO) run ./cmd/binaries
	@rm -rf '$(SUMMARY)' && mkdir -p '$(SUMMARY)'
	cd test && export CLAIMREF_SUMMARY='$(SUMMARY)' && \
		{ $(1) $(GO) test $(RACE) -p 1 -count=1 -timeout $(2) ./...; status=$$?; \
		for result in prediction migration; do \
			if [ -f '$(SUMMARY)'/$$result.txt ]; then cat '$(SUMMARY)'/$$result.txt; fi; \
		done; exit $$status; }
endef

e2e: build ## end-to-end tests on a real control plane, which is built once
	$(call run-e2e,,40m)

e2e-full: build ## the end-to-end tests with their long sweeps
	$(call run-e2e,CLAIMREF_E2E=full,80m)

playground: build ## open claimref on a real control plane with scenarios to play
	cd test && $(GO) run ./cmd/binaries && $(GO) run ./cmd/playground

bench: build ## benchmarks, the program on a real control plane among them
	$(GO) test -run '^$$' -bench . -benchmem ./...
	cd test && $(GO) run ./cmd/binaries && $(GO) test -run '^$$' -bench . ./e2e

lint: $(LINTER) ## run the linters
	$(LINTER) run ./...
	cd test && $(LINTER) run --config ../.golangci.yml ./...

fmt: $(LINTER) ## format the code
	$(LINTER) fmt ./...
	cd test && $(LINTER) fmt --config ../.golangci.yml ./...

tidy: ## check that the module files are tidy
	$(GO) mod tidy -diff
	cd test && $(GO) mod tidy -diff

check: $(LINTER) tidy lint ## formatting, vet, linters, module files and unit tests
	$(LINTER) fmt --diff ./...
	cd test && $(LINTER) fmt --diff --config ../.golangci.yml ./...
	$(GO) vet ./...
	cd test && $(GO) vet ./...
	$(GO) test $(RACE) -timeout 30m ./...

golden: ## write the golden screens anew; look at the difference before you commit it
	$(GO) test . ./ui ./views -update

clean: ## remove what was built, but keep the cache
	rm -rf bin

# The linter is built from its module, not downloaded as a binary.
$(LINTER):
	@mkdir -p $(CACHE)/bin
	GOBIN=$(CACHE)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	mv $(CACHE)/bin/golangci-lint $@
