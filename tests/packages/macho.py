#!/usr/bin/env python3
"""What the loader of macOS reads of a binary, and asks of it: tests/packages/macho.py TARGET FILE. Such a binary does not run here.

It must be for the target's processor and for macOS 11 or newer, need no library but the system's own and nothing of that which macOS 11 lacks
(macos-symbols.txt), take any address, and have no paths of the machine that built it. A library, NAME.dylib, must have the functions of dynalith.h. For arm64, where the kernel kills what is not signed, it must carry an
ad-hoc signature with the right hash of each page; on x86-64 the kernel asks for none.
"""
import hashlib
import pathlib
import re
import struct
import sys

CPUS = {"macos-arm64": 0x0100000C, "macos-x86_64": 0x01000007}
MAGIC, EXECUTE, LIBRARY, PIE = 0xFEEDFACF, 2, 6, 0x200000
SEGMENT, DYLIB, WEAK_DYLIB, UUID, RPATH, SIGNATURE, BUILD_VERSION, MAIN, DYLD_INFO = 0x19, 0xC, 0x80000018, 0x1B, 0x8000001C, 0x1D, 0x32, 0x80000028, 0x80000022
PLATFORM_MACOS = 1
SYMBOLS = pathlib.Path(__file__).with_name("macos-symbols.txt")
HEADER = pathlib.Path(__file__).resolve().parents[2] / "server/library/dynalith.h"
FUNCTIONS = {f"_{name}" for name in re.findall(r"^DYNALITH_EXPORT [^;]*?(dynalith_\w+)\(", HEADER.read_text(), flags=re.M)}
DIRECTORY, DIRECTORY_SLOT, SIGNED, ADHOC, SHA256 = 0xFADE0C02, 0, 0xFADE0CC0, 2, 2


def text(data):
    return data.split(b"\0")[0].decode()


def imports(code):
    """The names in the instructions by which the loader binds symbols. Source: mach-o/loader.h, BIND_OPCODE_..."""
    numbers = {0x20: 1, 0x60: 1, 0x70: 1, 0x80: 1, 0xA0: 1, 0xC0: 2}  # of ULEB128 behind an instruction
    at = 0
    while at < len(code):
        kind, at = code[at] & 0xF0, at + 1
        if kind == 0x40:
            name = text(code[at:])
            yield name
            at += len(name) + 1
        for _ in range(numbers.get(kind, 0)):
            while code[at] & 0x80:
                at += 1
            at += 1


def uleb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def exports(trie, at=0, name=""):
    """The names that end in this node of the trie of exports, or below it. Source: ld64, MachOTrie.hpp."""
    size, at = uleb(trie, at)
    if size:
        yield name
    at += size
    for _ in range(trie[at]):
        edge = text(trie[at + 1:])
        child, end = uleb(trie, at + 2 + len(edge))
        yield from exports(trie, child, name + edge)
        at = end - 1


class Binary:
    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        self.magic, self.cpu, _, self.kind, count, _, self.flags, _ = struct.unpack_from("<8I", self.data)
        self.libraries, self.segments, self.commands, self.signature, self.oldest, self.platform, self.imports, self.exports = [], {}, set(), None, None, None, set(), set()
        at = 32
        for _ in range(count if self.magic == MAGIC else 0):
            command, size = struct.unpack_from("<2I", self.data, at)
            self.read(command, self.data[at:at + size])
            at += size

    def read(self, command, body):
        self.commands.add(command)
        if command in (DYLIB, WEAK_DYLIB):
            self.libraries.append(text(body[struct.unpack_from("<I", body, 8)[0]:]))
        elif command == SEGMENT:
            self.segments[text(body[8:24])] = struct.unpack_from("<4Q2I", body, 24)
        elif command == BUILD_VERSION:
            self.platform, oldest = struct.unpack_from("<2I", body, 8)
            self.oldest = (oldest >> 16, oldest >> 8 & 0xFF)
        elif command == SIGNATURE:
            self.signature = struct.unpack_from("<2I", body, 8)
        elif command == DYLD_INFO:
            for start, size in zip(*[iter(struct.unpack_from("<6I", body, 16))] * 2):  # bound at the start, weakly, at the first call
                self.imports.update(imports(self.data[start:start + size]))
            start, size = struct.unpack_from("<2I", body, 40)
            self.exports.update(exports(self.data[start:start + size]) if size else ())

    def directory(self):
        """The code directory of the signature, from its start."""
        start, _ = self.signature
        magic, _, count = struct.unpack_from(">3I", self.data, start)
        for i in range(count if magic == SIGNED else 0):
            slot, offset = struct.unpack_from(">2I", self.data, start + 12 + 8 * i)
            if slot == DIRECTORY_SLOT:
                return self.data[start + offset:]
        return None


