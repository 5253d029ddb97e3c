# dynalith.wasm: libdynalith for WASI preview 1, one file without threads, sockets and processes, by zig's clang and wasi-libc (packaging/fetch-sources).
# server/wasi/ stands in for what such a host has not; the other files are those of the library.

wasm.folder := build/wasm
wasm.sources := build/deps/sources
wasm.without := $(patsubst %,server/%.c,crash ending start/main start/parent platform/cpu_clock platform/crypto platform/process client/tls_client) \
	$(filter-out server/http/headers.c,$(wildcard server/http/*.c)) $(filter-out server/command/suggest.c,$(wildcard server/command/*.c)) $(patsubst %,server/forecast/%.c,forecast recorded rules show_page) $(wildcard server/mcp/*.c server/export/*.c server/mask/*.c server/pull/*.c server/races/race*.c server/platform/*_linux.c server/platform/*_macos.c) \
	$(patsubst %,server/%.c,tools/copy tools/dump tools/maintain recording/replay)
wasm.src := $(filter-out $(wasm.without),$(core.src) $(filter-out storage/store/postgresql/%,$(storage.src)) $(protocol.src) $(wildcard server/*.c server/*/*.c))
wasm.objects := $(wasm.src:%.c=$(wasm.folder)/%.o) $(wasm.folder)/console.o $(wasm.folder)/sqlite3.o $(wasm.folder)/cJSON.o \
	$(patsubst %,$(wasm.folder)/zlib/%.o,adler32 crc32 deflate inffast inflate inftrees trees zutil) $(patsubst %,$(wasm.folder)/yaml/%.o,api loader parser reader scanner)
wasm.exports := malloc free $(patsubst %,dynalith_%,call apply close control error free send tick version wasi_open wasi_wake)
# -Os with size in mind: the file is what a page loads. Zig sanitizes by default, which needs a run-time of its own.
wasm.flags := -Os -g0 -DNDEBUG -fno-sanitize=undefined -ffunction-sections -fdata-sections -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_MMAN \
	-D_WASI_EMULATED_PROCESS_CLOCKS
wasm.cppflags := -I$(wasm.sources)/sqlite -I$(wasm.folder)/include -I$(wasm.sources)/zlib -I$(wasm.sources)/libyaml/include '-DSTORE_ERASES="ON"' $(CPPFLAGS)
wasm.libraries := -lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-mman -lwasi-emulated-process-clocks
wasm.zig := ZIG_GLOBAL_CACHE_DIR=$(CURDIR)/$(wasm.sources)/cache ZIG_LOCAL_CACHE_DIR=$(CURDIR)/$(wasm.sources)/cache \
	$$(echo $(wasm.sources)/zig/lib/python*/site-packages/ziglang/zig)
wasm.cc := $(wasm.zig) cc -target wasm32-wasi
# Without threads and without functions of SQL that no statement here calls; the rest as in flavours.mk.
wasm.sqlite := $(filter-out -DSQLITE_THREADSAFE=2 -DHAVE_FDATASYNC=1,-DSQLITE_DQS=0 -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_USE_ALLOCA \
	-DSQLITE_OMIT_PROGRESS_CALLBACK -DSQLITE_OMIT_TRACE -DSQLITE_OMIT_DECLTYPE) -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_JSON -DSQLITE_OMIT_DATETIME_FUNCS

.PHONY: wasm wasm-built test-wasm
wasm: ## build/wasm/dynalith.wasm, libdynalith for WASI: brings zig, 100 MB, and the libraries' sources
	@packaging/fetch-sources
	@$(MAKE) wasm-built
wasm-built: $(wasm.folder)/dynalith.wasm
$(wasm.folder)/flags: always
	@mkdir -p $(@D)/include/cjson && cp -u $(wasm.sources)/cjson/cJSON.h $(@D)/include/cjson/
	@echo "$(wasm.flags) $(wasm.sqlite)" | cmp -s - $@ || echo "$(wasm.flags) $(wasm.sqlite)" > $@
$(wasm.folder)/sqlite3.o: $(wasm.sources)/sqlite/sqlite3.c $(wasm.folder)/flags
	@mkdir -p $(@D); $(call tell,WASM,$<)
	$(Q)$(wasm.cc) $(wasm.flags) $(wasm.sqlite) -w -c $< -o $@
$(wasm.folder)/cJSON.o: $(wasm.sources)/cjson/cJSON.c $(wasm.folder)/flags
	@mkdir -p $(@D); $(call tell,WASM,$<)
	$(Q)$(wasm.cc) $(wasm.flags) -w -c $< -o $@
