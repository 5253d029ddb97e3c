# Tests beside `make test`.

test-all: ## the same without set-up
	@$(MAKE) FLAVOUR=debug build/debug/dynalith $(if $(library.is_tested),build/debug/libdynalith.so)
	@FLAVOUR=debug scripts/run-tests "$(MAKE) FLAVOUR=debug test-native" "$(MAKE) -s FLAVOUR=debug database-test" "tests/e2e/run"
test-native: ## unit tests, fuzz corpus and golden data of one FLAVOUR
	@$(MAKE) FLAVOUR=$(FLAVOUR) programs
	@FLAVOUR=$(FLAVOUR) BUILD=$(BUILD) scripts/run-tests $(foreach r,core storage protocol server,"$(MAKE) -s unit-$(r)") \
		$(if $(filter tsan Darwin,$(FLAVOUR) $(shell uname)),,"$(MAKE) -s simulate STEPS=5000" $(patsubst %,"% --test",$(scale.program))) "tests/iam/agree $(BUILD)/tests/unit/protocol/test_iam 3000" "$(MAKE) -s fuzz-replay" "tests/fuzz/make-seeds $(BUILD)/fuzz" "DYNALITH_BINARY=$(BUILD)/dynalith tests/golden/run" \
		$(if $(filter asan,$(FLAVOUR)),"DYNALITH_BINARY=$(BUILD)/dynalith tests/matrix/run") \
		$(if $(library.is_tested),"tests/golden/run --library $(BUILD)/libdynalith.so" "DYNALITH_BINARY=$(BUILD)/tests/tiny/dynalith tests/tiny/run")
# The same work a thousand times, each with another allocation that fails, is for the other sanitizers.
threads.without := $(unit.single) $(BUILD)/tests/unit/protocol/test_memory $(BUILD)/tests/unit/protocol/test_oom $(BUILD)/tests/unit/server/test_rows
threads.programs := $(filter-out $(threads.without),$(unit.core) $(unit.storage) $(unit.protocol) $(unit.server)) $(BUILD)/tests/fuzz/replay_http
test-threads: ## under ThreadSanitizer, what of test-native has threads; make check runs all of it
	@$(MAKE) FLAVOUR=tsan threads-built
	@$(MAKE) FLAVOUR=tsan threads-run
.PHONY: threads-built threads-run
threads-built: $(BUILD)/dynalith $(threads.programs)
threads-run:
	@FLAVOUR=$(FLAVOUR) scripts/run-tests $(foreach r,core storage protocol server,"$(MAKE) -s unit-$(r) unit.without='$(threads.without)'") "$(MAKE) -s fuzz-replay fuzz.targets=http" \
		"DYNALITH_BINARY=$(BUILD)/dynalith tests/golden/run"
# All that test-native runs.
programs: $(BUILD)/dynalith $(if $(library.is_tested),$(BUILD)/libdynalith.so $(BUILD)/tests/tiny/dynalith) $(if $(filter tsan Darwin,$(FLAVOUR) $(shell uname)),,$(BUILD)/tests/simulation/simulate $(scale.program)) $(unit.core) $(unit.storage) $(unit.protocol) $(unit.server) $(foreach t,$(fuzz.targets),$(BUILD)/tests/fuzz/replay_$(t))
fuzz-replay: $(foreach t,$(fuzz.targets),$(BUILD)/tests/fuzz/replay_$(t))
	@failed=0; $(foreach t,$(fuzz.targets),$(BUILD)/tests/fuzz/replay_$(t) tests/fuzz/corpus/$(t) $(or $(fuzz.prefixes.$(t)),$(fuzz.prefixes)) || failed=1;) exit $$failed
state-model: $(BUILD)/tests/unit/storage/test_state_model ## resets, rollbacks, snapshots and clones against a naive model: STEPS=N SEED=N
	STATE_STEPS=$(or $(STEPS),100000) STATE_SEED=$(or $(SEED),1) $<
workers: deps-test debug ## the recipes of docs/testing.md on one server: 1,000 tests by pytest-xdist with 8 workers, and by Jest with 4; TESTS=N
	@scripts/install-deps workers
	@tests/workers/run --tests $(or $(TESTS),1000)
