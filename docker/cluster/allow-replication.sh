#!/usr/bin/env bash
# Run once by the image of PostgreSQL when it makes the primary: the standby may copy it and follow it.
set -eu
echo "host replication dynalith all scram-sha-256" >> "$PGDATA/pg_hba.conf"
