"""Hooks of mkdocs.yml. Pages that stand elsewhere in the tree join the site; links to other files of the tree become their names, since a site has no tree."""
import base64
import gzip
import hashlib
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from page_blocks import as_fragment, blocks, requests

ROOT = pathlib.Path(__file__).resolve().parents[1]
# file: its page
ADOPTED = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
           **{f"packaging/{name}/README.md": f"packages/{name}.md" for name in ("python", "npm", "maven", "go", "rust")}}
# How much a page weighs in the search: guides before reference, and both before what contributors read.
WEIGHTS = {"testing.md": 4, "packages/": 4, "languages/": 3, "migration/dynamodb-local.md": 3, "migration/": 2, "time.md": 5, "containers.md": 2, "ci.md": 2, "operations.md": 2,
           "changelog.md": 0.2, "ARCHITECTURE.md": 0.2, "internals.md": 0.2, "modules.md": 0.1, "performance.md": 0.3, "checkers.md": 0.3, "contributing.md": 0.5,
           "differences.md": 0.5}
PAGES = {page: name for name, page in ADOPTED.items()}


def on_files(files, config):
    for name, page in ADOPTED.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / name)))
    for file in [file for file in files if file.src_uri.startswith("play/")]:
        files.remove(file)
    for name, content in playground().items():
        files.append(File.generated(config, PLAYGROUND + name, content=content))
    return files


# The console finds the API two folders above its own.
PLAYGROUND = "play/_dynalith/console/"
WASM = ROOT / "build/wasm/dynalith.wasm"
# Only scripts of the site and the one in the page run, and none may be made of text.
POLICY = ("default-src 'none'; script-src 'self' 'sha256-%s' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; "
          "form-action 'none'; require-trusted-types-for 'script'; trusted-types playground")


def first_modules(console, first=("main.js", "views/tables.js")):
    """What the console's first view imports."""
    found, left = [], list(first)
    while left:
        name = left.pop(0)
        found.append(name)
        for imported in re.findall(r'^(?:import|export) [^;]*?"(\.[^"]+)";', (console / name).read_text(), flags=re.M):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), imported))
            if path not in found and path not in left:
                left.append(path)
    return found


def playground():
    """Files of the page that runs dynalith.wasm: the console, docs/play/, and the engine of the npm package as scripts."""
    if not WASM.exists():
        print("site: no playground, for there is no build/wasm/dynalith.wasm: make wasm")
        return {}
    console = ROOT / "console"
    files = {path.relative_to(console).as_posix(): path.read_bytes() for path in sorted(console.rglob("*")) if path.is_file() and not path.name.endswith(".d.ts")}
    files |= {path.name: path.read_bytes() for path in sorted((ROOT / "docs/play").iterdir())}
    # One script: a worker that loads others waits for each.
    engine = "".join(f"const {name} = (() => {{ const module = {{}}, require = () => host;\n{(ROOT / f'packaging/npm/{name}.cjs').read_text()}\nreturn module.exports; }})();\n"
                     for name in ("engine", "files"))
    files["worker.js"] = files["worker.js"].decode().replace("// @ENGINE@\n", engine).encode()
    files["dynalith.bin"] = gzip.compress(WASM.read_bytes(), mtime=0)
    page = files["index.html"].decode()
    # The engine starts before all else, by a script in the page. The modules of the first view are asked for at once.
    script = files.pop("play.js")
    policy = POLICY % base64.b64encode(hashlib.sha256(script).digest()).decode()
    first = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<script>{script.decode()}</script>\n'
    modules = "".join(f'<link rel="modulepreload" href="{name}">\n' for name in first_modules(console))
    for mark, more in (('<meta charset="utf-8">\n', first), ("", f'<link rel="stylesheet" href="play.css">\n{modules}')):
        at = page.index(mark or '<script type="module"') + len(mark)
        page = page[:at] + more + page[at:]
    files["index.html"] = page.encode()
    kept = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    names = " ".join(["./", *files])
    files["offline.js"] = files["offline.js"].decode().replace("@KEPT@", f"dynalith {kept}").replace("@FILES@", names).encode()
    return files


def linked(target, place, page):
    """What a link of the file `place` is in the page: a path, or None for a file that is not in the site."""
    path, hash_sign, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)) if path else place
    if path == "README.md":
        path = "docs/index.md"
    if not (ROOT / path).exists():
        return target  # which mkdocs says
    inside = ADOPTED.get(path) or (path[len("docs/"):] if path.startswith("docs/") and path.endswith((".md", ".png", ".svg")) else None)
    return inside and posixpath.relpath(inside, posixpath.dirname(page) or ".") + hash_sign + anchor


def with_examples(markdown, name):
    """Behind each block that consists of requests, a link that has the playground send them."""
    if not WASM.exists():
        return markdown
    lines = markdown.split("\n")
    for block in reversed(blocks(markdown)):
        if steps := requests(block):
            address = posixpath.relpath(f"{PLAYGROUND}index.html", posixpath.dirname(name) or ".")
            lines[block.after:block.after] = ["", f'<p class="run"><a href="{address}#{as_fragment(steps)}">Run it</a></p>', ""]
    return "\n".join(lines)


def on_page_markdown(markdown, page, **_):
    name = page.file.src_uri
    markdown = with_examples(markdown, name)
    place = PAGES.get(name, "docs/" + name)
    weight = next((weight for start, weight in WEIGHTS.items() if name.startswith(start)), 1)
    page.meta.setdefault("search", {"boost": weight})

    def mend(match):
        text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group()
        mended = linked(target, place, name)
        return f"[{text}]({mended})" if mended else f"{text} (`{posixpath.normpath(posixpath.join(posixpath.dirname(place), target))}`)"
    markdown = re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', markdown, flags=re.M)  # a block that is a file
    parts = re.split(r"(^```.*?^```$|`[^`\n]*`(?!\]))", markdown, flags=re.S | re.M)
    return "".join(part if i % 2 else re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", mend, part) for i, part in enumerate(parts))


def unbroken(html):
    """Names of options outside of blocks of code stay in one line: browsers break them behind a hyphen."""
    parts = re.split(r"(<pre.*?</pre>|<[^>]+>)", html, flags=re.S)
    return "".join(part if i % 2 else re.sub(r"(?<![\w-])--[a-z][a-z-]*", r'<span class="option">\g<0></span>', part)
                   for i, part in enumerate(parts))


def on_page_content(html, **_):
    """Each cell of a table knows its column's name, for screens on which a row is a card."""
    def label(match):
        names = [re.sub(r"<.*?>", "", name).strip() for name in re.findall(r"<th.*?>(.*?)</th>", match.group(), flags=re.S)]
        rows = re.split(r"(?=<tr>)", match.group())
        for i, row in enumerate(rows):
            columns = iter(names)
            rows[i] = re.sub(r"<td", lambda _, columns=columns: f'<td data-label="{name}"' if (name := next(columns, "")) else "<td", row)
        return "".join(rows)
    return unbroken(re.sub(r"<table>.*?</table>", label, html, flags=re.S))
