"use strict";
// Files of the host for dynalith.wasm, to read alone: what templates and items are made from. As WASI preview 1, with the root as the one folder that is open.
const fs = require("node:fs");

const ROOT = 3; // the first descriptor behind those of the process
const ERRNO = { EACCES: 2, EBADF: 8, EIO: 29, EISDIR: 31, EMFILE: 33, ENOENT: 44, ENOTDIR: 54, ENOSYS: 52 };
const TYPE = { folder: 3, file: 4, other: 0 };
const O_CREAT = 1, O_TRUNC = 8; // of path_open
const STAT_SIZE = 64, ENTRY_SIZE = 24; // bytes
const ALL_RIGHTS = 0xffffffffffffffffn;

const typeOf = (of) => of.isDirectory() ? TYPE.folder : of.isFile() ? TYPE.file : TYPE.other;
const hostPath = (path) => path.replace(/^\/([A-Za-z]:)/, "$1"); // on Windows the root has the drives in it

/* `view` and `bytes` give the memory of the module: view() a DataView of it, bytes(at, n) a part. */
function files(view, bytes) {
  const open = new Map([[ROOT, { path: "/", isFolder: true }]]); // fd: the host's descriptor, or the names of a folder
  let next = ROOT + 1;
  const text = (at, n) => new TextDecoder().decode(bytes(at, n));
  const resolved = (fd, at, n) => hostPath(`${open.get(fd).path.replace(/\/$/, "")}/${text(at, n)}`);

  function writeStat(at, stat) {
    bytes(at, STAT_SIZE).fill(0);
    view().setBigUint64(at + 8, BigInt(stat.ino), true);
    view().setUint8(at + 16, typeOf(stat));
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(stat.size), true);
    for (const [offset, ms] of [[40, stat.atimeMs], [48, stat.mtimeMs], [56, stat.ctimeMs]]) view().setBigUint64(at + offset, BigInt(Math.floor(ms)) * 1000000n, true);
  }

  function readInto(file, vectors, n, offset) {
    if (file.isFolder) throw Object.assign(new Error("a folder has no bytes"), { code: "EISDIR" });
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const at = view().getUint32(vectors + 8 * i, true), size = view().getUint32(vectors + 8 * i + 4, true);
      const got = fs.readSync(file.fd, bytes(at, size), 0, size, offset + sum);
      sum += got;
      if (got < size) break;
    }
    return sum;
  }

  const calls = {
    fd_prestat_get(fd, out) {
      if (fd !== ROOT) return ERRNO.EBADF;
      view().setUint32(out, 0, true);
      view().setUint32(out + 4, 1, true);
    },
    fd_prestat_dir_name(fd, at) {
      if (fd !== ROOT) return ERRNO.EBADF;
      view().setUint8(at, "/".charCodeAt(0));
    },
    path_open(fd, flags, at, n, how, rights, inheriting, more, out) {
      if (how & (O_CREAT | O_TRUNC)) return ERRNO.EACCES;
      const path = resolved(fd, at, n), isFolder = fs.statSync(path).isDirectory();
      open.set(next, { path, isFolder, offset: 0, fd: isFolder ? -1 : fs.openSync(path, "r") });
      view().setUint32(out, next++, true);
    },
    fd_close(fd) {
      const file = open.get(fd);
      if (!file.isFolder) fs.closeSync(file.fd);
      open.delete(fd);
    },
    fd_fdstat_get(fd, out) {
      bytes(out, 24).fill(0);
      view().setUint8(out, open.get(fd).isFolder ? TYPE.folder : TYPE.file);
      view().setBigUint64(out + 8, ALL_RIGHTS, true);
      view().setBigUint64(out + 16, ALL_RIGHTS, true);
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get(fd, out) {
      writeStat(out, fs.statSync(open.get(fd).path));
    },
    path_filestat_get(fd, flags, at, n, out) {
      writeStat(out, fs.statSync(resolved(fd, at, n)));
    },
    fd_read(fd, vectors, n, out) {
      const file = open.get(fd), got = readInto(file, vectors, n, file.offset);
      file.offset += got;
      view().setUint32(out, got, true);
    },
    fd_pread(fd, vectors, n, offset, out) {
      view().setUint32(out, readInto(open.get(fd), vectors, n, Number(offset)), true);
    },
    fd_seek(fd, offset, whence, out) {
      const file = open.get(fd), base = [0, file.offset, fs.statSync(file.path).size][whence];
      file.offset = base + Number(offset);
      view().setBigUint64(out, BigInt(file.offset), true);
    },
    /* An entry that does not fit is cut: that is how the caller learns that there is more. */
    fd_readdir(fd, at, size, cookie, out) {
      const file = open.get(fd);
      file.entries ??= fs.readdirSync(file.path, { withFileTypes: true });
      let used = 0;
      for (let i = Number(cookie); i < file.entries.length && used < size; i++) {
        const name = new TextEncoder().encode(file.entries[i].name), entry = new Uint8Array(ENTRY_SIZE + name.length), head = new DataView(entry.buffer);
        head.setBigUint64(0, BigInt(i + 1), true);
        head.setUint32(16, name.length, true);
        head.setUint8(20, typeOf(file.entries[i]));
        entry.set(name, ENTRY_SIZE);
        const part = entry.subarray(0, size - used);
        bytes(at + used, part.length).set(part);
        used += part.length;
      }
      view().setUint32(out, used, true);
    },
  };
  /* Calls return nothing where all went well; what node:fs throws has a code. */
  const guard = (call) => (fd, ...more) => {
    if (!open.has(fd)) return ERRNO.EBADF;
    try {
      return call(fd, ...more) ?? 0;
    } catch (error) {
      if (error.code in ERRNO) return ERRNO[error.code];
      if (error.syscall) return ERRNO.EIO;
      throw error;
    }
  };
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, guard(call)]));
}

module.exports = { files };
