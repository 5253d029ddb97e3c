# Dynalith. `make help` lists the targets. Output goes to build/<flavour>/; flavours: debug, release, quick, asan, tsan, coverage.
# Builds use all cores, or what -j says. V=1 prints whole commands, -s prints none.
is_silent := $(findstring s,$(filter-out ---%,$(firstword -$(MAKEFLAGS))))
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(or $(filter-out all core storage protocol server programs build/%,$(MAKECMDGOALS)),$(if $(MAKECMDGOALS),,build)),)
# Goals that only build. The others may install what is missing first, and run what prints while it runs: they start these.
# Not where -j was given, here or to the make that started this one: its flags are in the environment while this file is read.
ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
endif
MAKEFLAGS += $(if $(filter output-sync,$(.FEATURES)),-Oline)
else
.NOTPARALLEL:
endif
# One line for each file that is made: $(call tell,CC,FILE). On a terminal tell_over's line is overwritten by the next.
tell = $(if $(V)$(is_silent),:,printf '%b  %-5s %s\n' "$${MAKE_TERMOUT:+\r\033[K}" "$(1)" "$(2)")
tell_over = $(if $(V)$(is_silent),:,printf '%b  %-5s %s' "$${MAKE_TERMOUT:+\r\033[K}" "$(1)" "$(2)"; \
	[ -n "$$MAKE_TERMOUT" ] || echo)
Q := $(if $(V),,@)
comma := ,
.DEFAULT_GOAL := build
FLAVOUR ?= debug
BUILD   ?= build/$(FLAVOUR)
CC      ?= cc
ifeq ($(origin CC),default)
CC := cc
endif

