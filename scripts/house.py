"""The arrangement of the house, for scripts/lint: arrows between shelves, circles of modules, how much lies flat, fields of structs, names of files.

Each check takes {name: text} of the files and yields (name, line, what). tests/lint/run feeds them small invented trees.
"""
import fnmatch
import collections
import re

# The shelves and single modules of its own room that each shelf may use. Flat files of a room may use all of its shelves.
SHELVES = {
    "storage/store": ["storage/monotonic"],
    "storage/store/split": ["storage/store"],
    "storage/store/sqlite": ["storage/store", "storage/monotonic"],
    "storage/store/postgresql": ["storage/store", "storage/monotonic"],
    "storage/store/timed": ["storage/store", "storage/monotonic"],
    "storage/store/trace": ["storage/store"],
    "storage/schema": ["storage/store", "storage/messages"],
    "storage/lag": ["storage/store", "storage/schema"],
    "storage/stream": ["storage/store", "storage/schema", "storage/item_key", "storage/messages"],
    "storage/vector": ["storage/store", "storage/schema", "storage/item_key", "storage/messages"],
    "storage/catalog": ["storage/store", "storage/schema", "storage/lag", "storage/stream", "storage/vector", "storage/expiry", "storage/index_row", "storage/messages", "storage/pace", "storage/uuid"],
    "storage/write": ["storage/store", "storage/schema", "storage/lag", "storage/stream", "storage/vector", "storage/catalog", "storage/cost", "storage/expiry",
                      "storage/index_row", "storage/item_key", "storage/messages"],
    "storage/upkeep": ["storage/store", "storage/schema", "storage/lag", "storage/stream", "storage/vector", "storage/catalog", "storage/write", "storage/expiry",
                       "storage/index_row", "storage/item_key", "storage/messages", "storage/pace", "storage/uuid"],
    "storage/job": ["storage/store", "storage/schema", "storage/catalog", "storage/upkeep/lease", "storage/messages", "storage/pace", "storage/uuid"],
    "storage/backup": ["storage/store", "storage/schema", "storage/stream", "storage/catalog", "storage/write/write", "storage/job", "storage/messages",
                       "storage/monotonic", "storage/pace"],
    "storage/state": ["storage/store", "storage/schema", "storage/lag", "storage/stream", "storage/vector", "storage/catalog", "storage/job/job", "storage/write/write",
                      "storage/index_row", "storage/messages", "storage/uuid"],
    "protocol/wire": [],
    "protocol/transfer": ["protocol/wire", "protocol/handler", "protocol/expressions", "protocol/tables", "protocol/timing/timing"],
    "protocol/tables": ["protocol/wire", "protocol/iam/policy", "protocol/iam/pattern", "protocol/timing/timing", "protocol/handler", "protocol/streams", "protocol/vector_messages", "protocol/faults/faults"],
    "protocol/timing": ["protocol/wire", "protocol/tables", "protocol/handler"],
    "protocol/conflicts": ["protocol/handler"],
    "protocol/iam": ["protocol/wire", "protocol/handler", "protocol/expressions", "protocol/legacy", "protocol/rules", "protocol/streams", "protocol/tables", "protocol/partiql", "protocol/insight/mask", "protocol/ops"],
    "protocol/partiql": ["protocol/wire", "protocol/work", "protocol/expressions", "protocol/handler", "protocol/item_messages", "protocol/respond", "protocol/rules"],
    "server/library": ["server/instance", "server/platform/platform", "server/start/config", "server/log", "server/request_id", "server/importers/apply", "server/seed/seed", "server/version"],
    "server/platform": [],
    "server/mask": ["server/platform/crypto", "server/seed/document", "server/seed/json_text", "server/seed/source"],
    # dynalith.wasm's: other implementations of these headers, where there are no threads, sockets and processes
    "server/wasi": ["server/client/tls_client", "server/command/interrupt", "server/crash", "server/ending", "server/library", "server/platform", "server/request_id"],
    "server/command": ["server/start/dropin", "server/start/options", "server/version"],
    "server/client": ["server/command", "server/http/tls_context", "server/messages", "server/platform", "server/sigv4"],
    "server/push": ["server/client/client", "server/crash", "server/log"],
    "server/races": ["server/client", "server/command", "server/http", "server/instance", "server/log", "server/platform", "server/report/document", "server/report/view", "server/seed/json_text", "server/start/front"],
    "server/forecast": ["server/command/exit_status", "server/command/help", "server/messages", "server/recording/tape", "server/report/document", "server/report/prices",
                        "server/report/view", "server/seed/description", "server/seed/json_text", "server/seed/local"],
    "server/export": ["server/gzip", "server/messages", "server/seed/document", "server/seed/json_text", "server/transfer/s3"],
    "server/pull": ["server/client", "server/command", "server/export", "server/mask", "server/messages", "server/platform/crypto", "server/report/money",
                    "server/seed/description", "server/seed/document", "server/seed/json_text", "server/seed/local"],
    "server/tools": ["server/client", "server/command", "server/control/control", "server/control/endpoints", "server/mask", "server/messages", "server/pull/carry", "server/platform/crypto",
                     "server/report/document", "server/report/money", "server/seed/description", "server/seed/document", "server/seed/json_text", "server/seed/local", "server/start/backend"],
    "server/start": ["server", "server/client", "server/command", "server/forecast/forecast", "server/http", "server/mcp", "server/platform", "server/pull/pull", "server/push/trigger", "server/races/races", "server/recording/replay",
                     "server/report/report", "server/importers/apply", "server/tools"],
    "server/report": ["server/command/exit_status", "server/command/help", "server/command/interrupt", "server/command/reach", "server/client/remote", "server/messages", "server/seed/json_text", "server/seed/yaml", "server/version"],
    "server/control": ["server/forecast/described", "server/forecast/run", "server/forecast/seen", "server/seed/json_text", "server/clock", "server/transfer", "server/upkeep", "server/messages"],
    "server/http": ["server/platform", "server/crash", "server/ending", "server/gzip", "server/log", "server/messages", "server/request_id"],
    "server/console": ["server/http", "server/gzip", "server/embedded_file", "server/version"],
    "server/kinesis": ["server/client/client", "server/crash", "server/log", "server/sigv4"],
    "server/seed": [],
    "server/importers": ["server/seed", "server/mask", "server/client/elsewhere", "server/client/client", "server/gzip", "server/command/exit_status", "server/command/help", "server/log"],
    "server/mcp": ["server/client/elsewhere", "server/client/client", "server/embedded_file", "server/gzip", "server/command/exit_status", "server/command/help", "server/messages", "server/platform", "server/report", "server/seed/json_text", "server/version"],
    "server/recording": ["server/console/events", "server/console/masked", "server/client/elsewhere", "server/command/exit_status", "server/command/help", "server/log", "server/messages", "server/seed/json_text"],
    "server/transfer": ["server/platform", "server/client/client", "server/clock", "server/crash", "server/gzip", "server/log", "server/sigv4"],
    "protocol/faults": ["protocol/wire", "protocol/handler", "protocol/ns_map", "protocol/throttle_messages", "protocol/tables/arn", "protocol/ops"], # ops.def
    "protocol/throughput": ["protocol/wire", "protocol/insight/access", "protocol/handler", "protocol/ns_map", "protocol/throttle_messages", "protocol/tables/settings",
                            "protocol/tables/throughput_rules", "protocol/tables/scaling", "protocol/ops"], # ops.def
    "protocol/insight": ["protocol/wire", "protocol/handler", "protocol/tables/settings", "protocol/ops"], # ops.def
    # the one path to the hooks: operations and PartiQL call it, and no hook
    "protocol/work": ["protocol/handler", "protocol/conflicts", "protocol/faults", "protocol/insight/access", "protocol/insight/explain", "protocol/rollouts",
                      "protocol/throughput", "protocol/ops"], # ops.h
    "protocol/ops": ["protocol", "protocol/work", "protocol/wire", "protocol/tables", "protocol/timing", "protocol/transfer", "protocol/partiql"],
}
# Flat modules that shelves use, and the only shelves and modules that these may use.
FLAT = {
    "storage/messages": [],
    "storage/monotonic": [],
    "storage/pace": [],
    "storage/uuid": [],
    "storage/cost": ["storage/schema"],
    "storage/expiry": ["storage/schema", "storage/store"],
    "storage/item_key": ["storage/schema", "storage/store", "storage/messages"],
    "storage/index_row": ["storage/schema", "storage/item_key", "storage/vector"],
}
FLAT_MAX = 30 # files in a room, and on each shelf of server/
FIELDS_MAX = 30

