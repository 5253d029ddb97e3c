# The server and libdynalith: sources, objects, links.

# Files whose names end in _linux.c or _macos.c are for that system.
system := $(if $(findstring macos,$(or $(TARGET),$(if $(filter Darwin,$(shell uname)),macos))),macos,linux)
core.src     := $(wildcard core/*.c)
storage.src  := $(filter-out $(if $(postgresql.header),,storage/store/postgresql/%),$(wildcard $(foreach depth,* */* */*/*,storage/$(depth).c)))
protocol.src := $(wildcard $(foreach depth,* */*,protocol/$(depth).c))
# The last ones are made by the build: the console's files and the documents for agents, compressed.
embedded := console mcp
server.src   := $(filter-out server/wasi/% server/start/main.c %_$(if $(filter linux,$(system)),macos,linux).c,$(wildcard server/*.c server/*/*.c)) $(embedded:%=server/%/embedded.c)
obj = $(patsubst %.c,$(BUILD)/%.o,$(1))

.PHONY: all core storage protocol server unit programs always
all: $(BUILD)/dynalith

$(patsubst %.c,$(BUILD)/%.o,$(wildcard storage/store/sqlite/*.c)): $(BUILD)/sqlite
# Changes only with the header.
$(BUILD)/postgresql: always
	@mkdir -p $(@D)
	@echo "$(postgresql.flags)" | cmp -s - $@ || echo "$(postgresql.flags)" > $@
postgresql.users := $(BUILD)/server/start/backend.o $(patsubst %.c,$(BUILD)/%.o,$(wildcard storage/store/postgresql/*.c tests/unit/*/test_postgresql*.c tests/unit/storage/test_store*.c))
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
console.files := $(filter-out %.d.ts,$(sort $(wildcard console/*.* console/*/*.*))) # types are for the checker
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
# All wait for SQLite's marks, as SQLite does: else it would be compiled last, and it takes longest.
$(BUILD)/embed $(embedded:%=$(BUILD)/%.list) $(foreach f,link postgresql zstd,$(BUILD)/$(f)): | $(BUILD)/flags $(BUILD)/sqlite
$(BUILD)/%.o: %.c $(BUILD)/flags $(profile.stamp) | $(BUILD)/sqlite
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
server.objects := $(BUILD)/server/start/main.o $(foreach r,server protocol storage core,$(call obj,$($(r).src)))
ifeq ($(FLAVOUR),quick)
units.src := server/start/main.c $(filter-out $(embedded:%=server/%/embedded.c),$(server.src))
units := $(if $(filter %/early-sqlite,$(MAKECMDGOALS)),,$(shell scripts/units $(BUILD)/units $(units.src) $(foreach r,protocol storage core,$($(r).src))))
units.objects := $(units:%=$(BUILD)/units/%.o)
$(foreach u,$(units),$(eval units.known += $(u))$(eval units.at.$(u) := $(words $(units.known))))
units.last := $(filter $(BUILD)/units/libraries-%,$(units.objects))
$(units.last): CPPFLAGS += $(postgresql.flags) $(zstd.flags)
$(units.last): $(foreach f,sqlite postgresql zstd,$(BUILD)/$(f))
$(units.objects): $(BUILD)/units/%.o: $(BUILD)/units/%.c $(BUILD)/flags | $(BUILD)/sqlite
	@$(call tell_over,CC,$*$(comma) $(units.at.$*) of $(words $(units)))
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
server.objects := $(units.objects) $(embedded:%=$(BUILD)/server/%/embedded.o)
# What a compiler alone can compile, for run: the files that use no library, and SQLite.
.PHONY: $(BUILD)/early $(BUILD)/early-sqlite
$(BUILD)/early: $(filter-out $(units.last),$(units.objects))
$(BUILD)/early-sqlite: $(sqlite.object)
	@:
endif
# SQLite first: it takes longest to compile.
$(BUILD)/dynalith: $(sqlite.object) $(server.objects) $(BUILD)/libraries
	@$(call tell,LINK,$@$(if $(findstring lto,$(LDFLAGS)),: optimises all files together$(comma) which takes a while))
	$(Q)$(CC) $(LDFLAGS) $(filter-out %/libraries,$^) @$(BUILD)/libraries -o $@
	@$(if $(filter release quick,$(FLAVOUR)),$(call tell,HAS,$$(SQLITE="$(SQLITE)" scripts/find-libraries said $@ $(BUILD)/libraries)))

# The server with one backend more: tests/tiny/tiny_store.h.
$(BUILD)/tests/tiny/dynalith: $(filter-out $(BUILD)/server/start/backend.o,$(server.objects)) $(call obj,tests/tiny/backend.c tests/tiny/tiny_store.c) $(sqlite.object) $(BUILD)/libraries
	@$(call tell,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $(filter-out %/libraries,$^) @$(BUILD)/libraries -o $@

# libdynalith: the server without HTTP, for other programs (server/library/dynalith.h). One object that shows nothing but dynalith_...
library.without := start/main start/parent start/front $(patsubst server/%.c,%,$(wildcard server/races/*.c)) $(addprefix forecast/,forecast recorded rules show_page) platform/poller_$(system) $(patsubst server/%.c,%,$(filter-out %/headers.c %/tls_context.c,$(wildcard server/http/*.c)))
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