WARN     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wpointer-arith -Wwrite-strings
CPPFLAGS := -I. -D_GNU_SOURCE -include core/banned.h
# Objects that a shared library can have too; a release compiles these apart (make library). Calls within the program stay direct.
PIC := -fPIC -fno-semantic-interposition
CFLAGS.debug   := -O1 -g -Werror $(PIC)
# Optimise across files with GCC, and with zig for Linux. Other clangs, and zig for macOS, would need another linker.
LTO := $(if $(findstring linux,$(TARGET)),-flto,$(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | grep -q __clang__ || echo -flto=auto -fno-fat-lto-objects))
# Checked on the binary by tests/hardening. No marks of branch targets: they cost instructions, and without marks in libc's start files nothing checks them.
HARDEN := -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2 -fPIE
# 24,000 relocations in 8 KB in place of 570 KB that each start reads, where the C library knows the form.
RELR := $(shell printf '\043include <features.h>\n\043if !__GLIBC_PREREQ(2, 36)\n\043error\n\043endif\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo -Wl$(comma)-z$(comma)pack-relative-relocs)
CFLAGS.release := -O3 $(LTO) -g -DNDEBUG $(HARDEN)
# For make run, which wants a first answer soon: a third of what -O1 costs file by file.
# Warnings are for the other flavours, which compile each file alone.
CFLAGS.quick   := -Og -w -DNDEBUG $(filter-out -D_FORTIFY_SOURCE=2,$(HARDEN))
CFLAGS.asan    := -O1 -g -Werror $(PIC) -Wno-maybe-uninitialized -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS.tsan    := -O1 -g -Werror $(PIC) -Wno-maybe-uninitialized -fsanitize=thread
# An absent text is {NULL, 0}. Clang takes NULL + 0 for an overflow, gcc does not; the asan flavour looks for the others.
CFLAGS.fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all -DFUZZING
LDFLAGS.fuzz := -fsanitize=address,undefined
CFLAGS.coverage := -O0 -g --coverage $(PIC)
LDFLAGS.coverage := --coverage
LDFLAGS.quick  := -pie $(if $(findstring macos,$(TARGET)),,-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now$(comma)-z$(comma)noexecstack) $(RELR)
LDFLAGS.release := -O3 $(LTO) $(LDFLAGS.quick)
LDFLAGS.asan   := -fsanitize=address,undefined
LDFLAGS.tsan   := -fsanitize=thread
# PROFILE=generate: the binary counts its branches and calls, and leaves the counts beside its objects when it ends. PROFILE=FOLDER: the folder of such objects;
# their counts decide what the compiler makes fast and lays out together. See pgo below.
PROFILE ?=
profile = $(if $(filter generate,$(PROFILE)),-fprofile-generate -fprofile-update=prefer-atomic,$(if $(PROFILE),-fprofile-use -dumpdir $(PROFILE)/$(dir $(1)) -fprofile-partial-training -Wno-missing-profile))
profile.stamp := $(addsuffix /trained,$(filter-out generate,$(PROFILE)))
LDFLAGS.release += $(if $(filter generate,$(PROFILE)),-fprofile-generate)
# Where sqrt() need not set errno, it is one instruction and no call: without the mathematics library the server starts faster.
CFLAGS  := -std=c11 -pthread -fno-math-errno $(WARN) $(CFLAGS.$(FLAVOUR)) $(if $(TARGET),-Werror)
# Names of functions in the stack of a crash; a release, whose functions they would keep from being joined across files, has addresses for addr2line.
LDFLAGS := -pthread $(if $(filter release,$(FLAVOUR)),,-rdynamic) $(LDFLAGS.$(FLAVOUR)) $(if $(TARGET),-s)
LDLIBS  = -lmicrohttpd -lcjson $(if $(SQLITE),,-lsqlite3) -lssl -lcrypto -lz -lyaml -lm
# TARGET=linux-aarch64 and others are release binaries for that machine, by packaging/make-binary.
# How the server is linked with its libraries, see scripts/find-libraries. Archives start in half the time; tests link what builds fastest.
LINK.release := auto
LINK.quick := auto
LINK ?= $(or $(LINK.$(FLAVOUR)),shared)
# SQLITE=DIR compiles an amalgamation (sqlite3.c and sqlite3.h in DIR) into the server, in place of the machine's SQLite. A release takes the one that
# scripts/fetch-sqlite has brought, where the machine's is older than sqlite_floor.h wants; SQLITE=system insists on the machine's.
sqlite.folder := build/deps/sqlite
sqlite.is_chosen := $(filter-out undefined,$(origin SQLITE))
ifneq ($(filter release quick,$(sqlite.is_chosen)$(FLAVOUR)),)
SQLITE := $(if $(wildcard $(sqlite.folder)/sqlite3.c),$(sqlite.folder))
endif
ifeq ($(SQLITE),system)
override SQLITE :=
endif
ifneq ($(SQLITE),)
CPPFLAGS := -I$(SQLITE) $(CPPFLAGS)
SQLITE_OPTIONS := -DSQLITE_THREADSAFE=2 -DSQLITE_DQS=0 -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_USE_ALLOCA -DHAVE_FDATASYNC=1 \
	-DSQLITE_OMIT_PROGRESS_CALLBACK -DSQLITE_OMIT_TRACE -DSQLITE_OMIT_DECLTYPE
sqlite.object := $(BUILD)/sqlite3.o
$(sqlite.object): $(SQLITE)/sqlite3.c $(BUILD)/flags $(BUILD)/sqlite $(profile.stamp)
	@mkdir -p $(@D); $(call tell,CC,$<)
	$(Q)$(CC) -std=gnu11 -pthread $(SQLITE_OPTIONS) $(CFLAGS.$(FLAVOUR)) $(call profile,sqlite3) $(if $(profile.stamp),-w) -Wno-error -MMD -MP -c $< -o $@
endif

# Changes only with SQLITE and its options: the header must be that of the library.
$(BUILD)/sqlite: always
	@mkdir -p $(@D)
	@echo "$(SQLITE) $(SQLITE_OPTIONS)" | cmp -s - $@ || echo "$(SQLITE) $(SQLITE_OPTIONS)" > $@

# The store in PostgreSQL is built where the header of its client library is; whoever opens such a store loads the library itself.
# POSTGRESQL=no leaves it out.
ifneq ($(POSTGRESQL),no)
postgresql.header := $(firstword $(wildcard $(addsuffix /libpq-fe.h,$(shell pkg-config --variable=includedir libpq 2>/dev/null) \
	$(shell pg_config --includedir 2>/dev/null) /usr/include/postgresql /usr/include)))
endif
postgresql.flags := $(if $(postgresql.header),-DWITH_POSTGRESQL $(patsubst %,-isystem %,$(filter-out /usr/include,$(patsubst %/,%,$(dir $(postgresql.header))))))

# zstd in imports is read where the header of its library is; the library is loaded when the first such object is read. ZSTD=no leaves it out.
ifneq ($(ZSTD),no)
zstd.header := $(firstword $(wildcard $(addsuffix /zstd.h,$(shell pkg-config --variable=includedir libzstd 2>/dev/null) /usr/include)))
endif
zstd.flags := $(if $(zstd.header),-DWITH_ZSTD $(patsubst %,-isystem %,$(filter-out /usr/include,$(patsubst %/,%,$(dir $(zstd.header))))))

# Files whose names end in _linux.c or _macos.c are for that system.
system := $(if $(findstring macos,$(or $(TARGET),$(if $(filter Darwin,$(shell uname)),macos))),macos,linux)
core.src     := $(wildcard core/*.c)
storage.src  := $(filter-out $(if $(postgresql.header),,storage/store/postgresql/%),$(wildcard $(foreach depth,* */* */*/*,storage/$(depth).c)))
protocol.src := $(wildcard $(foreach depth,* */*,protocol/$(depth).c))
# The last ones are made by the build: the console's files and the documents for agents, compressed.
embedded := console mcp
server.src   := $(filter-out server/main.c %_$(if $(filter linux,$(system)),macos,linux).c,$(wildcard server/*.c server/*/*.c)) $(embedded:%=server/%/embedded.c)
obj = $(patsubst %.c,$(BUILD)/%.o,$(1))

.PHONY: all core storage protocol server unit programs always
all: $(BUILD)/dynalith

$(patsubst %.c,$(BUILD)/%.o,$(wildcard storage/store/sqlite/*.c)): $(BUILD)/sqlite
# Changes only with the header.
$(BUILD)/postgresql: always
	@mkdir -p $(@D)
	@echo "$(postgresql.flags)" | cmp -s - $@ || echo "$(postgresql.flags)" > $@
postgresql.users := $(BUILD)/server/backend.o $(patsubst %.c,$(BUILD)/%.o,$(wildcard storage/store/postgresql/*.c tests/unit/*/test_postgresql*.c tests/unit/storage/test_store*.c))
$(postgresql.users): $(BUILD)/postgresql
$(postgresql.users): CPPFLAGS += $(postgresql.flags)
# Changes only with the header.
$(BUILD)/zstd: always
	@mkdir -p $(@D)
	@echo "$(zstd.flags)" | cmp -s - $@ || echo "$(zstd.flags)" > $@