# Each library's headers, and the files that may include them.
DOORS = {
    "microhttpd.h": ["server/http/http"],
    "openssl/": ["server/platform/crypto.c", "server/client/tls_client.c", "server/http/tls"],
    "zlib.h": ["server/gzip.c"],
    "yaml.h": ["server/seed/yaml.c"],
    "zstd.h": ["server/transfer/zstd.c"],
    "cjson/": ["protocol/wire/json.c"],
    "sqlite3.h": ["storage/store/sqlite/"],
    "libpq-fe.h": ["storage/store/postgresql/"],
}
# Headers of the C library, the compiler, and the system.
SYSTEM_HEADERS = re.compile(r"""(?:(?:arpa|linux|mach|mach-o|malloc|net|netinet|sanitizer|sys)/[\w/-]+|assert|cpuid|ctype|dirent|dlfcn|errno|execinfo|fcntl|fenv|float|fnmatch|glob|grp
    |immintrin|inttypes|libgen|libproc|limits|locale|malloc|math|netdb|poll|pthread|pwd|regex|sched|semaphore|setjmp|signal|spawn|std(?:align|arg|atomic|bool|def|int|io|lib|noreturn)
    |strings?|termios|time|unistd|unwind|wchar)\.h""", re.X)


def blank(text, pattern):
    """Matches become spaces; lines stay."""
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.S)


