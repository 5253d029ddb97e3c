# Dynalith. `make help` lists the targets that people use, `make help-all` all of them.
# The rules are in mk/, by subject. Output goes to build/<flavour>/; flavours: debug, release, quick,
# asan, tsan, coverage.
.DEFAULT_GOAL := build

include mk/start.mk
include mk/flavours.mk
include mk/program.mk
include mk/programs.mk
include mk/test.mk
include mk/bench.mk
include mk/package.mk
include mk/site.mk
include mk/wasm.mk

# Whatever has a description is no file.
described := sed -n 's/^\([a-z0-9-]*\):.*\#\# /\1\t/p'
.PHONY: deps-sqlite $(shell $(described) $(MAKEFILE_LIST) | cut -f1) deps deps-test fuzz-replay release debug
help: ## lists these targets; help-all lists all
	@(trap '' PIPE; $(described) Makefile | expand -t 14) 2>/dev/null || :
help-all:
	@(trap '' PIPE; $(described) $(filter %.mk Makefile,$(MAKEFILE_LIST)) | expand -t 20) 2>/dev/null || :

deps:
	@scripts/install-deps build
.PHONY: deps-compiler
deps-compiler:
	@scripts/install-deps compiler
deps-test:
	@scripts/install-deps test
build: deps deps-sqlite ## the release binary, build/release/dynalith
	@$(MAKE) FLAVOUR=release all
release: build
# Built to count, run under load, built again with the counts. GCC only: clang would need another program to merge them.
pgo: deps deps-sqlite ## the same, faster: optimized by a profile, build/pgo/dynalith
	@$(MAKE) pgo-build
.PHONY: pgo-build
pgo-build:
	@$(if $(LTO),:,echo "make pgo: needs GCC, and $(CC) is clang" >&2; exit 1)
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load
	@$(MAKE) FLAVOUR=release BUILD=build/pgo-training PROFILE=generate build/pgo-training/dynalith
	@$(call tell,RUN,build/pgo-training/dynalith: under load)
	@scripts/train build/pgo-training/dynalith build/release/tests/bench/load build/pgo-training/trained
	@$(MAKE) FLAVOUR=release BUILD=build/pgo PROFILE=build/pgo-training build/pgo/dynalith
# Where it cannot be had the machine's own is linked, and --version and the log say what that means.
fetch.sqlite := $(if $(sqlite.is_chosen),:,scripts/fetch-sqlite $(sqlite.folder) auto || true)
deps-sqlite:
	@$(fetch.sqlite)
debug: deps ## the development binary, build/debug/dynalith
	@$(MAKE) FLAVOUR=debug all
# The first answer soon: little optimisation, and compiling begins while libraries are installed and
# SQLite's sources come. The parts are make's own jobs, since a shell's background jobs ignore Ctrl-C.
# A compile that fails in a part is no error yet: the build after it repeats and reports it.
run: deps-compiler ## installs what is missing, builds quickly, serves on port 8000; ARGS="..."
	@$(MAKE) run-parts
	@$(MAKE) FLAVOUR=quick all
	@$(call tell,RUN,build/quick/dynalith: built quickly; make release builds the fast and hardened one)
	@exec build/quick/dynalith $(ARGS)
.PHONY: run-parts run-libraries run-sqlite run-units
run-parts: run-libraries run-sqlite run-units
run-libraries:
	+@scripts/install-deps build
run-sqlite:
	@$(fetch.sqlite); [ -e build/quick/dynalith ] || $(MAKE) FLAVOUR=quick build/quick/early-sqlite || :
run-units:
	@[ -e build/quick/dynalith ] || $(MAKE) FLAVOUR=quick build/quick/early || :
test: deps-test ## everything a change must pass: unit, fuzz corpus, golden, end to end
	@$(MAKE) test-all
lint: ## the rules of the house: layers, doors, sizes, names, workflows, documents
	@tests/lint/run && scripts/lint && scripts/names --check && scripts/generate-docs --check
	@scripts/install-deps actionlint
	@linter=build/deps/recipes-go/actionlint; \
		if [ ! -x $$linter ]; then echo "workflows: skipped, there is no Go to install actionlint by"; \
		elif $$linter -no-color -shellcheck=; then echo "workflows: 1 passed, 0 failed"; \
		else echo "workflows: 0 passed, 1 failed"; exit 1; fi
	@[ "$$(uname)" = Darwin ] || $(MAKE) -s FLAVOUR=debug symbols
	@tests/console/lint/run
check: deps-test ## all tests under ASan+UBSan, then TSan
	@scripts/run-tests $(foreach f,asan tsan,"$(MAKE) FLAVOUR=$(f) test-native" "DYNALITH_BINARY=$(CURDIR)/build/$(f)/dynalith tests/e2e/run")
format: ## clang-format over the lines of C that differ from the last commit
	@tool=$$(command -v git-clang-format || ls /usr/bin/git-clang-format-* 2>/dev/null | sort -V | tail -1); \
		[ "$$tool" ] || { echo "make format: wants git-clang-format (Debian: clang-format)" >&2; exit 1; }; "$$tool" -q
docs: ## the generated documents: reference, man page, schema, modules.md; by the newest binary
	@[ -x build/release/dynalith ] || [ -x build/debug/dynalith ] || $(MAKE) debug
	@scripts/generate-docs
clean: ## removes build/, but for the downloaded packages
	rm -rf $(filter-out build/deps,$(wildcard build/*))

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