$(BUILD)/server/transfer/zstd.o: $(BUILD)/zstd
$(BUILD)/server/transfer/zstd.o: CPPFLAGS += $(zstd.flags)
# Files, compressed, as a table in C. Their list changes only with their names.
console.folder := console/
console.files := $(sort $(wildcard console/*.* console/*/*.*))
mcp.folder := docs/
mcp.files := $(patsubst %,docs/%.md,differences insight mcp reference/operations reference/options testing time)
embed.src := scripts/embed.c server/gzip.c $(patsubst %,core/%.c,arena buf cpu crc32 spare str)
$(BUILD)/embed: $(embed.src)
	@mkdir -p $(@D); $(call tell,CC,$<)
	$(Q)$(if $(TARGET),cc,$(CC)) $(CPPFLAGS) -std=c11 -pthread -O1 $^ -lz -o $@ # runs here, whatever the target
define embed
$(BUILD)/$(1).list: always
	@mkdir -p $$(@D)
	@echo "$($(1).files)" | cmp -s - $$@ || echo "$($(1).files)" > $$@
$(BUILD)/server/$(1)/embedded.c: $(BUILD)/embed $(BUILD)/$(1).list $($(1).files)
	@mkdir -p $$(@D)
	$$(Q)$(BUILD)/embed $$@ $(1) $($(1).folder) $($(1).files)
$(BUILD)/server/$(1)/embedded.o: $(BUILD)/server/$(1)/embedded.c
	@$$(call tell,CC,$($(1).folder))
	$$(Q)$$(CC) $$(CPPFLAGS) $$(CFLAGS) -MMD -MP -c $$< -o $$@
