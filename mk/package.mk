# Installing, packages, and what registries take.

library: deps deps-sqlite ## libdynalith, the server without HTTP in other programs: build/release/library/libdynalith.so and .a
	@$(MAKE) FLAVOUR=release BUILD=build/release/library HARDEN="$(filter-out -fPIE,$(HARDEN)) $(PIC)" build/release/library/libdynalith.so build/release/library/libdynalith.a
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
packages-here: build library ## the packages for this machine alone, in minutes, build/packages/here: to try them before they are published
	@packaging/make-here build/packages/here build/release/dynalith build/release/library/libdynalith.so
packages-test: ## the packages, used as people use them in clean environments; NAMES="python library npm go rust maven languages macos pages", BINARY=FILE LIBRARY=FILE: the server and libdynalith in them
	@scripts/install-deps packages
	@BINARY=$(BINARY) LIBRARY=$(LIBRARY) tests/packages/run $(NAMES)
release-check: ## what of a release needs no account: VERSION=X.Y.Z; BINARY=FILE: packages of it; ARGS="--quick", --cut sets the version and dates its section of CHANGELOG.md
	@scripts/release-check $(if $(filter command line,$(origin VERSION)),$(VERSION)) $(if $(BINARY),--binary $(BINARY)) $(ARGS)
lint-packages: ## the action, the component, the devcontainer feature, Nix, Homebrew, AUR and Debian, each by its own linter; the Debian package where make deb has made it
	@scripts/install-deps recipes
	@tests/recipes/run
image-test: ## both targets of docker/Dockerfile, built by buildah and used as people use them; as root
	@tests/image/run
package-test: deps ## the package and the tarball, built, installed and asked
	@tests/package/run
