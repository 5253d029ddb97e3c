"""The commands for a data file that no server has open: check and backup."""
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess

from everything import a_file_of_everything
from harness import BINARY, ROOT, Server, of_files, run
from pages import seal
from wire import Client


def dynalith(*words):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def path_of(server):
    return f"{server.folder}/data.db"


@of_files
def a_sound_file():
    server = Server(disk=True)
    a_file_of_everything(server)
    status, lines, problem = dynalith("check", path_of(server))
    assert status == 1 and "in use by another process" in problem and not lines, (status, lines, problem)
    server.kill()  # what is left in the log counts
    status, lines, problem = dynalith("check", path_of(server))
    assert status == 0 and len(lines) == 1 and " is sound: 2 tables, 133 items" in lines[0] and not problem, (status, lines, problem)
    server.start()
    assert len(list(Client(server.port).all("Scan", TableName="app"))) == 133
    server.stop()


def stores_that_are_no_files():
    for store in ("memory:", "postgresql://user@host/database", "nonsense:x"):
        for words in (("check", store), ("check", "--repair", store), ("backup", store, "copy.db")):
            status, lines, problem = dynalith(*words)
            wanted = f"dynalith: cannot open {store}: No such file or directory; {words[0]} wants a data file or the URL of a server, and no store\n"
            assert status == 1 and not lines and problem == wanted, (words, status, lines, problem)
    assert dynalith("check", "missing.db")[2] == "dynalith: cannot open missing.db: No such file or directory\n"


@of_files
def flipped_bytes():
    server = Server(disk=True)
    a_file_of_everything(server)
    server.process.terminate()
    server.process.wait(120)
    path = path_of(server)
    size = os.path.getsize(path)
    for i in range(40):
        at = i * size // 40 + i * 7 % 97
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << i % 8]))
        status, lines, _ = dynalith("check", path)
        assert status == 3 and len(lines) > 1 and re.search(r": 1 finding$|: \d+ findings$", lines[-1]), (at, status, lines)
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(bytes([byte]))
    assert dynalith("check", path)[0] == 0
    with open(path, "r+b") as file:
        file.seek(9 * 4096 + 5)
        file.write(b"damage")
    status, lines, problem = dynalith("backup", path, path + ".copy")
    assert status == 1 and "page 10 fails its checksum" in problem and not os.path.exists(path + ".copy"), (status, lines, problem)


@of_files
def a_backup():
    server = Server(disk=True)
    a_file_of_everything(server)
    path, copy = path_of(server), f"{server.folder}/copy.db"
    assert dynalith("backup", path, copy)[0] == 1 and not os.path.exists(copy)
    server.kill()
    status, lines, problem = dynalith("backup", path, copy)
    assert status == 0 and len(lines) == 1 and "copy.db is sound: 2 tables, 133 items" in lines[0] and not problem, (status, lines, problem)
    assert os.stat(copy).st_mode & 0o777 == 0o600
    with open(copy, "rb") as file:
        before = file.read()
    status, lines, problem = dynalith("backup", path, copy)
    assert status == 1 and "File exists" in problem and not lines, (status, lines, problem)
    with open(copy, "rb") as file:
        assert file.read() == before
    with open(f"{server.folder}/other.db-wal", "wb") as file:
        file.write(b"a log")
    status, _, problem = dynalith("backup", path, f"{server.folder}/other.db")
    assert status == 1 and "other.db-wal" in problem and not os.path.exists(f"{server.folder}/other.db"), problem
    shutil.move(copy, path)
    server.start()
    assert len(list(Client(server.port).all("Scan", TableName="app", IndexName="GSI1"))) == 133
    server.stop()


@of_files
def files_of_older_versions():
    server = Server()
    for name in ("0.1.0-all", "0.1.0-first"):
        path = f"{server.folder}/{name}.db"
        subprocess.run(f"gunzip < {ROOT}/tests/e2e/data/{name}.db.gz > {path}", shell=True, check=True)
        status, lines, problem = dynalith("check", path)
        assert status == 0 and len(lines) == 1, (status, lines, problem)
    server.stop()


@of_files
def a_schema_from_elsewhere():
    """With right checksums and a trigger. Each command and the server refuse it by its name, whatever it would do; a repair keeps the rows."""
    server = Server(disk=True)
    a_file_of_everything(server)
    server.process.terminate()
    server.process.wait(120)
    path = path_of(server)
    with contextlib.closing(sqlite3.connect(path)) as db:
        for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            db.execute(f"CREATE TRIGGER on_{name} BEFORE INSERT ON {name} BEGIN DELETE FROM system_tables; END")
        db.commit()
    seal(path)
    refusal = f'cannot open {path}: its trigger "on_system_tables" is not of this server; it was left alone'
    status, lines, problem = dynalith("check", path)
    assert (status, lines) == (3, [refusal, f"{path}: 1 finding"]), (status, lines, problem)
    for words in (["backup", path, path + ".copy"], ["copy", "--from", f"sqlite:{path}", "--to", f"sqlite:{path}.copy"], ["--db-path", path, "--port", "0"]):
        status, _, problem = dynalith(*words)
        assert status > 0 and refusal in problem and not os.path.exists(path + ".copy"), (words, status, problem)
    status, lines, problem = dynalith("check", path, "--repair")
    assert status == 0 and dynalith("check", path)[0] == 0, (status, lines, problem)
    server.start()
    assert len(list(Client(server.port).all("Scan", TableName="app"))) == 133
    server.stop()


@of_files
def misuse():
    server = Server()
    path = f"{server.folder}/none.db"
    for words, expected in ((["check"], 2), (["check", path, "more"], 2), (["backup", path], 2), (["check", path], 1), (["backup", path, path + ".copy"], 1), (["check", server.folder], 1)):
        status, lines, problem = dynalith(*words)
        assert status == expected and not lines and problem.startswith(("dynalith: ", "usage: dynalith")) and problem.count("\n") == 1, (words, status, lines, problem)
    assert not os.path.exists(path) and not os.path.exists(path + ".copy")
    server.stop()


run("maintain", [a_sound_file, stores_that_are_no_files, flipped_bytes, a_backup, files_of_older_versions, a_schema_from_elsewhere, misuse])
