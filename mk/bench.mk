# What it costs.

bench-state: deps-test $(BUILD)/dynalith ## what resets, rollbacks, snapshots and clones cost, beside their limits; ITEMS=N COPIED=N, DYNAMODB_LOCAL=DIR to compare
	$(if $(DYNAMODB_LOCAL),DYNAMODB_LOCAL=$(DYNAMODB_LOCAL) )build/deps/venv/bin/python tests/bench/state $(BUILD)/dynalith
cluster-measure: build ## CPU, latency and scale of servers on PostgreSQL beside SQLite, some minutes; ARGS="..." as tests/cluster/measure --help
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load build/release/tests/bench/delay
	@tests/cluster/measure $(ARGS)
bench-library: deps-test build library ## what libdynalith saves: CPU per request by HTTP and in process; REQUESTS=N
	@build/deps/venv/bin/python tests/bench/library build/release/dynalith build/release/library/libdynalith.so $(or $(REQUESTS),20000)
bench-in-process: deps-test build library wasm ## what libdynalith and dynalith.wasm save: CPU per call by the SDKs of JavaScript, Go, Java and Rust over HTTP and in process, start, reset; CALLS=N
	@DYNALITH_BINARY=build/release/dynalith DYNALITH_WASM=$(CURDIR)/build/wasm/dynalith.wasm NODE_PATH=build/deps/node_modules node tests/bench/in_process.cjs $(or $(CALLS),5000)
	@if command -v go > /dev/null; then tests/bench/in_process_go build/release/dynalith build/wasm/dynalith.wasm $(or $(CALLS),5000); else echo "bench-in-process: no Go here" >&2; fi
	@if command -v mvn > /dev/null && command -v javac > /dev/null; then tests/bench/in_process_java build/release/dynalith build/release/library/libdynalith.so; else echo "bench-in-process: no Maven or no JDK here" >&2; fi
	@if command -v cargo > /dev/null; then tests/bench/in_process_rust build/release/dynalith build/release/library/libdynalith.a $(or $(CALLS),5000); else echo "bench-in-process: no cargo here" >&2; fi
bench-suites: deps-test build wasm ## what tests of electrodb and dynamodb-onetable take over HTTP and in process; SUITES=FOLDER with clones and their packages, ROUNDS=N
	@tests/bench/suites build/release/dynalith build/wasm/dynalith.wasm $(SUITES) $(ROUNDS)
bench: pgo ## this server, and with DYNAMODB_LOCAL=DIR and DYNOXIDE=FILE its rivals, in one run; ARGS="..." as tests/bench/run --help
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load build/release/tests/bench/bare
	@tests/bench/run $(if $(DYNAMODB_LOCAL),--dynamodb-local $(DYNAMODB_LOCAL)) $(if $(DYNOXIDE),--dynoxide $(DYNOXIDE)) $(ARGS)
	@python=$$(for p in build/deps/venv/bin/python python3; do $$p -c 'import numpy' 2>/dev/null && echo $$p && break; done); \
		if [ -n "$$python" ]; then $$python tests/bench/vectors; else echo "bench: SearchVectors is compared with NumPy, which is not here"; fi
bench-growth: pgo ## SIZES=1000,100000,...: the figures on disk as the data grow, and beside scans and silent connections
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load
	@tests/bench/growth $(if $(SIZES),--sizes $(SIZES)) $(if $(DYNAMODB_LOCAL),--dynamodb-local $(DYNAMODB_LOCAL)) $(if $(DYNOXIDE),--dynoxide $(DYNOXIDE)) $(ARGS)
bench-background: deps-test release ## GetItem and PutItem on disk, alone and beside background work: an index, a backup, a restore, a dropped table, expiry
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load
	@build/deps/venv/bin/python tests/bench/background $(ARGS)
bench-escape: ## what answers of many items, and compressed ones, cost beside a copy with escapes and beside zlib; ROUNDS=N
	@$(MAKE) FLAVOUR=release build/release/tests/bench/escape
	@build/release/tests/bench/escape $(ROUNDS)
bench-layout: deps-sqlite ## what other layouts of rows would cost in SQLite; ROWS=N BYTES=N PAGE=N, ARGS=ordered
	@$(MAKE) FLAVOUR=release build/release/tests/bench/layout
	@f=$$(mktemp -d) && build/release/tests/bench/layout $$f/layout.db $(or $(ROWS),100000) $(or $(BYTES),650) $(or $(PAGE),4096) 20000 $(ARGS); \
		s=$$?; rm -rf $$f; exit $$s
bench-cores: build library ## what of a request lies under locks, and by a queueing model the requests a second of more cores; ARGS="..." as tests/bench/cores --help
	@$(MAKE) FLAVOUR=release $(foreach p,load handover workers locks.so,build/release/tests/bench/$(p))
	@tests/bench/cores $(ARGS)
bench-tables: build ## TABLES=10000 CYCLES=20000: create, put, get and delete beside many tables, on disk
	@$(or $(wildcard build/deps/venv/bin/python),python3) tests/bench/tables $(if $(TABLES),--tables $(TABLES)) $(if $(CYCLES),--cycles $(CYCLES)) $(ARGS)
bench-budget: build ## where the instructions of a request go
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load build/release/dynalith-shared
	@for m in memory disk verify; do echo "$$m" && tests/bench/budget --mode $$m $(ARGS) || exit 1; done
bench-counts: build ## instructions per request against the committed baseline, under callgrind; ACCEPT=1 writes a new baseline
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load
	@tests/bench/counts --cc "$(CC)" $(if $(ACCEPT),--accept) $(ARGS)
bench-fair: deps-test release ## 1, 8 and 200 clients send the 20 dearest requests, and how long others wait is measured: SECONDS=N for each, MODES="memory disk" CLIENTS="1 8"
	@SECONDS=$(or $(SECONDS),5) MODES="$(or $(MODES),memory disk)" CLIENTS="$(or $(CLIENTS),1 8 200)" build/deps/venv/bin/python tests/bench/fair