COMMENT = r"/\*.*?\*/"
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''


def fails_later(lines, at):
    """Whether a function whose line `at` sets its output may still return another code than OK: by what follows in the same branch, up to its return."""
    indent, skipped = lines[at].count("\t"), None
    is_guarded = re.match(r"\t+if \(code == OK\b[^|]*\)$", lines[at - 1]) or (lines[at - 1].strip() == "else" and lines[at - 3].strip() == "if (code != OK)")
    for line in lines[at + 1:]:
        depth, words = len(line) - len(line.lstrip("\t")), line.strip()
        if not words or (skipped is not None and depth > skipped):
            continue
        skipped = None
        if depth < indent:
            if re.match(r"(?:\} )?else\b|case\b|default\b", words):
                skipped = depth
                continue
            indent = depth
        if depth <= indent and re.match(r"return OK;|break;|continue;", words) or is_guarded and words == "return code;":
            return False
        if words.startswith("return") or re.search(r"\b(?:code|err_set|err_default)\b ?[=(]", words):
            return words != "return OK;"
    return False


def check_outputs(files):
    """Below the server a fallible function sets *out in its last step: `return OK;` follows, or RESULT of core/err.h does it, or the line says what it is after a failure."""
    for name, text in files.items():
        if not name.startswith(("core/", "protocol/", "storage/")):
            continue
        text = blank(blank(text, COMMENT), STRING)
        for match in re.finditer(r"^(?:static )?enum code \w+\([^;{]*?\*out\b[^;{]*\)\n\{\n(.*?)^\}", text, re.S | re.M):
            lines, first = match.group(1).splitlines(), text.count("\n", 0, match.start(1)) + 1
            for at, line in enumerate(lines):
                if re.match(r"\t+\*out = (?!code == OK \? )", line) and fails_later(lines, at):
                    yield name, first + at, "*out is set before the function may fail: set it last, by RESULT of core/err.h"


