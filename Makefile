# Dynalith. `make help` lists the targets.
MAKEFLAGS += --no-builtin-rules
FLAVOUR ?= debug
BUILD   ?= build/$(FLAVOUR)
CC      ?= cc
ifeq ($(origin CC),default)
CC := cc
endif

WARN     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wpointer-arith -Wwrite-strings
CPPFLAGS := -I. -D_GNU_SOURCE -include core/banned.h
CFLAGS.debug   := -O1 -g -Werror
CFLAGS.release := -O2 -g -DNDEBUG -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
CFLAGS.asan    := -O1 -g -Werror -Wno-maybe-uninitialized -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS.tsan    := -O1 -g -Werror -Wno-maybe-uninitialized -fsanitize=thread
LDFLAGS.release := -pie -Wl,-z,relro,-z,now
LDFLAGS.asan   := -fsanitize=address,undefined
LDFLAGS.tsan   := -fsanitize=thread
CFLAGS  := -std=c11 -pthread $(WARN) $(CFLAGS.$(FLAVOUR))
LDFLAGS := -pthread $(LDFLAGS.$(FLAVOUR))
LDLIBS  := -lmicrohttpd -lcjson -lsqlite3 -lcrypto -lz -lm

core.src     := $(wildcard core/*.c)
storage.src  := $(wildcard storage/*.c storage/*/*.c)
protocol.src := $(wildcard protocol/*.c protocol/*/*.c)
server.src   := $(filter-out server/main.c,$(wildcard server/*.c))
obj = $(patsubst %.c,$(BUILD)/%.o,$(1))

.PHONY: all core storage protocol server unit
all: $(BUILD)/dynalith

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

define room
$(BUILD)/lib$(1).a: $(call obj,$($(1).src))
	@rm -f $$@
	ar rcs $$@ $$^
$(1): $(BUILD)/lib$(1).a
endef
$(foreach r,core storage protocol server,$(eval $(call room,$(r))))

$(BUILD)/dynalith: $(BUILD)/server/main.o $(BUILD)/libserver.a $(BUILD)/libprotocol.a $(BUILD)/libstorage.a $(BUILD)/libcore.a
	$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Unit tests: tests/unit/ROOM/test_X.c, linked with its room and the rooms below.
libs.core     := core
libs.storage  := storage core
libs.protocol := protocol storage core
libs.server   := server protocol storage core
define unit_room
unit.$(1) := $$(patsubst %.c,$(BUILD)/%,$$(wildcard tests/unit/$(1)/test_*.c))
$$(unit.$(1)): $(BUILD)/tests/unit/$(1)/%: $(BUILD)/tests/unit/$(1)/%.o $(foreach l,$(libs.$(1)),$(BUILD)/lib$(l).a)
	$$(CC) $$(LDFLAGS) $$^ $$(LDLIBS) -o $$@
.PHONY: unit-$(1)
unit-$(1): $$(unit.$(1))
	@set -e; for t in $$^; do $$$$t; done
endef
$(foreach r,core storage protocol server,$(eval $(call unit_room,$(r))))
unit: unit-core unit-storage unit-protocol unit-server

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
