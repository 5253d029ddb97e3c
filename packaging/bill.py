#!/usr/bin/env python3
"""What a release binary is made of: licence texts and a software bill of materials (CycloneDX 1.5), the same bytes for the same sources.

    packaging/bill.py TARGET BINARY FOLDER      writes FOLDER/licences/* and FOLDER/dynalith.cdx.json; for libdynalith.so, FOLDER/libdynalith.cdx.json
"""
import hashlib
import json
import pathlib
import re
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ROOT / "build/deps/sources"
VERSION = re.search(r'DYNALITH_VERSION "(.*)"', (ROOT / "server/version.h").read_text()).group(1)
ZIG = next(SOURCES.glob("zig/lib/python*/site-packages/ziglang"), None)
SQLITE = "SQLite is in the public domain: its authors have given up all rights in it and dedicated it to everybody.\n"
# name, version, licence (SPDX), address of the package, file with the licence's text
PARTS = [
    ("libmicrohttpd", "0.9.75", "LGPL-2.1-or-later", "pkg:deb/debian/libmicrohttpd@0.9.75-6", SOURCES / "libmicrohttpd/COPYING"),
    ("cJSON", "1.7.15", "MIT", "pkg:deb/debian/cjson@1.7.15-1+deb12u4", SOURCES / "cjson/LICENSE"),
    ("libyaml", "0.2.5", "MIT", "pkg:deb/debian/libyaml@0.2.5-1", SOURCES / "libyaml/License"),
    ("OpenSSL", "3.5.5", "Apache-2.0", "pkg:cargo/openssl-src@300.5.5+3.5.5", SOURCES / "openssl/LICENSE.txt"),
    ("zlib", "1.3.2", "Zlib", "pkg:cargo/libz-sys@1.1.31", SOURCES / "zlib/LICENSE"),
    ("SQLite", "3.54.1", "blessing", "pkg:generic/sqlite@3.54.1", None),
]
# libdynalith has no HTTP.
SERVER_ALONE = {"libmicrohttpd"}
# From zig: its run-time library, and for the server on Linux the C library; others find it on the system.
RUNTIME = ("zig-compiler-rt", "MIT", "LICENSE")
MUSL = ("musl", "MIT", "lib/libc/musl/COPYRIGHT")


def parts(target, is_library):
    for name, version, licence, address, text in PARTS:
        if not (is_library and name in SERVER_ALONE):
            yield name, version, licence, address, text.read_text() if text else SQLITE
    version = re.search(r"ziglang==(\S+)", (ROOT / "packaging/sources/zig.txt").read_text()).group(1)
    for name, licence, text in [RUNTIME, MUSL] if target.startswith("linux") and not is_library else [RUNTIME]:
        yield name, f"as in zig {version}", licence, f"pkg:pypi/ziglang@{version}#{name}", (ZIG / text).read_text()


def write(target, binary, folder):
    me, is_library = binary.name.split(".")[0], binary.name.startswith("lib")
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    licences = folder / "licences"
    licences.mkdir(parents=True, exist_ok=True)
    components = []
    for name, version, licence, address, text in parts(target, is_library):
        (licences / f"{name}.txt").write_text(text)
        components.append({"type": "library", "bom-ref": address, "name": name, "version": version, "purl": address, "licenses": [{"license": {"id": licence}}]})
    if not is_library:
        (licences / "README.txt").write_text(
            "The licences of the libraries that are linked into dynalith. libmicrohttpd is under the LGPL: dynalith-VERSION.tar.gz has the sources and\n"
            "`make dist-all` links them with any other version of the library that packaging/fetch-sources names.\n")
    ref = f"pkg:generic/{me}@{VERSION}"
    bill = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{uuid.UUID(digest[:32])}", "version": 1,
        "metadata": {"component": {"type": "library" if is_library else "application", "bom-ref": ref, "name": me, "version": VERSION, "purl": ref,
                                   "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": digest}],
                                   "properties": [{"name": "dynalith:target", "value": target}]}},
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": [c["bom-ref"] for c in components]}],
    }
    (folder / f"{me}.cdx.json").write_text(json.dumps(bill, indent=2) + "\n")


if __name__ == "__main__":
    write(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