# Headers of another name than the files whose functions they declare: the face of a shelf, or what several files share.
FACES = {
    "core/reserved": ["core/expr"],
    "storage/write/token": ["storage/write/write"],
    "protocol/call": ["protocol/handler"],
    "protocol/faults/": ["protocol/faults/faults"],
    "protocol/iam/condition": ["protocol/iam/policy"],
    "protocol/partiql/": ["protocol/partiql/partiql", "protocol/partiql/syntax"],
    "protocol/partiql/cache": ["protocol/partiql/partiql", "protocol/service"],
    "protocol/timing/": ["protocol/timing/timing", "protocol/timing/internal"],
    "protocol/wire/shape_bind": ["protocol/wire/shape_walk"],
    "protocol/wire/shape_constraints": ["protocol/wire/shape_walk"],
    "protocol/wire/shape_scalars": ["protocol/wire/shape_walk"],
    "protocol/wire/shape_values": ["protocol/wire/shape_walk"],
    "server/library/library": ["server/library/dynalith"],
    "server/importers/functions": ["server/importers/intrinsics"],
    "server/importers/variables": ["server/importers/intrinsics"],
}
PUBLIC = re.compile(r"^(?!static\b|typedef\b|return\b|else\b)[a-z][\w \*]*?\b(\w+)\(", re.M)


def is_face(header, name):
    """core/expr.h and core/expr_internal.h are of core/expr.c and of core/expr_check.c."""
    stem, face = module(name), module(header)
    named = max((key for key in FACES if stem == key or (key.endswith("/") and stem.startswith(key))), key=len, default=None)
    return stem == face or stem.startswith(face + "_") or (named and face in FACES[named])


def check_declared(files):
    """A public function is declared in a header that has its file's name or the first words of it, so that who reads a call finds the function's file. What no header
    declares is a row of a .def, or refused by -Wmissing-prototypes."""
    headers = {}
    for name, text in files.items():
        if name.endswith(".h"):
            for match in PUBLIC.finditer(blank(text, COMMENT)):
                headers.setdefault(match.group(1), []).append(name)
    for name, text in files.items():
        # server/wasi/ stands in for files of other shelves that WebAssembly cannot have
        text = blank(blank(text, COMMENT), STRING) if name.endswith(".c") and not name.startswith("server/wasi/") else ""
        for match in re.finditer(PUBLIC.pattern + r"[^;{}]*\)\n\{", text, re.M):
            of = headers.get(match.group(1))
            if of and not any(is_face(header, name) for header in of):
                yield name, text.count("\n", 0, match.start()) + 1, f"{match.group(1)}() is declared in {of[0]}, not in a header of this file's name"


def check_used(files, tests):
    """A function that no other file calls, and no test, is static. Rows of a .def name theirs, also by a part (iam_ask_##name), and libdynalith's are for other programs."""
    texts = {name: blank(text, COMMENT) for name, text in {**files, **tests}.items()}
    pasted = tuple({word for text in texts.values() for word in re.findall(r"\b(\w+)##", text)}) + ("dynalith_",)
    users = {}
    for name, text in texts.items():
        for word, count in collections.Counter(re.findall(r"\b[a-z]\w+\b", text)).items():
            users.setdefault(word, {})[name] = count
    for name in files:
        for match in re.finditer(PUBLIC.pattern + r"[^;{}]*\)\n\{", texts[name], re.M) if name.endswith(".c") else ():
            of = {user: count for user, count in users[match.group(1)].items() if user != name}
            # one word in one header: its declaration
            if list(of.values()) == [1] and list(of)[0].endswith(".h") and not match.group(1).startswith(pasted):
                yield name, texts[name].count("\n", 0, match.start()) + 1, f"{match.group(1)}() is called in this file only: static"