endef
$(foreach f,$(embedded),$(eval $(call embed,$(f))))
$(BUILD)/core/vector.o: CFLAGS += -O3 # its loops become vector instructions
ifneq ($(profile.stamp),)
$(BUILD)/core/crc32.o: profile += -Werror=missing-profile # one file proves that the compiler finds the counts; in others some are missing
endif
# Changes only with the compiler's flags.
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@echo "$(CFLAGS.$(FLAVOUR))" | cmp -s - $@ || echo "$(CFLAGS.$(FLAVOUR))" > $@
$(BUILD)/%.o: %.c $(BUILD)/flags $(profile.stamp)
	@mkdir -p $(@D); $(call tell,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(call profile,$*) -MMD -MP -c $< -o $@

define room
$(BUILD)/lib$(1).a: $(call obj,$($(1).src))
	@rm -f $$@; $$(call tell,AR,$$@)
	$$(Q)ar rcs $$@ $$^
$(1): $(BUILD)/lib$(1).a
endef
$(foreach r,core storage protocol server,$(eval $(call room,$(r))))

# Changes only with LINK.
$(BUILD)/link: always
	@mkdir -p $(@D)
	@echo "$(LINK)" | cmp -s - $@ || echo "$(LINK)" > $@
$(BUILD)/libraries: $(BUILD)/link $(BUILD)/sqlite scripts/find-libraries
	@CC="$(CC)" LDFLAGS="$(LDFLAGS)" SQLITE="$(SQLITE)" scripts/find-libraries $(LINK) > $@.new && mv $@.new $@
# The objects rather than the archives, whose index would need a plugin for objects that hold no machine code yet.
server.objects := $(BUILD)/server/main.o $(foreach r,server protocol storage core,$(call obj,$($(r).src)))
ifeq ($(FLAVOUR),quick)
units.src := server/main.c $(filter-out $(embedded:%=server/%/embedded.c),$(server.src))
units := $(shell scripts/units $(BUILD)/units $(units.src) $(foreach r,protocol storage core,$($(r).src)))
units.objects := $(units:%=$(BUILD)/units/%.o)
$(foreach u,$(units),$(eval units.known += $(u))$(eval units.at.$(u) := $(words $(units.known))))
units.last := $(filter $(BUILD)/units/libraries-%,$(units.objects))
$(units.last): CPPFLAGS += $(postgresql.flags) $(zstd.flags)
$(units.last): $(foreach f,sqlite postgresql zstd,$(BUILD)/$(f))
$(units.objects): $(BUILD)/units/%.o: $(BUILD)/units/%.c $(BUILD)/flags
	@$(call tell_over,CC,$*$(comma) $(units.at.$*) of $(words $(units)))
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
server.objects := $(units.objects) $(embedded:%=$(BUILD)/server/%/embedded.o)
# What a compiler alone can compile, for run: SQLite and the files that use no library.
.PHONY: $(BUILD)/early
$(BUILD)/early: $(sqlite.object) $(filter-out $(units.last),$(units.objects))
endif
# SQLite first: it takes longest to compile.
$(BUILD)/dynalith: $(sqlite.object) $(server.objects) $(BUILD)/libraries
	@$(call tell,LINK,$@$(if $(findstring lto,$(LDFLAGS)),: optimises all files together$(comma) which takes a while))
	$(Q)$(CC) $(LDFLAGS) $(filter-out %/libraries,$^) @$(BUILD)/libraries -o $@
	@$(if $(filter release quick,$(FLAVOUR)),$(call tell,HAS,$$(SQLITE="$(SQLITE)" scripts/find-libraries said $@ $(BUILD)/libraries)))

# The server with one backend more: tests/tiny/tiny_store.h.
$(BUILD)/tests/tiny/dynalith: $(filter-out $(BUILD)/server/backend.o,$(server.objects)) $(call obj,tests/tiny/backend.c tests/tiny/tiny_store.c) $(sqlite.object) $(BUILD)/libraries
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $(filter-out %/libraries,$^) @$(BUILD)/libraries -o $@

# libdynalith: the server without HTTP, for other programs (server/library/dynalith.h). One object that shows nothing but dynalith_...
library.without := main parent platform/poller_$(system) $(patsubst server/%.c,%,$(filter-out %/headers.c %/tls_context.c,$(wildcard server/http/*.c)))
library.objects := $(filter-out $(library.without:%=$(BUILD)/server/%.o),$(server.objects))
# Python without a sanitizer cannot load a library with one.
library.is_tested := $(if $(filter Darwin,$(shell uname)),,$(filter debug,$(FLAVOUR)))
library.version := $(shell sed -n 's/.*DYNALITH_VERSION "\([0-9]*\)\..*/\1/p' server/version.h)
$(BUILD)/libdynalith.o: $(library.objects) $(sqlite.object)
	@$(call tell,LINK,$@)
	$(Q)$(CC) -r -nostdlib $(if $(findstring lto,$(LDFLAGS)),$(LTO) -O3 -flinker-output=nolto-rel) $^ -o $@.all
	$(Q)objcopy --wildcard --keep-global-symbol='dynalith_*' $@.all $@ && rm $@.all
$(BUILD)/libdynalith.a: $(BUILD)/libdynalith.o
	@rm -f $@; $(call tell,AR,$@)
	$(Q)ar rcs $@ $<
# For another machine by packaging/make-library: of the objects, since its linker joins none. glibc 2.17 has no getentropy().
ifneq ($(TARGET),)
library.shared.linux := -shared -Wl,-soname,libdynalith.so.$(library.version) -Wl,--version-script=packaging/libdynalith.map -Wl,-z,defs -Wl,--gc-sections
library.shared.macos := -dynamiclib -Wl,-install_name,@rpath/libdynalith.dylib -Wl,-dead_strip
$(BUILD)/libdynalith.so $(BUILD)/libdynalith.dylib: $(library.objects) $(sqlite.object) $(if $(findstring gnu,$(TARGET)),$(BUILD)/packaging/getentropy.o) $(BUILD)/libraries
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(library.shared.$(system)) $(filter-out -pie,$(LDFLAGS)) $(filter-out %/libraries,$^) @$(BUILD)/libraries -o $@
else
$(BUILD)/libdynalith.so: $(BUILD)/libdynalith.o
	@$(call tell,LINK,$@)
	$(Q)$(CC) -shared -pthread $(filter-out -pie -rdynamic,$(LDFLAGS)) -Wl,-soname,libdynalith.so.$(library.version) -Wl,--exclude-libs,ALL $(if $(findstring san,$(LDFLAGS)),,-Wl,-z,defs) -Wl,--as-needed $< $(LDLIBS) -o $@
endif

# For bench-budget, which recognises libraries by their files.
$(BUILD)/dynalith-shared: $(server.objects) $(sqlite.object)
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Unit tests: tests/unit/ROOM/test_X.c, linked with its room and the rooms below.
libs.core     := core
libs.storage  := storage core
libs.protocol := protocol storage core
libs.server   := server protocol storage core
define unit_room
unit.$(1) := $$(patsubst %.c,$(BUILD)/%,$$(wildcard tests/unit/$(1)/test_*.c))
$$(unit.$(1)): $(BUILD)/tests/unit/$(1)/%: $(BUILD)/tests/unit/$(1)/%.o $(foreach l,$(libs.$(1)),$(BUILD)/lib$(l).a) $(sqlite.object)
	@$$(call tell,LINK,$$@)
	$$(Q)$$(CC) $$(LDFLAGS) $$^ $$(LDLIBS) -o $$@
.PHONY: unit-$(1)
unit-$(1): $$(filter-out $$(unit.without),$$(unit.$(1)))
	@failed=0; for t in $$^; do $(UNDER) $$$$t || failed=1; done; exit $$$$failed
endef
$(foreach r,core storage protocol server,$(eval $(call unit_room,$(r))))
ifeq ($(postgresql.header),)
unit.protocol := $(filter-out %/test_postgresql_trips,$(unit.protocol))
unit.storage := $(filter-out %/test_postgresql %/test_postgresql_profile,$(unit.storage))
endif
# A disk that loses power and fails.
$(BUILD)/tests/unit/storage/test_power $(BUILD)/tests/unit/protocol/test_disk: $(BUILD)/tests/unit/storage/fault_vfs.o
# A store as many processes share one.
$(foreach t,storage/test_store_rows storage/test_references storage/test_limits storage/test_processes storage/test_state_model protocol/test_servers,$(BUILD)/tests/unit/$(t)): \
	$(BUILD)/tests/unit/storage/optimistic_store.o
$(BUILD)/tests/unit/storage/test_lease $(BUILD)/tests/unit/server/test_feed $(BUILD)/tests/unit/server/test_clocks: $(BUILD)/tests/unit/storage/optimistic_store.o
$(BUILD)/tests/unit/storage/test_stream_shared $(BUILD)/tests/unit/storage/test_stream_lanes: $(BUILD)/tests/unit/storage/optimistic_store.o
$(BUILD)/tests/unit/storage/test_job: $(BUILD)/tests/unit/storage/optimistic_store.o
# The least store that passes.
$(BUILD)/tests/unit/storage/test_store $(BUILD)/tests/unit/storage/test_store_rows: $(BUILD)/tests/tiny/tiny_store.o
# Counts calls by wrapping them, which only GNU-like linkers can.
ifeq ($(shell uname),Darwin)
unit.protocol := $(filter-out %/test_once %/test_memory %/test_oom,$(unit.protocol))
unit.storage := $(filter-out %/test_memory_file,$(unit.storage))
endif
$(BUILD)/tests/unit/protocol/test_once: LDFLAGS += $(foreach f,json_parse expr_parse_condition expr_parse_update expr_parse_projection partiql_parse,-Wl,--wrap=$(f))
$(foreach t,protocol/test_memory protocol/test_oom,$(BUILD)/tests/unit/$(t)): LDFLAGS += $(foreach f,malloc calloc realloc mmap,-Wl,--wrap=$(f))
$(BUILD)/tests/unit/storage/test_memory_file: LDFLAGS += $(foreach f,malloc calloc free,-Wl,--wrap=$(f))
# Programs that take seconds under ThreadSanitizer and start no thread, so that it has nothing to see there: tests/unit/single.c ends them if they do.
unit.single := $(patsubst %,$(BUILD)/tests/unit/%,storage/test_backup storage/test_transfer storage/test_index_model storage/test_stream storage/test_limits \
	storage/test_faults storage/test_lag storage/test_count storage/test_write protocol/test_budget protocol/test_faults protocol/test_json_out protocol/test_time)
ifneq ($(shell uname),Darwin)
$(unit.single): $(BUILD)/tests/unit/single.o
$(unit.single): LDFLAGS += -Wl,--wrap=pthread_create
endif
# UNDER="..." is put before each test's command line; of unit.without, nothing is run.
unit: unit-core unit-storage unit-protocol unit-server

# Fuzz targets: with clang and libFuzzer by `make fuzz`; elsewhere a driver replays their corpus (tests/fuzz/corpus/TARGET/).
fuzz.targets := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz.libs    := $(foreach l,$(libs.server),$(BUILD)/lib$(l).a) $(sqlite.object)
FUZZ_SECONDS ?= 60
# How many prefixes of each input are replayed too; over a socket, or with 64 requests, each takes longer.
fuzz.prefixes          := 128
fuzz.prefixes.http     := 16
fuzz.prefixes.sequence := 4
$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(fuzz.libs)
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# The server's threads and clocks are the simulation's own: tests/simulation/fiber.c.
simulation.wraps := log_line clock_gettime time nanosleep usleep getentropy pthread_create pthread_join \
	$(foreach k,mutex rwlock cond,pthread_$(k)_init pthread_$(k)_destroy) pthread_mutex_lock pthread_mutex_unlock pthread_rwlock_rdlock \
	pthread_rwlock_wrlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast
$(BUILD)/tests/simulation/simulate: LDFLAGS += $(foreach f,$(simulation.wraps),-Wl,--wrap=$(f))
$(BUILD)/tests/simulation/simulate: $(call obj,$(wildcard tests/simulation/*.c)) $(BUILD)/tests/unit/storage/fault_vfs.o $(fuzz.libs)
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Many servers on a simulated PostgreSQL, in virtual time: the backend is the one that ships, above calls of libpq that are the simulation's.
scale.program := $(if $(postgresql.header),$(BUILD)/tests/scale/scale)
scale.objects := $(call obj,$(wildcard tests/scale/*.c))
$(scale.objects): CPPFLAGS += $(postgresql.flags)
$(BUILD)/tests/scale/scale: LDFLAGS += $(foreach f,$(simulation.wraps) libpq_load,-Wl,--wrap=$(f))
$(BUILD)/tests/scale/scale: $(scale.objects) $(BUILD)/tests/simulation/fiber.o $(fuzz.libs)
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -lm -o $@

$(BUILD)/tests/bench/load: $(BUILD)/tests/bench/load.o
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@
$(BUILD)/tests/bench/delay: $(BUILD)/tests/bench/delay.o
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@
$(BUILD)/tests/bench/handover: $(BUILD)/tests/bench/handover.o
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@
$(BUILD)/tests/bench/workers: $(BUILD)/tests/bench/workers.o
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -ldl -o $@
# Loaded before libc: code that may lie anywhere.
$(BUILD)/tests/bench/locks.so: tests/bench/locks.c
	@mkdir -p $(@D)
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) -std=c11 -O2 -g -pthread -fPIC -shared $< -ldl -o $@
$(BUILD)/tests/bench/escape: $(BUILD)/tests/bench/escape.o $(BUILD)/server/gzip.o $(patsubst %,$(BUILD)/protocol/wire/json_%.o,out image text) $(BUILD)/libcore.a
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -lz -lm -o $@
$(BUILD)/tests/bench/layout: $(BUILD)/tests/bench/layout.o $(sqlite.object)
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@
$(BUILD)/tests/bench/bare: $(BUILD)/tests/bench/bare.o
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -lmicrohttpd -o $@

# Whatever `make help` lists is no file.
.PHONY: deps-sqlite $(shell sed -n 's/^\([a-z0-9-]*\):.*## .*/\1/p' Makefile) deps deps-test fuzz-replay release debug
help: ## lists the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 14

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
pgo: deps deps-sqlite ## the release binary by profile-guided optimization, build/pgo/dynalith
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
deps-sqlite:
	@$(if $(sqlite.is_chosen),:,scripts/fetch-sqlite $(sqlite.folder) auto || true)
debug: deps ## the development binary, build/debug/dynalith
	@$(MAKE) FLAVOUR=debug all
# The first answer soon: little optimisation, and compiling begins while libraries are installed.
run: deps-compiler deps-sqlite ## installs what is missing, builds quickly, serves on port 8000; ARGS="..." for options
	@$(MAKE) FLAVOUR=quick build/quick/early & scripts/install-deps build; s=$$?; wait; exit $$s
	@$(MAKE) FLAVOUR=quick all
	@$(call tell,RUN,build/quick/dynalith: built quickly; make release builds the fast one)
	@exec build/quick/dynalith $(ARGS)

test: deps-test ## everything a change must pass: unit, fuzz corpus, golden, end to end
	@$(MAKE) test-all
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
bench-state: deps-test $(BUILD)/dynalith ## what resets, rollbacks, snapshots and clones cost, beside their limits; ITEMS=N COPIED=N, DYNAMODB_LOCAL=DIR to compare
	$(if $(DYNAMODB_LOCAL),DYNAMODB_LOCAL=$(DYNAMODB_LOCAL) )build/deps/venv/bin/python tests/bench/state $(BUILD)/dynalith
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
cluster-measure: build ## CPU, latency and scale of servers on PostgreSQL beside SQLite, some minutes; ARGS="..." as tests/cluster/measure --help
	@$(MAKE) FLAVOUR=release build/release/tests/bench/load build/release/tests/bench/delay
	@tests/cluster/measure $(ARGS)
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
library: deps deps-sqlite ## libdynalith, the server without HTTP in other programs: build/release/library/libdynalith.so and .a
	@$(MAKE) FLAVOUR=release BUILD=build/release/library HARDEN="$(filter-out -fPIE,$(HARDEN)) $(PIC)" build/release/library/libdynalith.so build/release/library/libdynalith.a
bench-library: deps-test build library ## what libdynalith saves: CPU per request by HTTP and in process; REQUESTS=N
	@build/deps/venv/bin/python tests/bench/library build/release/dynalith build/release/library/libdynalith.so $(or $(REQUESTS),20000)
golden: debug ## requests and answers as data
	@DYNALITH_BINARY=build/debug/dynalith tests/golden/run
e2e: deps-test debug ## real SDKs
	@tests/e2e/run
e2e-all: deps-test debug ## the same with Java (Maven) and Rust (cargo) too: downloads and compiles much
	@DYNALITH_E2E_ALL=1 scripts/run-tests tests/e2e/run
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
patterns-picture: deps-test debug ## the report that README's picture is drawn of, from tests/e2e/test_patterns.py; then make docs
	@INSIGHT_PICTURE=$(CURDIR)/docs/images/patterns.json DYNALITH_E2E=patterns tests/e2e/run; $(MAKE) -s docs
insight-test: deps-test debug ## the sums of the report against what 16 connections saw in REQUESTS=100000 requests
	@INSIGHT_REQUESTS=$(or $(REQUESTS),100000) DYNALITH_TESTS=sums_are_what_the_clients_saw DYNALITH_E2E=insight tests/e2e/run

linearizability: deps-test debug ## 16 clients on a server that is killed, and an order of operations that explains all answers: SECONDS=N SEED=N KILLS=N, ARGS="-memory"
	@LINEARIZABILITY_SECONDS=$(or $(SECONDS),20) LINEARIZABILITY_SEED=$(or $(SEED),1) LINEARIZABILITY_KILLS=$(or $(KILLS),5) LINEARIZABILITY_ARGS="$(ARGS)" \
		DYNALITH_E2E=linearizability tests/e2e/run
transfer-test: deps-test release ## ITEMS=1000000 items through an import, an export and back, item for item; says how many a second
	@DYNALITH_BINARY=$(CURDIR)/build/release/dynalith DYNALITH_TRANSFER_ITEMS=$(or $(ITEMS),1000000) DYNALITH_E2E=roundtrip tests/e2e/run
lint: ## layers, shelves, circles, library doors, prefixes, sizes, names in documents, generated documents; and that no symbol of a library is defined
	@tests/lint/run && scripts/lint && scripts/generate-docs --check
	@[ "$$(uname)" = Darwin ] || $(MAKE) -s FLAVOUR=debug symbols
.PHONY: symbols
symbols: $(server.objects)
	@scripts/check-symbols $(patsubst -l%,%,$(LDLIBS) -lsqlite3) -- $^
check: deps-test ## all tests under ASan+UBSan, then TSan
	@scripts/run-tests $(foreach f,asan tsan,"$(MAKE) FLAVOUR=$(f) test-native" "DYNALITH_BINARY=$(CURDIR)/build/$(f)/dynalith tests/e2e/run")
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
differential: build ## random requests to this server and DynamoDB Local: DYNAMODB_LOCAL=DIR; COUNT=N SEED=N, ARGS="..." as tests/differential/run --help
	@tests/differential/run --dynamodb-local $(DYNAMODB_LOCAL) --count $(or $(COUNT),20000) --seed $(or $(SEED),1) $(ARGS)
conformance: build ## the public suite: SUITE=CHECKOUT
	@tests/conformance/run $(SUITE)
format: ## clang-format over all C
	@clang-format -i $$(git ls-files '*.c' '*.h')
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
# compile_commands.json: what make would run for the debug flavour.
compile-commands: ## how each file of the debug flavour is compiled, for clangd and editors
	@$(MAKE) -s -Bn V=1 FLAVOUR=debug BUILD=build/debug core storage protocol server build/debug/server/main.o | \
		awk -v folder="$(CURDIR)" -f scripts/compile-commands > compile_commands.json
docs: build ## the generated parts of docs/reference/, config.example.json, docs/config.schema.json, docs/differences.md
	@scripts/generate-docs

docs-site: ## docs/ as static pages with a search, build/site; fails for a broken link and for a page that the navigation lacks
	@scripts/install-deps site
	@NO_MKDOCS_2_WARNING=1 build/deps/site/bin/mkdocs build
	@! grep -rlE '(src=|<link[^>]*href=)"https?:' build/site --include='*.html' || { echo "docs-site: these pages load something from elsewhere" >&2; exit 1; }
docs-serve: ## the same, served while pages change: http://127.0.0.1:8001, or PORT=N
	@scripts/install-deps site
	@NO_MKDOCS_2_WARNING=1 build/deps/site/bin/mkdocs serve -a 127.0.0.1:$(or $(PORT),8001)

PREFIX ?= /usr/local
INSTALLED ?= build/release/dynalith
VERSION := $(shell sed -n 's/.*DYNALITH_VERSION "\(.*\)".*/\1/p' server/version.h)
install: $(if $(filter build/pgo/%,$(INSTALLED)),pgo,build) ## binary, man page, systemd unit and documents, to $(DESTDIR)$(PREFIX)
	install -d $(foreach d,bin share/man/man1 share/doc/dynalith lib/systemd/system,$(DESTDIR)$(PREFIX)/$(d))
	install -m 755 $(INSTALLED) $(DESTDIR)$(PREFIX)/bin/dynalith
	gzip -9nc docs/dynalith.1 > $(DESTDIR)$(PREFIX)/share/man/man1/dynalith.1.gz
	sed 's|@PREFIX@|$(PREFIX)|' packaging/dynalith.service > $(DESTDIR)$(PREFIX)/lib/systemd/system/dynalith.service
	install -m 644 README.md CHANGELOG.md SECURITY.md LICENSE config.example.json docs/config.schema.json $(DESTDIR)$(PREFIX)/share/doc/dynalith/
LIBRARY_FOLDER ?= lib
install-library: library ## libdynalith, its header and pkg-config's file, to $(DESTDIR)$(PREFIX); LIBRARY_FOLDER=lib below it
	install -d $(foreach d,include $(LIBRARY_FOLDER)/pkgconfig,$(DESTDIR)$(PREFIX)/$(d))
	install -m 644 server/library/dynalith.h $(DESTDIR)$(PREFIX)/include/dynalith.h
	install -m 644 build/release/library/libdynalith.a $(DESTDIR)$(PREFIX)/$(LIBRARY_FOLDER)/libdynalith.a
	install -m 755 build/release/library/libdynalith.so $(DESTDIR)$(PREFIX)/$(LIBRARY_FOLDER)/libdynalith.so.$(library.version)
	ln -sf libdynalith.so.$(library.version) $(DESTDIR)$(PREFIX)/$(LIBRARY_FOLDER)/libdynalith.so
	sed 's|@PREFIX@|$(PREFIX)|;s|@FOLDER@|$(LIBRARY_FOLDER)|;s|@VERSION@|$(VERSION)|' packaging/dynalith.pc > $(DESTDIR)$(PREFIX)/$(LIBRARY_FOLDER)/pkgconfig/dynalith.pc
uninstall: ## removes what install put there
	rm -rf $(foreach f,bin/dynalith include/dynalith.h $(foreach l,libdynalith.a libdynalith.so libdynalith.so.$(library.version) pkgconfig/dynalith.pc,$(LIBRARY_FOLDER)/$(l)) share/man/man1/dynalith.1.gz share/doc/dynalith lib/systemd/system/dynalith.service,$(DESTDIR)$(PREFIX)/$(f))
deb: pgo ## Debian packages: build/dynalith_VERSION_ARCH.deb, libdynalith0 and libdynalith-dev
	@rm -rf build/deb build/deb-library
	@$(MAKE) -s install DESTDIR=build/deb PREFIX=/usr INSTALLED=build/pgo/dynalith
	@strip --strip-unneeded build/deb/usr/bin/dynalith
	@$(MAKE) -s install-library DESTDIR=build/deb-library PREFIX=/usr LIBRARY_FOLDER=lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || $(CC) -print-multiarch)
	@strip --strip-unneeded build/deb-library/usr/lib/*/libdynalith.so.$(library.version) && strip --strip-debug --enable-deterministic-archives build/deb-library/usr/lib/*/libdynalith.a
	@packaging/make-deb build/deb build/deb-library $(VERSION)
dist: ## the sources of HEAD, build/dynalith-VERSION.tar.gz
	@mkdir -p build
	@git archive --prefix=dynalith-$(VERSION)/ -o build/dynalith-$(VERSION).tar.gz HEAD
DIST := linux-x86_64 linux-aarch64 macos-arm64 macos-x86_64
dist-all: dist ## release binaries for Linux, static for glibc and musl, and for macOS, by zig's cc; TARGETS="linux-x86_64 ..."
	@packaging/fetch-sources
	@for t in $(or $(TARGETS),$(DIST)); do packaging/make-binary $$t || exit 1; done
macos-compile: ## the server for both processors of macOS, compiled and linked, and what macOS's loader reads of the binaries
	@$(MAKE) dist-all TARGETS="macos-arm64 macos-x86_64"
	@for t in macos-arm64 macos-x86_64; do tests/packages/macho.py $$t build/dist/$$t/dynalith || exit 1; done
packages: dist-all ## what registries take, build/packages/: for Python, npm, Go, Rust, Maven; with licences and bills of materials
	@packaging/make-packages $(or $(TARGETS),$(DIST))
	@packaging/make-recipes build/dynalith-$(VERSION).tar.gz
packages-test: ## the packages, used as people use them in clean environments; NAMES="python library npm go rust maven languages macos", BINARY=FILE LIBRARY=FILE: the server and libdynalith in them
	@scripts/install-deps packages
	@BINARY=$(BINARY) LIBRARY=$(LIBRARY) tests/packages/run $(NAMES)
lint-packages: ## the action, the component, the devcontainer feature, Nix, Homebrew, AUR and Debian, each by its own linter; the Debian package where make deb has made it
	@scripts/install-deps recipes
	@tests/recipes/run
pgo-test: pgo ## the golden data and the hardening of build/pgo/dynalith
	@DYNALITH_BINARY=$(CURDIR)/build/pgo/dynalith scripts/run-tests tests/golden/run tests/hardening/run
hardening: release ## how the release binary is hardened
	@tests/hardening/run
model-diff: deps-test debug ## what has changed at AWS: the newest botocore's API model against what this server knows, each new member tried on a running server
	@build/deps/venv/bin/python scripts/model-diff
bench-fair: deps-test release ## 1, 8 and 200 clients send the 20 dearest requests, and how long others wait is measured: SECONDS=N for each, MODES="memory disk" CLIENTS="1 8"
	@SECONDS=$(or $(SECONDS),5) MODES="$(or $(MODES),memory disk)" CLIENTS="$(or $(CLIENTS),1 8 200)" build/deps/venv/bin/python tests/bench/fair
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
image-test: ## both targets of docker/Dockerfile, built by buildah and used as people use them; as root
	@tests/image/run
package-test: deps ## the package and the tarball, built, installed and asked
	@tests/package/run
admin-test: deps ## the SDK in pages of Chromium, and dynamodb-admin clicked through, where Chromium and Node.js are
	@$(MAKE) FLAVOUR=debug all
	@tests/admin/run
console-test: deps ## the console in Chromium: each view, its layout, axe's rules, the tour, 1,000,000 items scrolled (ITEMS=N)
	@$(MAKE) FLAVOUR=debug all
	@tests/console/run
tour: deps ## the tour in Chromium, which makes the pictures of docs/tour.md and of the README
	@$(MAKE) FLAVOUR=debug all
	@PICTURES=1 tests/console/run tour
clean: ## removes build/, but for the downloaded packages
	rm -rf $(filter-out build/deps,$(wildcard build/*))

# Under `make fuzz` only. What is found stays in found/TARGET, so that the next run goes on from there.
$(BUILD)/tests/fuzz/fuzzer_%: $(BUILD)/tests/fuzz/fuzz_%.o $(fuzz.libs)
	@$(call tell,LINK,$@)
	$(Q)$(CC) -fsanitize=fuzzer $(LDFLAGS) $^ $(LDLIBS) -o $@
.PHONY: fuzz-run
fuzz-run: $(foreach t,$(fuzz.targets),$(BUILD)/tests/fuzz/fuzzer_$(t))
	@tests/fuzz/make-seeds $(BUILD)
	@for t in $(or $(TARGET),$(fuzz.targets)); do mkdir -p $(BUILD)/found/$$t; \
		$(BUILD)/tests/fuzz/fuzzer_$$t -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -rss_limit_mb=2048 -max_len=16384 \
			-dict=$(BUILD)/dictionaries/$$t -artifact_prefix=$(BUILD)/found/ \
			$(BUILD)/found/$$t tests/fuzz/corpus/$$t $(BUILD)/seeds/$$t || exit 1; done

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
