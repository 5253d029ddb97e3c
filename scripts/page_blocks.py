"""Blocks of code of a page of docs/, and the requests that one consists of: scripts/site.py lets the playground send those, tests/e2e/test_site.py a server."""
import base64
import collections
import json
import re
import shlex

REASON = re.compile(r"<!-- not run: (.+) -->")
ENDPOINT = re.compile(r"(?:http://)?localhost:8000/_dynalith/(\S+)")
LISTS = ("--attribute-definitions", "--key-schema")  # of the AWS CLI, in its short form
SWITCHES = ("--consistent-read", "--no-consistent-read")
# What an example with `orders` has, unless it creates that table itself.
ORDERS = {"operation": "CreateTable", "body": {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                                               "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}}

# `start` and `end`: the lines of the code, from 0 on, the second one exclusive; `after`: the first line behind the block; `reason`: why nothing runs it, or None
Block = collections.namedtuple("Block", "start end after language text reason")


def blocks(page):
    """Of the text of a page: what is fenced, or indented between blank lines."""
    lines = page.split("\n")
    i, found, listed = 0, [], False
    while i < len(lines):
        line, before = lines[i], lines[i - 1] if i else ""
        reason = REASON.fullmatch(before)
        reason = reason and reason.group(1)
        start = i
        if line.startswith("```"):
            language, _, file = line[3:].partition(" ")
            language += "-file" if file else ""  # a file of a project
            i = lines.index("```", i + 1)
            found.append(Block(start + 1, i, i + 1, language, "\n".join(lines[start + 1:i]), reason))
        elif line.startswith("    ") and (not before.strip() or reason) and not listed:
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i]):
                i += 1
            found.append(Block(start, i, i, "", "\n".join(l[4:] for l in lines[start:i]).rstrip(), reason))
            continue
        elif line and line[0] != " ":
            listed = bool(re.match(r"- |\d+\. ", line))
        i += 1
    return found


def commands(text):
    """Without comments; a line that ends in a backslash goes on."""
    for line in text.replace("\\\n", " ").split("\n"):
        words = shlex.split(line, comments=True)
        if words:
            yield line, words


def camel(words):
    return "".join(word.capitalize() for word in words.split("-"))


def of_aws(words):
    """The request of `aws dynamodb OPERATION ...`, or None where its parameters are none of the forms here."""
    body, i = {}, 3
    while i < len(words):
        flag, values = words[i], []
        for i in range(i + 1, len(words) + 1):
            if i == len(words) or words[i].startswith("--"):
                break
            values.append(words[i])
        name = camel(flag[2:])
        if flag in LISTS and all("=" in value for value in values):
            body[name] = [dict(pair.split("=", 1) for pair in value.split(",")) for value in values]
        elif flag in SWITCHES and not values:
            body[camel(flag.removeprefix("--no-").removeprefix("--"))] = not flag.startswith("--no-")
        elif flag.startswith("--") and len(values) == 1 and (values[0][:1] in "{[" or "=" not in values[0] or " " in values[0]):
            body[name] = json.loads(values[0]) if values[0][:1] in "{[" else values[0]
        else:
            return None
    return {"operation": camel(words[2]), "body": body}


def of_curl(words):
    """The request of `curl [-X METHOD] [-d BODY] ADDRESS` of an endpoint, or None."""
    asked, i = {}, 1
    while i < len(words):
        if words[i] in ("-X", "-d") and i + 1 < len(words):
            asked[words[i]] = words[i + 1]
            i += 1
        elif address := ENDPOINT.fullmatch(words[i]):
            asked["path"] = address.group(1)
        elif words[i] != "-f":
            return None
        i += 1
    if "path" not in asked:
        return None
    request = {"method": asked.get("-X", "POST" if "-d" in asked else "GET"), "path": asked["path"]}
    return {**request, "body": json.loads(asked["-d"])} if "-d" in asked else request


def requests(block):
    """Those that the block consists of, with what they need before; none where it has anything else."""
    found = []
    if block.reason or block.language not in ("", "sh", "console", "bash") or not re.match(r"(curl|aws) ", block.text):
        return []
    try:
        for _, words in commands(block.text):
            request = of_curl(words) if words[0] == "curl" else of_aws(words) if words[:2] == ["aws", "dynamodb"] else None
            if not request:
                return []
            found.append(request)
    except ValueError:  # "..." in place of something
        return []
    wants_orders = re.search(r'--table-name orders\b|"orders"', block.text) and not any(request.get("operation") == "CreateTable" for request in found)
    return [ORDERS] * bool(wants_orders) + found


def as_fragment(steps):
    """Of the playground's address: see docs/play/play.js."""
    return "run=" + base64.urlsafe_b64encode(json.dumps(steps, separators=(",", ":")).encode()).decode().rstrip("=")