iam-agree: $(BUILD)/tests/unit/protocol/test_iam ## random IAM policies and requests, decided by us and by a naive evaluator: COUNT=N SEED=N
	@tests/iam/agree $< $(or $(COUNT),100000) $(or $(SEED),1)
simulate: $(BUILD)/tests/simulation/simulate ## the server below HTTP in one thread and virtual time, with faults and crashes: SEED=N STEPS=N, ARGS="--twice --trace --shrink"
	@$< --seed $(or $(SEED),1) --steps $(or $(STEPS),100000) $(ARGS)
simulate-long: $(BUILD)/tests/simulation/simulate ## the same for 10 million steps: a hundred seeds from SEED=1 on, STEPS=100000 of each
	@seq $(or $(SEED),1) $$(($(or $(SEED),1) + 99)) | xargs -P $$(nproc) -I N $< --seed N --steps $(or $(STEPS),100000) $(ARGS)
# Part of make test.
cluster.tests := $(patsubst %,$(BUILD)/tests/unit/%,storage/test_store storage/test_store_rows storage/test_postgresql protocol/test_postgresql_trips)
.PHONY: database-test
database-test: $(BUILD)/dynalith $(if $(postgresql.header),$(cluster.tests))
	@DYNALITH_BINARY=$(abspath $(BUILD)/dynalith) tests/cluster/run $(if $(postgresql.header),$(abspath $(cluster.tests)))