CHAIN = re.compile(r"\bif \((?:[^;{}()]|\([^;{}()]*\))*(?<![.>])\bcode == OK\b(?:[^;{}]*?)\)\s*(?:\{\s*)?code = ")


def check_chains(files):
    """A function returns as soon as a call fails: no `if (code == OK) code = f();`."""
    for name, text in files.items():
        text = blank(blank(text, COMMENT), STRING)
        for match in CHAIN.finditer(text):
            yield name, text.count("\n", 0, match.start()) + 1, "code == OK before code is set: return as soon as code is not OK"


NAMESAKE_LINES = 8
NAMESAKES_MAX = 0.1 # of a room's longer static functions
FUNCTION = re.compile(r"^static (?!__attribute__)[^;={}()]*?\b(\w+)\([^;{]*?\)\n\{\n(.*?)^\}", re.S | re.M)


def check_names(files):
    """A longer static function has a name that no other file's has: a stack, a profile and grep then say which one it is. In core/ and storage/ all but storage/store/sqlite/
    have one; in each room all but one in ten."""
    functions, longer, namesakes = {}, {}, {}
    for name, text in files.items():
        text = blank(text, COMMENT)
        for match in FUNCTION.finditer(text):
            functions.setdefault(match.group(1), []).append((name, text.count("\n", 0, match.start(1)) + 1, match.group(2).count("\n")))
    for function, places in functions.items():
        for name, line, lines in places:
            if lines <= NAMESAKE_LINES:
                continue
            room = name.split("/")[0]
            longer[room] = longer.get(room, 0) + 1
            others = sorted({other for other, _, _ in places if other != name})
            if others:
                namesakes.setdefault(room, []).append((name, line, f"{function}() is in {', '.join(others)} too: a name that says what it does"))
    for room, found in namesakes.items():
        is_over = len(found) > NAMESAKES_MAX * longer[room]
        strict = room in ("core", "storage")
        yield from (breach for breach in found if is_over or (strict and not breach[0].startswith("storage/store/sqlite/")))


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def folder(name):
    return name.rsplit("/", 1)[0] if "/" in name else ""


def module(name):
    """"storage/read" of storage/read.c and storage/read.h; what is internal to a module belongs to it."""
    stem = name.rsplit(".", 1)[0]
    return stem[:-len("_internal")] if stem.endswith("_internal") else stem


def is_allowed(allowed, target):
    return any(target == a or folder(target) == a for a in allowed)


def check_doors(files):
    """A library's headers are included by the files of its door only; a library without a door by none."""
    for name, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if not match:
                continue
            target = match.group(2)
            doors = [places for header, places in DOORS.items() if target.startswith(header)]
            if any(not name.startswith(tuple(places)) for places in doors):
                yield name, number, f"{target} only in {', '.join(doors[0])}"
            elif match.group(1) == "<" and not doors and not SYSTEM_HEADERS.fullmatch(target):
                yield name, number, f"{target} is of a library without a door: a row of DOORS in scripts/house.py"


def check_arrows(files):
    for name, text in files.items():
        own = folder(name)
        room = own.split("/")[0]
        rules = SHELVES.get(own) if own != room else FLAT.get(module(name))
        if own != room and rules is None and any(shelf.startswith(room + "/") for shelf in SHELVES):
            yield name, 1, f"{own}/ has no row in SHELVES of scripts/house.py: what may it use?"
        if rules is None:
            continue
        for line, target in includes(text):
            if target.split("/")[0] == room and folder(target) != own and not is_allowed(rules, module(target)):
                yield name, line, f"{own if own != room else module(name)} must not use {target}"
            elif own == room and folder(target) == own and module(target) != module(name) and not is_allowed(rules, module(target)):
                yield name, line, f"{module(name)} must not use {target}"


