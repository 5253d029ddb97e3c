# Programs of the tests: unit tests, fuzz targets, simulations, benchmarks.

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
unit.shared := server/test_clocks server/test_feed storage/test_job storage/test_lease storage/test_limits storage/test_processes storage/test_references \
	storage/test_replica storage/test_state_model storage/test_store_rows storage/test_stream_lanes storage/test_stream_shared protocol/test_servers
$(foreach t,$(unit.shared),$(BUILD)/tests/unit/$(t)): $(BUILD)/tests/unit/storage/optimistic_store.o
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