cluster-simulate: debug ## 1 to 100 servers on a simulated PostgreSQL, in virtual time: the figures of docs/cluster.md, a minute or two; SEED=N
	@$(MAKE) FLAVOUR=debug build/debug/tests/scale/scale
	@rm -rf build/scale && mkdir -p build/scale
	@printf '%s\n' calibration zipf reads profiles "no stream" stream "four shards" "sixteen shards" | xargs -P $$(nproc) -I PART \
		sh -c 'build/debug/tests/scale/scale --seed $(or $(SEED),1) --part "PART" > "build/scale/PART.json"'
	@tests/scale/figures build/scale/*.json
cluster-test: deps-test debug ## several servers on one PostgreSQL database, which is killed now and then: SECONDS=N SEED=N RUNS=N of the histories
	@CLUSTER_SUITES="backups transfer global faults streams triggers" CLUSTER_SECONDS=$(or $(SECONDS),60) CLUSTER_SEED=$(or $(SEED),1) CLUSTER_RUNS=$(or $(RUNS),20) $(MAKE) -s FLAVOUR=debug database-test
profiles-test: deps-test debug $(if $(postgresql.header),$(cluster.tests)) ## servers behind pgbouncer with pool_mode=transaction, and YugabyteDB's statements on a PostgreSQL
	@DYNALITH_BINARY=$(abspath $(BUILD)/dynalith) build/deps/venv/bin/python tests/cluster/profiles $(if $(postgresql.header),$(filter %/test_store %/test_store_rows %/test_postgresql,$(abspath $(cluster.tests))))
cluster-run: deps-test debug $(if $(postgresql.header),$(cluster.tests)) ## the whole suite and the histories on a database elsewhere, recorded: URL=postgresql://...
	@DYNALITH_BINARY=$(abspath $(BUILD)/dynalith) tests/cluster/run $(URL) $(if $(postgresql.header),$(abspath $(cluster.tests)))
deploy-test: deps-test debug ## the proxy, Kubernetes manifests and compose file of docker/, as far as they run without an engine
	@scripts/install-deps deploy
	@build/deps/deploy/bin/python tests/deploy/run
golden: debug ## requests and answers as data
	@DYNALITH_BINARY=build/debug/dynalith tests/golden/run
e2e: deps-test debug ## real SDKs
	@tests/e2e/run
e2e-all: deps-test debug ## the same with Java (Maven) and Rust (cargo) too: downloads and compiles much
	@DYNALITH_E2E_ALL=1 scripts/run-tests tests/e2e/run
races-proof: deps-test debug ## planted races in four languages, each order that is found replayed REPLAYS=100 times, STRESS=20 plain runs; what 200 orders cost
	@DYNALITH_BINARY=$(CURDIR)/build/debug/dynalith REPLAYS=$(or $(REPLAYS),100) STRESS=$(or $(STRESS),20) tests/races/run
	@DYNALITH_BINARY=$(CURDIR)/build/debug/dynalith node tests/races/forty.mjs $(CURDIR)/build/deps/node_modules
crash-test: deps-test debug ## kills a server that is written to: KILLS=N SEED=N
	@CRASH_KILLS=$(or $(KILLS),200) CRASH_SEED=$(or $(SEED),1) DYNALITH_E2E=crash tests/e2e/run
test-oom: $(BUILD)/tests/unit/protocol/test_oom $(BUILD)/tests/unit/protocol/test_memory ## fails each allocation of requests of all operations, one at a time
	@OOM_ALL=1 $(BUILD)/tests/unit/protocol/test_oom && FAULTS_ALL=1 $(BUILD)/tests/unit/protocol/test_memory
power-test: deps-test $(BUILD)/tests/unit/storage/test_power ## power cuts of a simulated disk: CUTS=N SEED=N
	@POWER_CUTS=$(or $(CUTS),2000) POWER_SEED=$(or $(SEED),1) $(BUILD)/tests/unit/storage/test_power
isolation-test: deps-test debug ## 16 clients against each other for SECONDS=N each, in memory and on disk; SEED=N
	@ISOLATION_SECONDS=$(or $(SECONDS),60) ISOLATION_SEED=$(or $(SEED),1) DYNALITH_E2E=isolation tests/e2e/run
repair-test: deps-test debug ## flipped bytes in data files, and what check --repair brings back: FLIPS=N SEED=N
	@REPAIR_FLIPS=$(or $(FLIPS),200) REPAIR_SEED=$(or $(SEED),1) DYNALITH_E2E=repair tests/e2e/run
insight-test: deps-test debug ## the sums of the report against what 16 connections saw in REQUESTS=100000 requests
	@INSIGHT_REQUESTS=$(or $(REQUESTS),100000) DYNALITH_TESTS=sums_are_what_the_clients_saw DYNALITH_E2E=insight tests/e2e/run
linearizability: deps-test debug ## 16 clients on a server that is killed, and an order of operations that explains all answers: SECONDS=N SEED=N KILLS=N, ARGS="-memory"
	@LINEARIZABILITY_SECONDS=$(or $(SECONDS),20) LINEARIZABILITY_SEED=$(or $(SEED),1) LINEARIZABILITY_KILLS=$(or $(KILLS),5) LINEARIZABILITY_ARGS="$(ARGS)" \
		DYNALITH_E2E=linearizability tests/e2e/run
transfer-test: deps-test release ## ITEMS=1000000 items through an import, an export and back, item for item; says how many a second
	@DYNALITH_BINARY=$(CURDIR)/build/release/dynalith DYNALITH_TRANSFER_ITEMS=$(or $(ITEMS),1000000) DYNALITH_E2E=roundtrip tests/e2e/run
.PHONY: symbols
symbols: $(server.objects)
	@scripts/check-symbols $(patsubst -l%,%,$(LDLIBS) -lsqlite3) -- $^
VALGRIND := valgrind -q --error-exitcode=9 --child-silent-after-fork=yes --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite
valgrind: ## the unit tests under valgrind's memcheck; no suppressions
	@scripts/install-deps valgrind
	@$(MAKE) FLAVOUR=debug programs
	@scripts/run-tests "$(MAKE) FLAVOUR=debug UNDER='$(VALGRIND)' unit"
tidy: ## clang-tidy over all C, by the checks of .clang-tidy
	@scripts/install-deps clang-tidy
	@scripts/check tidy
analyze: ## gcc's -fanalyzer over all C
	@scripts/check analyze
fuzz-rows: ## changes ROWS=20000 rows of a data file from SEED=1 on, one at a time, and reads the file, under ASan and UBSan
	@$(MAKE) -s FLAVOUR=asan build/asan/tests/unit/server/test_rows
	DYNALITH_ROWS=$(or $(SEED),1):$(or $(ROWS),20000) build/asan/tests/unit/server/test_rows
fuzz: ## each target, or TARGET=..., for FUZZ_SECONDS under clang's libFuzzer, ASan and UBSan
	@$(MAKE) FLAVOUR=fuzz CC=clang BUILD=build/fuzz fuzz-run
differential: build ## random requests to this server and DynamoDB Local: DYNAMODB_LOCAL=DIR; COUNT=N SEED=N, ARGS="..." as tests/differential/run --help
	@tests/differential/run --dynamodb-local $(DYNAMODB_LOCAL) --count $(or $(COUNT),20000) --seed $(or $(SEED),1) $(ARGS)
conformance: build ## the public suite: SUITE=CHECKOUT
	@tests/conformance/run $(SUITE)
# The programs of test-native, one command a line.
MUTATED := storage/read.c storage/upkeep/backfill.c storage/write/*.c storage/stream/*.c storage/upkeep/stream_sweep.c storage/schema/stream_state.c
mutation: deps-test ## changes storage/ in small ways, one at a time, and sees whether test-native fails: FILES="..." SAMPLE=N SEED=N ARGS="..." as tests/mutation/run --help
	@scripts/install-deps mutation
	@$(MAKE) BUILD=build/mutation programs
	@$(MAKE) BUILD=build/mutation mutation-run
.PHONY: mutation-run
mutation-run:
	@printf '%s\n' $(foreach r,core storage protocol server,$(unit.$(r))) 'env DYNALITH_BINARY=$(BUILD)/dynalith tests/golden/run' \
		$(foreach t,$(fuzz.targets),'$(BUILD)/tests/fuzz/replay_$(t) tests/fuzz/corpus/$(t) $(or $(fuzz.prefixes.$(t)),$(fuzz.prefixes))') | \
		build/deps/mutation/bin/python tests/mutation/run $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(ARGS) $(or $(FILES),$(MUTATED))
coverage: deps-test ## lines of each room that the tests reach, unit to end to end; fails below the floors of scripts/coverage
	@scripts/install-deps gcovr
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	@$(MAKE) FLAVOUR=coverage build/coverage/dynalith
	@FLAVOUR=coverage scripts/run-tests "$(MAKE) FLAVOUR=coverage test-native" "DYNALITH_BINARY=$(CURDIR)/build/coverage/dynalith tests/e2e/run" || true
	@scripts/coverage build/coverage
pgo-test: pgo ## the golden data and the hardening of build/pgo/dynalith
	@DYNALITH_BINARY=$(CURDIR)/build/pgo/dynalith scripts/run-tests tests/golden/run tests/hardening/run
hardening: release ## how the release binary is hardened
	@tests/hardening/run
model-diff: deps-test debug ## what has changed at AWS: the newest botocore's API model against what this server knows, each new member tried on a running server
	@build/deps/venv/bin/python scripts/model-diff
soak: deps-test release ## mixed load for MINUTES=30: memory and open files stay flat; then tests/matrix whole, an hour, or MINUTES; ARGS="..." as tests/soak/run --help
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load
	@build/deps/venv/bin/python tests/soak/run $(ARGS)
	@DYNALITH_BINARY=$(CURDIR)/build/release/dynalith tests/matrix/run --whole --jobs $$(getconf _NPROCESSORS_ONLN) $(if $(MINUTES),--minutes $(MINUTES))
matrix: debug ## golden data and hostile requests with each two features on: tests/matrix/run; make soak does it with all
	@DYNALITH_BINARY=$(CURDIR)/build/debug/dynalith tests/matrix/run --jobs $$(getconf _NPROCESSORS_ONLN)
bare: deps-test ## the README's commands, docker/Dockerfile and action.yml, done as written on a bare Debian made by debootstrap; as root: PARTS="run action docker test"
	@scripts/install-deps debootstrap
	@tests/bare/run $(PARTS)
mcdc: ## conditions of core/ and storage/write/ that decided alone in a test (MC/DC), by gcc 14 in a root of Debian 13; as root
	@scripts/install-deps debootstrap
	@tests/mcdc/run
admin-test: deps ## the SDK in pages of Chromium, and dynamodb-admin clicked through, where Chromium and Node.js are
	@$(MAKE) FLAVOUR=debug all
	@tests/admin/run
lint-console: ## the console's modules by ESLint and by TypeScript's checker (JSDoc types), which npm brings; make lint does it where they are
	@tests/console/lint/run --fetch
console-test: deps ## the console in Chromium: each view, its layout, axe's rules, the tour, 1,000,000 items scrolled (ITEMS=N)
	@$(MAKE) FLAVOUR=debug all
	@tests/console/run