def check_signature(binary):
    """What is wrong with it; None for nothing. Source: cs_blobs.h of XNU."""
    if not binary.signature:
        return "no signature"
    start, size = binary.signature
    if start + size != len(binary.data):
        return "the signature is not at the end"
    directory = binary.directory()
    if not directory:
        return "no code directory"
    magic, _, _, flags, hashes, _, _, slots, limit = struct.unpack_from(">9I", directory)
    hash_size, kind, _, page_bits = struct.unpack_from(">4B", directory, 36)
    if magic != DIRECTORY or not flags & ADHOC or kind != SHA256 or limit != start:
        return f"code directory: magic {magic:#x}, flags {flags:#x}, hash {kind}, covers {limit} of {start} bytes"
    page = 1 << page_bits
    if slots != -(-limit // page):
        return f"{slots} pages of {-(-limit // page)} are signed"
    for i in range(slots):
        if hashlib.sha256(binary.data[i * page:min((i + 1) * page, limit)]).digest() != directory[hashes + i * hash_size:hashes + (i + 1) * hash_size]:
            return f"page {i} is not as it was signed"
    return None


def problems(target, path):
    binary = Binary(path)
    if binary.magic != MAGIC:
        return ["no Mach-O file of 64 bits"]
    is_library = str(path).endswith(".dylib")
    own = str(pathlib.Path(__file__).resolve().parents[2]).encode()
    checks = [
        (binary.cpu == CPUS[target], f"for processor {binary.cpu:#x}"),
        (binary.kind == LIBRARY, "no library") if is_library else (binary.kind == EXECUTE and MAIN in binary.commands, "no program"),
        (is_library or bool(binary.flags & PIE), "at a fixed address"),
        (not is_library or FUNCTIONS <= binary.exports, f"lacks {FUNCTIONS - binary.exports}"),
        (binary.platform == PLATFORM_MACOS and binary.oldest == (11, 0), f"for platform {binary.platform}, version {binary.oldest}, not macOS 11.0"),
        (binary.libraries == ["/usr/lib/libSystem.B.dylib"], f"needs {binary.libraries}"),
        (RPATH not in binary.commands, "looks for libraries in folders"),
        (UUID in binary.commands, "no UUID, which newer systems ask for"),
        (is_library or binary.segments.get("__PAGEZERO", (1, 0))[:2] == (0, 1 << 32), "the first 4 GB may be mapped"),
        (own not in binary.data, f"names {own.decode()}"),
    ]
    unknown = binary.imports - set(SYMBOLS.read_text().split())
    checks.append((bool(binary.imports) and not unknown, f"names that {SYMBOLS.name} does not know macOS 11 to have: {sorted(unknown)}"))
    is_signed = binary.signature or target == "macos-arm64"
    return [what for is_fine, what in checks if not is_fine] + [what for what in [is_signed and check_signature(binary)] if what]


def main():
    target, path = sys.argv[1:]
    found = problems(target, path)
    for what in found:
        print(f"{path}: {what}")
    print(f"macho: {path}: {len(found)} problems")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
