#!/bin/sh
# Runs as root while the container's image is built; options are in the environment. The archive's binary is static: it runs on every distribution.
set -eu

fail() {
	echo "dynalith: $*" >&2
	exit 1
}

root=${DYNALITH_FEATURE_ROOT:-}
[ -n "${ARCHIVE:-}" ] || fail "the option archive must name a release's archive"
[ -n "${SHA256:-}" ] || fail "the option sha256 must have the archive's checksum"
case ${PORT:-8000} in
*[!0-9]* | '') fail "the option port must be a number" ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! command -v curl > /dev/null 2>&1 && ! command -v wget > /dev/null 2>&1; then
	if command -v apt-get > /dev/null 2>&1; then apt-get update -q && apt-get install -y -q --no-install-recommends curl ca-certificates; else fail "this needs curl or wget"; fi
fi
if command -v curl > /dev/null 2>&1; then curl -fsSL -o "$folder/archive.tar.gz" "$ARCHIVE"; else wget -q -O "$folder/archive.tar.gz" "$ARCHIVE"; fi
echo "$SHA256  $folder/archive.tar.gz" | sha256sum -c - > /dev/null || fail "$ARCHIVE has another checksum than $SHA256"
tar -xzf "$folder/archive.tar.gz" -C "$folder"
mkdir -p "$root/usr/local/bin" "$root/usr/local/share/dynalith"
cp "$folder"/*/dynalith "$root/usr/local/bin/dynalith"
chmod 755 "$root/usr/local/bin/dynalith"
cat > "$root/usr/local/share/dynalith/entrypoint" << EOF
#!/bin/sh
# Starts the server unless one answers already, then the container's own command.
/usr/local/bin/dynalith health --port ${PORT:-8000} > /dev/null 2>&1 ||
	nohup /usr/local/bin/dynalith --in-memory --insight on --port ${PORT:-8000} > /tmp/dynalith.log 2>&1 < /dev/null &
exec "\$@"
EOF
chmod 755 "$root/usr/local/share/dynalith/entrypoint"
"$root/usr/local/bin/dynalith" --version