$(wasm.folder)/zlib/%.o: $(wasm.sources)/zlib/%.c $(wasm.folder)/flags
	@mkdir -p $(@D); $(call tell,WASM,$<)
	$(Q)$(wasm.cc) $(wasm.flags) -w -c $< -o $@
$(wasm.folder)/yaml/%.o: $(wasm.sources)/libyaml/src/%.c $(wasm.folder)/flags
	@mkdir -p $(@D); $(call tell,WASM,$<)
	$(Q)$(wasm.cc) $(wasm.flags) -w -I$(wasm.sources)/libyaml/include -DYAML_DECLARE_STATIC $(patsubst %,-DYAML_VERSION_%,MAJOR=0 MINOR=2 PATCH=5 STRING='"0.2.5"') -c $< -o $@
$(wasm.folder)/console.o: build/debug/server/console/embedded.c $(wasm.folder)/flags
	@mkdir -p $(@D); $(call tell,WASM,$<)
	$(Q)$(wasm.cc) $(wasm.cppflags) -std=c11 $(wasm.flags) -c $< -o $@
# With the warnings of other flavours but one: numbers of 64 bits that become sizes, which have 32 here.
$(wasm.folder)/%.o: %.c $(wasm.folder)/flags
	@mkdir -p $(@D); $(call tell,WASM,$<)
	$(Q)$(wasm.cc) $(wasm.cppflags) -include server/wasi/compat.h $(if $(filter $(wasm.folder)/tests/%,$@),-include tests/wasm/compat.h) -std=c11 -fno-math-errno $(wasm.flags) $(WARN) -Werror -Wno-deprecated-declarations -Wno-shorten-64-to-32 -MMD -MP -c $< -o $@
# With the memory of an instance that is open, as a custom section: see packaging/npm/engine.cjs.
$(wasm.folder)/dynalith.wasm: $(wasm.folder)/bare.wasm packaging/freeze-wasm $(patsubst %,packaging/npm/%.cjs,engine files in-process)
	$(Q)packaging/freeze-wasm $< $@.new && mv $@.new $@
# Linked again with numbers of as many bytes as they need, which are 5 otherwise: 7 % of the code. zig's cc does not pass that option on, and says how it links.
$(wasm.folder)/bare.wasm: $(wasm.objects)
	@$(call tell,LINK,$@)
	$(Q)$(wasm.zig) wasm-ld --compress-relocations $$($(wasm.cc) -v -mexec-model=reactor -Wl,-s -Wl,--gc-sections -Wl,-z,stack-size=1048576 $(wasm.exports:%=-Wl,--export=%) $^ \
		$(wasm.libraries) -o $@ 2>&1 | sed -n 's/^wasm-ld //p')
-include $(shell find $(wasm.folder) -name '*.d' 2>/dev/null)

# What the native server is tested by: the golden data, the models, and the vectors of signatures, whose hashes are another implementation here.
wasm.units := $(patsubst %,$(wasm.folder)/tests/%.wasm,core/test_number core/test_expr storage/test_model storage/test_state_model storage/test_index_model \
	server/test_crypto server/test_sigv4)
$(wasm.folder)/tests/storage/test_state_model.wasm: $(wasm.folder)/tests/unit/storage/optimistic_store.o
$(wasm.folder)/tests/%.wasm: $(wasm.folder)/tests/unit/%.o $(wasm.objects)
	@mkdir -p $(@D); $(call tell,LINK,$@)
	$(Q)$(wasm.cc) -Wl,-s -Wl,--gc-sections -Wl,-z,stack-size=1048576 $^ $(wasm.libraries) -o $@
wasm-units: $(wasm.units)
.PHONY: wasm-units
.PHONY: wasm-tested
wasm-tested: wasm $(BUILD)/dynalith ## test-wasm without the presets: what .ci/run has of it
	@$(MAKE) wasm-units
	@scripts/run-tests $(foreach u,$(wasm.units),"node tests/wasm/unit.cjs $(u)") "DYNALITH_BINARY=$(BUILD)/dynalith tests/golden/run --wasm $(wasm.folder)/dynalith.wasm --as-native" \
		"env DYNALITH_WASM=$(CURDIR)/$(wasm.folder)/dynalith.wasm NODE_PATH=build/deps/node_modules node tests/wasm/in_process.cjs"
test-wasm: deps-test ## golden data byte for byte as the native server, models, vectors of signatures, SDK v3 and the presets for Jest and Vitest on dynalith.wasm in Node
	@$(MAKE) wasm-tested
	@scripts/install-deps packages
	@scripts/run-tests "tests/wasm/presets.py $(wasm.folder)/dynalith.wasm $(BUILD)/dynalith"