def circles(graph):
    """Groups of nodes that reach each other (Tarjan), each sorted."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_circles(files):
    """Modules, so a header that A's source needs of B and one that B's source needs of A are a circle too."""
    graph = {}
    for name, text in files.items():
        graph.setdefault(module(name), set()).update(module(target) for _, target in includes(text) if module(target) != module(name))
    for group in circles(graph):
        name = next(name for name in sorted(files) if module(name) == group[0])
        yield name, 1, "a circle of modules: " + ", ".join(group)


# Sources that call each other and stay so: a recursion over two files, or a state machine whose steps follow each other. No new ones.
RECURSIONS = [
    # a grammar: a value is a function or a variable, whose arguments are values
    {"server/importers/functions.c", "server/importers/intrinsics.c", "server/importers/variables.c"},
    # one exchange after another on a connection
    {"server/http/http_exchange.c", "server/http/http_lanes.c", "server/http/http_reply.c", "server/http/http_serve.c"},
]


def check_calls(files):
    """Sources that call each other, also where an _internal.h hides it from check_circles()."""
    texts = {name: blank(blank(text, COMMENT), STRING) for name, text in files.items() if name.endswith(".c") and not name.startswith("server/wasi/")}
    homes, graph = {}, {}
    for name, text in texts.items():
        for match in re.finditer(PUBLIC.pattern + r"[^;{}]*\)\n\{", text, re.M):
            homes.setdefault(match.group(1), set()).add(name)
    for name, text in texts.items():
        for call in set(re.findall(r"\b([a-z]\w+)\(", text)):
            if len(homes.get(call, ())) == 1 and not re.search(rf"^static [^;{{}}()]*\b{call}\(", text, re.M):
                graph.setdefault(name, set()).update(homes[call] - {name})
    for group in circles(graph):
        if not any(set(group) <= known for known in RECURSIONS):
            yield group[0], 1, "sources that call each other: " + ", ".join(group)


HOOK_HOMES = {"CONFLICTS": "protocol/conflicts/", "FAULTS": "protocol/faults/", "THROUGHPUT": "protocol/throughput/", "TRIAL": "protocol/insight/", "INSIGHT": "protocol/insight/"}


def check_hooks(files):
    """What a hook keeps of a call is read by its own shelf alone. An operation knows no hook: protocol/work does."""
    for name, text in files.items():
        text = blank(blank(text, COMMENT), STRING)
        for match in re.finditer(r"\bhooks\[HOOK_(\w+)\]", text):
            home = HOOK_HOMES.get(match.group(1), "a row of HOOK_HOMES in scripts/house.py")
            if not name.startswith(home):
                yield name, text.count("\n", 0, match.start()) + 1, f"call->hooks[HOOK_{match.group(1)}] is read by {home} only"
        for match in re.finditer(r"\bHOOK_\w+", text if name.startswith("protocol/ops/") else ""):
            yield name, text.count("\n", 0, match.start()) + 1, f"{match.group(0)}: an operation knows no hook, protocol/work does"


def check_flat(files):
    folders = {}
    for name in files:
        if name.endswith((".c", ".h")) and (folder(name) in ("storage", "protocol") or name.startswith("server/")):
            folders.setdefault(folder(name), []).append(name)
    for place, flat in folders.items():
        if len(flat) > FLAT_MAX:
            yield place + "/", 1, f"{len(flat)} files lie flat, more than {FLAT_MAX}: which shelf is missing?"


def fields(body):
    """How many fields the text between a struct's braces declares; those of a member without a name count too."""
    count, at = 0, 0
    body = blank(body, r"\[[^\]]*\]|__attribute__\s*\(\(.*?\)\)")
    while at < len(body):
        brace, semicolon = body.find("{", at), body.find(";", at)
        if 0 <= brace < semicolon:
            depth, end = 1, brace + 1
            while depth and end < len(body):
                depth += {"{": 1, "}": -1}.get(body[end], 0)
                end += 1
            semicolon = body.find(";", end)
            if semicolon < 0:
                break
            declared = body[end:semicolon].strip()
            is_record = re.search(r"\b(struct|union)\b", body[at:brace])
            count += declared.count(",") + 1 if declared else fields(body[brace + 1:end - 1]) if is_record else 0
        elif semicolon < 0:
            break
        else:
            declaration = body[at:semicolon]
            while re.search(r"\([^()]*\)", declaration):
                declaration = re.sub(r"\([^()]*\)", "", declaration)
            count += declaration.count(",") + 1
        at = semicolon + 1
    return count


