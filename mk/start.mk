# How make runs and what it prints: builds use all cores, or what -j says; V=1 prints whole commands, -s prints none.

is_silent := $(findstring s,$(filter-out ---%,$(firstword -$(MAKEFLAGS))))
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(or $(filter-out all core storage protocol server programs run-parts build/%,$(MAKECMDGOALS)),$(if $(MAKECMDGOALS),,build)),)
# Goals that only build. The others may install what is missing first, and run what prints while it runs: they start these.
# Not where -j was given, here or to the make that started this one: its flags are in the environment while this file is read.
ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),)
cores := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
# One of run's parts waits for the network.
MAKEFLAGS += -j$(if $(filter run-parts,$(MAKECMDGOALS)),$(shell expr $(cores) + 1),$(cores))
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
