#!/usr/bin/env bash
# Copies the primary where there is nothing yet, then follows it. `pg_ctl promote` (docs/cluster.md) makes it the one that takes writes.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	mkdir -p "$PGDATA"
	chown -R postgres "$(dirname "$PGDATA")"
	chmod 0700 "$PGDATA"
	# -R writes the address of the primary, so that it is followed from now on; a slot keeps the log that the standby has not yet got
	gosu postgres pg_basebackup -h "$PRIMARY" -U dynalith -D "$PGDATA" -X stream -R -C -S standby
fi
exec docker-entrypoint.sh "$@"