def check_fields(files):
    """Structs that tables of data expand into have no body here."""
    for name, text in files.items():
        text = blank(blank(text, COMMENT), STRING)
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)
        for match in re.finditer(r"\bstruct\s+(\w+)\s*\{", text):
            depth, end = 1, match.end()
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            count = fields(text[match.end():end - 1])
            if count > FIELDS_MAX:
                yield name, text.count("\n", 0, match.start()) + 1, f"struct {match.group(1)} has {count} fields, more than {FIELDS_MAX}"


PLACES = r"(?:core|storage|protocol|server|tests|scripts|docs|packaging|docker|make)"


def exists(names, path):
    """A file, with or without its extension, a folder, or a pattern of some."""
    path = path.rstrip("/")
    if any(c in path for c in "*<"):
        pattern = re.sub(r"<[^>]*>", "*", path)
        return any(fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, pattern + ".?") for name in names)
    return any(name == path or name.startswith((path + "/", path + ".")) for name in names)


def mentioned(text, start=0):
    """(offset, path) of what looks like a path from the root of the tree."""
    for match in re.finditer(r"(?<![\w./$-])" + PLACES + r"/[\w./*<>-]*", text):
        yield start + match.start(), match.group(0).rstrip(".-")


def check_documents(documents, names):
    """Paths in documents are there."""
    for name, text in documents.items():
        for match in re.finditer(r"`([^`\n]+)`", text):
            for offset, path in mentioned(match.group(1), match.start(1)):
                if not exists(names, path):
                    yield name, text.count("\n", 0, offset) + 1, f"{path} is not there"


FLOOR = "storage/store/sqlite/sqlite_floor.h"


def check_floor(files, documents):
    """The oldest SQLite that is good enough is the same one in documents ("SQLite is older than 3.54.0") as in the header, whose two forms agree."""
    if FLOOR not in files:
        return
    number, version = re.search(r"FLOOR_NUMBER (\d+)", files[FLOOR]).group(1), re.search(r'FLOOR_VERSION "([\d.]+)"', files[FLOOR]).group(1)
    if int(number) != sum(int(part) * 1000 ** (2 - i) for i, part in enumerate(version.split("."))):
        yield FLOOR, 1, f"{number} is not {version}"
    for name, text in documents.items():
        for match in re.finditer(r"SQLite\s+is\s+older\s+than\s+(\d+\.\d+\.\d+)", text):
            if match.group(1) != version:
                yield name, text.count("\n", 0, match.start()) + 1, f"{FLOOR} says {version}, not {match.group(1)}"


def check_comments(files, names):
    """Files that comments name are there: paths from the root, and headers, sources and tables of data by their bare names."""
    bare = {name.rsplit("/", 1)[-1] for name in names}
    for name, text in files.items():
        for comment in re.finditer(COMMENT, text, re.S):
            for offset, path in mentioned(comment.group(0), comment.start()):
                if not exists(names, path):
                    yield name, text.count("\n", 0, offset) + 1, f"{path} is not there"
            for match in re.finditer(r"(?<![\w./<*-])([a-z][\w-]*\.(?:c|h|def|py))\b(?!\.)", comment.group(0)):
                if match.group(1) not in bare:
                    yield name, text.count("\n", 0, comment.start() + match.start()) + 1, f"{match.group(1)} is not there"


