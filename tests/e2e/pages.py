"""Which pages of a data file hold which rows: read from the bytes of the file, and by SQLite's table of pages."""
import collections
import contextlib
import sqlite3
import zlib

PAGE = 4096
SALT = 0x9E3779B1


def seal(path):
    """Gives each page the checksum of its bytes."""
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        for at in range(0, len(data), PAGE):
            page = data[at:at + PAGE - 4]
            if any(page):
                data[at + PAGE - 4:at + PAGE] = (zlib.crc32(page) ^ (at // PAGE + 1) * SALT & 0xFFFFFFFF).to_bytes(4, "little")
        file.seek(0)
        file.write(data)


def change(path, *statements):
    """Changes rows beneath the server, so that all pages are sound and their rows do not agree."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        for statement in statements:
            assert db.execute(statement).rowcount != 0, statement
        db.commit()
    seal(path)


def stream(table):
    """The rows of a table's stream in the SQL table that streams share: what stands behind FROM."""
    return f"shared_rows WHERE printf('%016X', n) = (SELECT hex(substr(v, 1, 8)) FROM system_places WHERE hex(k) = '6B{table:016X}00000001')"


def index(path, table, number):
    """The SQL table of an index, which has keys only where the index projects all attributes."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
        name, = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?)",
                           (f"index_{table}_{number}", f"keys_index_{table}_{number}")).fetchone()
    return name


def varint(page, at):
    value = 0
    for i in range(9):
        byte = page[at + i]
        if i == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1


def rowids(page):
    """Of a leaf of a table, by cell."""
    head = 0
    for cell in range(int.from_bytes(page[head + 3:head + 5], "big")):
        place = int.from_bytes(page[head + 8 + 2 * cell:head + 10 + 2 * cell], "big")
        _, after = varint(page, place)
        yield varint(page, after)[0]


class Row:
    def __init__(self, key, value):
        self.key, self.value, self.pages = key, value, set()


def rows_of(path):
    """{keyspace: {key: Row}} of a sound file without a log; and the kind of each page, as (keyspace, kind)."""
    with open(path, "rb") as file:
        data = file.read()
    page = lambda number: data[(number - 1) * PAGE:number * PAGE]
    found, kinds = collections.defaultdict(dict), {}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
        # rows of SQL tables of keys follow from items: nothing is lost with them
        names = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'keys%'")}
        leaves = {}
        for name, number, where, kind in db.execute("SELECT name, pageno, path, pagetype FROM dbstat"):
            kinds[number] = (name, kind)
            if name in names and kind == "leaf":
                leaves[name, where] = number
        by_rowid = {name: {rowid: Row(k, v) for rowid, k, v in db.execute(f'SELECT rowid, k, v FROM "{name}"')} for name in names}
        cells = {}
        for (name, where), number in leaves.items():
            cells[name, where] = list(rowids(page(number)))
            for rowid in cells[name, where]:
                by_rowid[name][rowid].pages.add(number)
        for name, number, where in db.execute("SELECT name, pageno, path FROM dbstat WHERE pagetype = 'overflow'"):
            if name in names:
                leaf, _, cell = where.rpartition("/")
                leaf = leaf + "/" if (name, leaf + "/") in leaves else leaf
                by_rowid[name][cells[name, leaf][int(cell.split("+")[0], 16)]].pages.add(number)
    for name, rows in by_rowid.items():
        found[name] = {row.key: row for row in rows.values()}
    return found, kinds
