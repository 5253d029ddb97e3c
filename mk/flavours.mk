# How it is compiled: flavours, flags, and which libraries are linked.

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
# What a function that failed left alone is no value that works by chance: core/err.h.
POISON := $(shell $(CC) -ftrivial-auto-var-init=pattern -fsyntax-only -x c /dev/null 2>/dev/null && echo -ftrivial-auto-var-init=pattern)
CFLAGS.debug   := -O1 -g -Werror $(POISON) $(PIC)
# Optimise across files with GCC, and with zig for Linux. Other clangs, and zig for macOS, would need another linker.
LTO := $(if $(findstring linux,$(TARGET)),-flto,$(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | grep -q __clang__ || echo -flto=auto -fno-fat-lto-objects))
# Checked on the binary by tests/hardening. No marks of branch targets: they cost instructions, and without marks in libc's start files nothing checks them.
HARDEN := -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2 -fPIE
# 24,000 relocations in 8 KB in place of 570 KB that each start reads, where the C library knows the form.
RELR := $(shell printf '\043include <features.h>\n\043if !__GLIBC_PREREQ(2, 36)\n\043error\n\043endif\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo -Wl$(comma)-z$(comma)pack-relative-relocs)
CFLAGS.release := -O3 $(LTO) -g -DNDEBUG $(HARDEN)
# For make run, which wants a first answer soon: half of the time of -Og; a call by boto3 takes a
# twentieth longer. Warnings are for the other flavours, which compile each file alone, and
# hardening, a tenth of the time, for releases.
CFLAGS.quick   := -O0 -w -DNDEBUG -fPIE
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
CFLAGS  := -std=c11 -pthread -fno-math-errno $(if $(filter quick,$(FLAVOUR)),,$(WARN)) $(CFLAGS.$(FLAVOUR)) $(if $(TARGET),-Werror)
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