def check_rules(rules, names):
    """Files and folders that the rules of lint and of this file name, as {what the rule is: names}."""
    for what, places in {**rules, **{f"SHELVES of {shelf}": [shelf, *uses] for shelf, uses in SHELVES.items()},
                         **{f"FLAT of {name}": [name, *uses] for name, uses in FLAT.items()}}.items():
        for place in places:
            if not exists(names, place):
                yield "scripts/lint", 1, f"{place}, in {what}, is not there"


# Ways into the bytes of a row around storage/store/row.h: arithmetic on a string's pointer, its bytes by number, numbers at a place, and a pointer with another
# length than its own.
ROW_READER = "storage/store/row.h"
ROW_NAME = r"(\b[A-Za-z_][\w.\[\]]*(?:->[\w.\[\]]+)*)"
ROW_WAYS = [
    (re.compile(r"(?:\.|->)p\s*(?:\+|\[)"), "bytes by their place"),
    (re.compile(r"\b(?:str_be|be16|be32)\("), "a number at a place"),
    (re.compile(r"\{\s*" + ROW_NAME + r"(?:\.|->)p\s*,(?!\s*\1(?:\.|->)n\b)"), "a length that is not the string's own"),
    (re.compile(r"\bmem(?:cpy|cmp|move)\([^,;]+,\s*" + ROW_NAME + r"(?:\.|->)p\s*,(?!\s*\1(?:\.|->)n\b)"), "a length that is not the string's own"),
]


def check_rows(files):
    """Stored rows are read by one reader, which checks each length."""
    for name, text in files.items():
        if not name.startswith("storage/") or name == ROW_READER or name.startswith("storage/store/sqlite/"):
            continue
        text = blank(blank(text, COMMENT), STRING)
        for pattern, what in ROW_WAYS:
            for match in pattern.finditer(text):
                yield name, text.count("\n", 0, match.start()) + 1, f"{what}: rows are read by {ROW_READER}"


# AWS refuses the first ones always; the last one ends by itself before golden data could cancel it, and tests/e2e/test_transfer.py does.
NO_SUCCESS = {"CreateGlobalTable", "UpdateGlobalTable", "DescribeGlobalTable", "DescribeGlobalTableSettings", "UpdateGlobalTableSettings",
              "CancelBulkOperation"}


def check_coverage(files, golden, suites):
    """Each operation has golden data of its success and of an error, and a call in an end-to-end test; `golden` is a list of requests."""
    done = {row["op"] for row in golden if "op" in row and "error" not in row}
    refused = {row["op"] for row in golden if "op" in row and "error" in row}
    for name in re.findall(r"^OPERATION\(\w+, (\w+)", files.get("protocol/ops.def", ""), re.M):
        call = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        for is_there, what in ((name in done or name in NO_SUCCESS, "golden data of its success"), (name in refused, "golden data of an error"),
                               (re.search(rf"\b({call}|{name})\b", suites), "call in tests/e2e")):
            if not is_there:
                yield "protocol/ops.def", 1, f"{name} has no {what}"


def check_operations(files):
    """Code that serves all operations names none of them: a column of ops.def or shapes.def says what is special."""
    names = re.findall(r"^(?:OPERATION|ABSENT)\(\w+, (\w+)", files.get("protocol/ops.def", ""), re.M)
    for name, text in files.items():
        if name not in ("protocol/op.c", "server/routes.c") and (folder(name) != "protocol/wire" or not name.endswith(".c")):
            continue
        for match in re.finditer(STRING, blank(text, COMMENT)):
            if match.group(0).strip('"') in names:
                yield name, text.count("\n", 0, match.start()) + 1, f"{match.group(0)}: a column of ops.def or shapes.def says what is special of an operation"
