#!/usr/bin/env python3
"""The packages with the servers for macOS that `make dist-all` has made, as a Mac would take them. Nothing of them runs here.

    tests/packages/macos.py
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

sys.dont_write_bytecode = True
import go
import macho
from check import ROOT, VERSION, Tests, blocks, run

# Names of a machine: ours, of wheels, of npm, of Go, of Rust.
MACHINES = [("macos-arm64", "arm64", ("darwin", "arm64"), ("darwin", "arm64"), ("macos", "aarch64")),
            ("macos-x86_64", "x86_64", ("darwin", "x64"), ("darwin", "amd64"), ("macos", "x86_64"))]
CRATE_MAX = 10 * 1024 * 1024  # bytes that crates.io takes


def binary(target):
    return ROOT / "build/dist" / target / "dynalith"


def library(target):
    return ROOT / "build/dist" / target / "libdynalith.dylib"


def make(*command):
    return pathlib.Path(subprocess.run(list(map(str, command)), cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()[-1]).resolve()


def test_loader(_):
    for target, *_ in MACHINES:
        assert macho.problems(target, binary(target)) == []
        assert macho.problems(target, library(target)) == []


def test_loader_refuses(folder):
    """The check itself: a byte that was not signed, another processor, a name that macOS 11 lacks."""
    good = binary("macos-arm64")
    data = bytearray(good.read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "changed").write_bytes(data)
    assert re.search("page [0-9]+ is not as it was signed", macho.problems("macos-arm64", folder / "changed")[-1])
    assert "for processor" in macho.problems("macos-x86_64", good)[0]
    (folder / "program.dylib").write_bytes(good.read_bytes())
    assert "no library" in macho.problems("macos-arm64", folder / "program.dylib")
    (folder / "cut").write_bytes(good.read_bytes()[:-1])
    assert "the signature is not at the end" in macho.problems("macos-arm64", folder / "cut")
    (folder / "newer").write_bytes(binary("macos-x86_64").read_bytes().replace(b"_poll\0", b"_qoll\0"))
    assert "_qoll" in macho.problems("macos-x86_64", folder / "newer")[-1]


def test_wheel(folder):
    """pip of a Mac of 2020 or later takes the wheel of its processor, and none where the system is older."""
    for target, cpu, *_ in MACHINES:
        make("packaging/make-wheel", f"macosx_11_0_{cpu}", binary(target), library(target), folder / "wheels")
    for target, cpu, *_ in MACHINES:
        for system, status in (("11_0", 0), ("14_0", 0), ("10_15", 1)):
            run([sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-index", "--no-deps", "--only-binary=:all:", "--python-version", "3.12",
                 "--platform", f"macosx_{system}_{cpu}", "--find-links", folder / "wheels", "-d", folder / f"{cpu}_{system}", "dynalith"], folder, status=status)
        with zipfile.ZipFile(next((folder / f"{cpu}_14_0").glob("*.whl"))) as wheel:
            name = f"dynalith-{VERSION}.data/scripts/dynalith"
            assert wheel.read(name) == binary(target).read_bytes() and wheel.getinfo(name).external_attr >> 16 & 0o111
            assert wheel.read("dynalith/libdynalith.dylib") == library(target).read_bytes()


def test_npm(folder):
    """npm of a Mac installs the package of its processor, and that of no other."""
    if not shutil.which("npm"):
        return
    archives = [make("packaging/make-npm", folder / "packed", "-".join(npm), binary(target)) for target, _, npm, *_ in MACHINES]
    for target, _, (system, cpu), *_ in MACHINES:
        place = folder / cpu
        place.mkdir()
        (place / "package.json").write_text('{"optionalDependencies": {%s}}' % ", ".join(
            f'"@dynalith/{"-".join(npm)}": "file:{archive}"' for archive, (_, _, npm, *_) in zip(archives, MACHINES)))
        run(["npm", "install", "--offline", "--no-audit", "--no-fund", f"--os={system}", f"--cpu={cpu}"], place)
        found = sorted(path.parent.parent.name for path in place.glob("node_modules/@dynalith/*/bin/dynalith"))
        assert found == [f"{system}-{cpu}"], found
        assert (place / f"node_modules/@dynalith/{system}-{cpu}/bin/dynalith").read_bytes() == binary(target).read_bytes()
    with tarfile.open(make("packaging/make-npm", folder / "packed")) as package:
        about = package.extractfile("package/package.json").read().decode()
    assert all(f'"@dynalith/{"-".join(npm)}": "{VERSION}"' in about for _, _, npm, *_ in MACHINES)


def test_go(folder):
    """A test binary for a Mac, made by Go's own cross-compiler, has the server for that Mac in it."""
    if not os.path.exists(go.GO):
        return
    go.MODULES = make("packaging/make-go", folder / "go", *(f"{'_'.join(names)}={binary(target)}" for target, _, _, names, _ in MACHINES))
    for target, _, _, (system, cpu), _ in MACHINES:
        test = go.project(folder / cpu, blocks(go.README, "go")[0], GOOS=system, GOARCH=cpu).read_bytes()
        assert test[:4] == b"\xcf\xfa\xed\xfe" and binary(target).read_bytes() in test


def test_crate(folder):
    """A Mac takes the crate of its processor, which is not too large for crates.io."""
    crate = make("packaging/make-crate", folder / "rust", *(f"{'-'.join(rust)}={binary(target)}" for target, *_, rust in MACHINES))
    user = folder / "user"  # of the crate itself Cargo would want what its features need
    (user / "src").mkdir(parents=True)
    (user / "src/lib.rs").write_text("")
    (user / "Cargo.toml").write_text(f'[package]\nname = "user"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\ndynalith = {{ path = "{crate}" }}\n')
    for target, *_, rust in MACHINES:
        name = f"dynalith-{'-'.join(rust)}"
        assert (crate / "servers" / name / name).read_bytes() == binary(target).read_bytes()
        if not shutil.which("cargo"):
            continue
        text = run(["cargo", "tree", "--offline", "--target", f"{rust[1]}-apple-darwin"], user)
        assert re.findall("dynalith-([a-z0-9_-]+) v", text) == ["-".join(rust)], text
        run(["cargo", "package", "--no-verify", "--offline", "--allow-dirty"], crate / "servers" / name)
        archive = next((crate / "servers" / name / "target/package").glob("*.crate"))
        with tarfile.open(archive) as package:
            assert package.extractfile(f"{name}-{VERSION}/{name}").read() == binary(target).read_bytes()
        assert archive.stat().st_size < CRATE_MAX, archive.stat().st_size


def main():
    missing = [target for target, *_ in MACHINES if not binary(target).exists() or not library(target).exists()]
    if missing:
        print(f"packages macos: there is no server or no libdynalith for {', '.join(missing)}; make macos-compile makes them", file=sys.stderr)
        return 0
    tests = Tests("macos")
    for test in (test_loader, test_loader_refuses, test_wheel, test_npm, test_go, test_crate):
        tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
