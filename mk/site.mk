# Documents: the site, pictures; what editors read.

patterns-picture: deps-test debug ## the report that README's picture is drawn of, from tests/e2e/test_patterns.py; then make docs
	@INSIGHT_PICTURE=$(CURDIR)/docs/images/patterns.json DYNALITH_E2E=patterns tests/e2e/run; $(MAKE) -s docs
# compile_commands.json: what make would run for the debug flavour.
compile-commands: ## how each file of the debug flavour is compiled, for clangd and editors
	@$(MAKE) -s -Bn V=1 FLAVOUR=debug BUILD=build/debug core storage protocol server build/debug/server/start/main.o | \
		awk -v folder="$(CURDIR)" -f scripts/compile-commands > compile_commands.json
docs-site: ## docs/ as static pages with a search, build/site; fails for a broken link and for a page that the navigation lacks
	@scripts/install-deps site
	@NO_MKDOCS_2_WARNING=1 build/deps/site/bin/python -m mkdocs build
	@! grep -rlE '(src=|<link[^>]*href=)"https?:' build/site --include='*.html' || { echo "docs-site: these pages load something from elsewhere" >&2; exit 1; }
site-test: docs-site ## the site in headless Chromium, at the widths of a phone, a tablet and a laptop: nothing is cut, the search finds guides; PICTURES=FOLDER
	@PICTURES=$(PICTURES) tests/site/run
docs-serve: ## the same, served while pages change: http://127.0.0.1:8001, or PORT=N
	@scripts/install-deps site
	@NO_MKDOCS_2_WARNING=1 build/deps/site/bin/python -m mkdocs serve -a 127.0.0.1:$(or $(PORT),8001)
pictures: tour ## those, and each page of the console at four widths in both schemes, in build/console/looks, for people to look at
	@tests/console/run looks
tour: deps ## the tour in Chromium, which makes the pictures of docs/tour.md and of the README
	@$(MAKE) FLAVOUR=debug all
	@PICTURES=1 tests/console/run tour
