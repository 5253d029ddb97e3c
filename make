#!/bin/sh
# make, for machines that may not have it yet: `./make run`, `./make test`, any target of the Makefile. Installs make where it is missing.
set -eu
cd "$(dirname "$0")"
command -v make >/dev/null 2>&1 || scripts/install-deps compiler
exec make "$@"
