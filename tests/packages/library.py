#!/usr/bin/env python3
"""libdynalith of `make dist-all`, as a program of each C library loads it: the example of docs/library.md, built by the target's own compiler. arm64 runs by
qemu-user where libc6-arm64-cross is. And the wheels of `make packages` that have it: pip of each system takes its own.

    tests/packages/library.py
"""
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
from check import ROOT, VERSION, Tests, blocks, run

DIST = ROOT / "build/dist"
ARM = pathlib.Path("/usr/aarch64-linux-gnu")
# Target, command before the program, what must be here for it
TARGETS = [("linux-x86_64-gnu", [], "/lib64/ld-linux-x86-64.so.2"), ("linux-x86_64", [], "/lib/ld-musl-x86_64.so.1"),
           ("linux-aarch64-gnu", ["qemu-aarch64", "-L", ARM], ARM / "lib/ld-linux-aarch64.so.1"), ("linux-aarch64", ["qemu-aarch64"], "/lib/ld-musl-aarch64.so.1")]
GLIBC = (2, 17)
# What musl 1.1 lacks of later versions.
NEWER_MUSL = {"_Fork", "close_range", "gettid", "preadv2", "pwritev2", "qsort_r", "reallocarray", "statx", "tcgetwinsize"}


def names(library, *options):
    return subprocess.run(["nm", "-D", *options, str(library)], check=True, capture_output=True, text=True).stdout


def test_names(_, target):
    """It shows its own functions alone, and needs no library but the C library in the version that its wheel names."""
    library = DIST / target / "libdynalith.so"
    header = (ROOT / "server/library/dynalith.h").read_text()
    own = {line.split()[-1] for line in names(library, "--defined-only").splitlines()}
    assert own == set(re.findall(r"^DYNALITH_EXPORT [^;]*?(dynalith_\w+)\(", header, flags=re.M)), own
    wanted = {line.split()[-1] for line in names(library, "--undefined-only").splitlines()}
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"@GLIBC_([0-9.]+)", " ".join(wanted))}
    assert max(versions) <= GLIBC if target.endswith("-gnu") else not versions and not wanted & NEWER_MUSL, (versions, wanted & NEWER_MUSL)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.run(["readelf", "-d", str(library)], check=True, capture_output=True, text=True).stdout)
    assert all(re.fullmatch(r"(lib(c|m|pthread|dl|rt)|ld-linux-[a-z0-9-]+)\.so[.0-9]*", name) for name in needed), needed
    assert str(ROOT).encode() not in library.read_bytes()


def test_example(folder, target, before):
    (folder / "example.c").write_text(blocks(ROOT / "docs/library.md", "c")[0])
    (folder / "libdynalith.so.0").symlink_to(DIST / target / "libdynalith.so")
    run([DIST / target / "libraries/cc", "example.c", f"-I{ROOT}/server/library", "libdynalith.so.0", f"-Wl,-rpath,{folder}", "-o", "example"], folder)
    said = run([*before, folder / "example"], folder).splitlines()
    assert [line.split("{")[0] for line in said] == ["CreateTable: 200 ", "PutItem: 200 ", "GetItem: 200 "], said


def test_wheels(folder):
    """One for each C library: pip takes that of the system, and its bill says what is inside."""
    made = ROOT / "build/packages/python"
    for platform, target in (("manylinux2014_x86_64", "linux-x86_64-gnu"), ("manylinux_2_17_x86_64", "linux-x86_64-gnu"), ("musllinux_1_1_x86_64", "linux-x86_64"),
                             ("manylinux2014_aarch64", "linux-aarch64-gnu"), ("musllinux_1_1_aarch64", "linux-aarch64")):
        if not (DIST / target / "libdynalith.so").exists():
            continue
        place = folder / platform
        run([sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-index", "--no-deps", "--only-binary=:all:", "--python-version", "3.12",
             "--platform", platform, "--find-links", made, "-d", place, "dynalith"], folder)
        with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
            assert wheel.read("dynalith/libdynalith.so") == (DIST / target / "libdynalith.so").read_bytes(), platform
            info = f"dynalith-{VERSION}.dist-info"
            assert {f"{info}/sboms/{name}.cdx.json" for name in ("dynalith", "libdynalith")} <= set(wheel.namelist())
            assert b"libmicrohttpd" not in wheel.read(f"{info}/sboms/libdynalith.cdx.json") and f"{info}/licenses/OpenSSL.txt" in wheel.namelist()


def main():
    tests = Tests("library")
    for target, before, loader in TARGETS:
        if not (DIST / target / "libdynalith.so").exists():
            print(f"packages library: there is no libdynalith for {target}; make dist-all makes it", file=sys.stderr)
            continue
        tests.run(test_names, target)
        if pathlib.Path(loader).exists() and (not before or shutil.which(before[0])):
            tests.run(test_example, target, before)
        else:
            print(f"packages library: {target} does not run here: there is no {loader}, or no {' '.join(map(str, before[:1]))}", file=sys.stderr)
    if list((ROOT / "build/packages/python").glob("*.whl")):
        tests.run(test_wheels)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
