"""`dynalith pull`: tables of another server in a new file, masked while they are read; killed and run again; from exports, with changes behind; refused where a mask has gaps or makes keys equal."""
import base64
import contextlib
import gzip
import hashlib
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import botocore.auth
import botocore.credentials

from harness import BINARY, Server, run, sizes_in
from listener import Listener, is_signed

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-pull-"))
RULES = [
    {"path": "PK", "action": "template", "template": "USER#<fake>"},
    {"path": "SK", "action": "template", "template": ["PROFILE", "ORDER#<keep>#<fake>"]},
    {"path": "user", "action": "fake"},
    {"path": "email", "action": "fake"},
    {"path": "born", "action": "shift", "days": 300},
    {"path": "card", "action": "fake"},
    {"path": "contact", "action": "fake"},
    {"path": "payload", "action": "keep"},
    {"path": "payload.name", "action": "fake"},
    {"path": "names[]", "action": "fake"},
    {"path": "photo", "action": "fake"},
    {"path": "note", "action": "drop"},
    {"path": "total", "action": "keep"},
]


def pull(server, target, *words, rules=RULES, secret="secret", wait=True, url=None, variables={}):
    mask = FOLDER / "mask.json"
    mask.write_text(json.dumps({"rules": rules}))
    command = [BINARY, "pull", "--endpoint", url or server.url, "--to", target, "--mask", mask, "--table", "app", "--yes", *words]
    env = {**os.environ, "DYNALITH_MASK_SECRET": secret, **variables}
    if not wait:
        return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


def filled(users=40, orders=3, filler=""):
    server = Server()
    return server, fill_app(server, users, orders, filler)


def fill_app(server, users, orders=3, filler=""):
    client = server.client()
    client.create_table(
        TableName="app", BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "email")],
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[{"IndexName": "mail", "KeySchema": [{"AttributeName": "email", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}])
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
    for i in range(users):
        name = f"person{i:04}"
        client.put_item(TableName="app", Item={
            "PK": {"S": f"USER#{name}"}, "SK": {"S": "PROFILE"}, "user": {"S": name}, "email": {"S": f"{name}@mailhost.example"},
            "born": {"S": f"19{50 + i % 50}-02-03"}, "card": {"S": "4111111111111111"},
            "contact": {"M": {"phones": {"L": [{"S": f"+49 170 {7654321 + i}"}]}, "zip": {"N": f"{10115 + i}"}}},
            "payload": {"S": json.dumps({"name": name, "n": 1.50})}, "names": {"SS": [name, f"other{i:04}"]},
            "photo": {"B": f"portrait of {name}".encode()}, "note": {"S": f"secret words of {name}"}})
        for j in range(orders):
            client.put_item(TableName="app", Item={"PK": {"S": f"USER#{name}"}, "SK": {"S": f"ORDER#{j}#{name}"}, "user": {"S": name},
                                                   "total": {"N": "12.50"}, **({"payload": {"S": filler}} if filler else {})})
    return client


def items_of(path):
    server = Server("--db-path", str(path))
    client = server.client()
    items = [item for page in client.get_paginator("scan").paginate(TableName="app") for item in page["Items"]]
    return items, client, server


def masked_and_joined():
    server, _ = filled()
    target = FOLDER / "dev.db"
    done = pull(server, target)
    assert done.returncode == 0 and "app: 160 items" in done.stdout and "read units" in done.stdout and ": none is there" in done.stdout and not done.stderr, done
    assert sorted(path.name for path in FOLDER.iterdir()) == ["dev.db", "mask.json"]
    data = target.read_bytes()
    for i in range(40):
        for original in (f"person{i:04}", f"other{i:04}", f"{7654321 + i}"):
            assert original.encode() not in data, original
    for original in (b"mailhost", b"4111111111111111", b"portrait", b"secret words"):
        assert original not in data, original
    items, client, _ = items_of(target)
    profiles = [item for item in items if item["SK"]["S"] == "PROFILE"]
    assert len(items) == 160 and len(profiles) == 40 and len({item["user"]["S"] for item in items}) == 40
    for item in profiles:
        name = item["user"]["S"]
        assert item["PK"]["S"] == f"USER#{name}" and json.loads(item["payload"]["S"]) == {"name": name, "n": 1.5} and name in item["names"]["SS"], item
        assert item["email"]["S"].startswith(f"{name}@") and "note" not in item and item["contact"]["M"]["phones"]["L"][0]["S"].startswith("+")
        orders = client.query(TableName="app", KeyConditionExpression="PK = :p AND begins_with(SK, :o)",
                              ExpressionAttributeValues={":p": item["PK"], ":o": {"S": "ORDER#"}})["Items"]
        assert len(orders) == 3 and all(order["SK"]["S"].endswith(f"#{name}") and order["total"] == {"N": "12.5"} for order in orders), orders
        found = client.query(TableName="app", IndexName="mail", KeyConditionExpression="email = :e", ExpressionAttributeValues={":e": item["email"]})
        assert found["Count"] == 1, found
    assert client.list_tables()["TableNames"] == ["app"]
    assert client.describe_time_to_live(TableName="app")["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    again, other = FOLDER / "again.db", FOLDER / "another.db"
    assert pull(server, again).returncode == 0 and pull(server, other, secret="other").returncode == 0
    key = lambda item: (item["PK"]["S"], item["SK"]["S"])
    assert sorted(items_of(again)[0], key=key) == sorted(items, key=key)
    assert not {item["PK"]["S"] for item in items_of(other)[0]} & {item["PK"]["S"] for item in items}
    assert pull(server, target).returncode == 1, "a file of that name is there"


def refused():
    server, client = filled(users=2)
    target = FOLDER / "refused.db"
    done = pull(server, target, rules=[rule for rule in RULES if rule["path"] not in ("contact", "names[]")])
    assert done.returncode == 1 and "app: contact.phones[]: 2 values" in done.stderr and "app: names[]: 2 values" in done.stderr, done
    done = pull(server, target, rules=[{"path": "*", "action": "keep"}, {"path": "user", "action": "fake"}])
    assert done.returncode == 1 and "2 originals of masked values stand in attributes that the mask keeps" in done.stderr, done
    equal = [{"path": "*", "action": "keep"}, {"path": "PK", "action": "redact"}, {"path": "SK", "action": "bucket", "size": 5}]
    done = pull(server, target, rules=equal)
    assert done.returncode == 1 and "app: " in done.stderr, done
    done = pull(server, target, rules=[{"path": "PK", "action": "drop"}, {"path": "*", "action": "keep"}])
    assert done.returncode == 1 and "cannot be written" in done.stderr, done
    done = pull(server, target, rules=[{"path": "PK", "action": "hide"}])
    assert done.returncode == 2 and f"{FOLDER}/mask.json:1: rule 1: " in done.stderr, done
    client.delete_table(TableName="app")
    done = pull(server, target)
    assert done.returncode == 1 and "ResourceNotFoundException" in done.stderr, done
    assert not list(FOLDER.glob("refused.db*")), list(FOLDER.iterdir())
    server, _ = filled(users=1)
    done = pull(server, target, rules=[*RULES, {"path": "never", "action": "keep"}])
    assert done.returncode == 0 and 'the rule for "never" matched nothing' in done.stderr, done


def equal_keys_far_apart():
    """Two keys that the mask makes equal, in two batches: no batch can refuse them, the count of the file does."""
    server = Server()
    client = server.client()
    client.create_table(TableName="app", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
                        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}])
    order = lambda: [item["n"]["N"] for item in client.scan(TableName="app")["Items"]]
    for n in range(0, 900, 10):
        client.put_item(TableName="app", Item={"n": {"N": str(n)}})
    first = order()[0]
    for n in range(int(first) + 1, int(first) + 10):
        client.put_item(TableName="app", Item={"n": {"N": str(n)}})
        if order().index(str(n)) - order().index(first) > 25:
            break
        client.delete_item(TableName="app", Key={"n": {"N": str(n)}})
    assert len(order()) == 91
    done = pull(server, FOLDER / "equal.db", "--segments", "1", rules=[{"path": "n", "action": "bucket", "size": 10}])
    assert done.returncode == 1 and "the mask makes keys equal: 91 items were read, 90 differ" in done.stderr, done
    assert not list(FOLDER.glob("equal.db*")), list(FOLDER.iterdir())


def killed_and_run_again():
    server, client = filled(users=60, orders=10, filler=json.dumps({"name": "x", "filler": "f" * 9000}))
    target = FOLDER / "killed.db"
    size = lambda: sum(size for name, size in sizes_in(FOLDER).items() if name in ("killed.db.pull", "killed.db.pull-wal"))
    kills = 0
    while kills < 6:  # the first time before a page is whole, so that some items are there and no key
        before = size()
        process = pull(server, target, "--max-units", "400", "--segments", str(1 + kills % 2 * 3), wait=False)
        while process.poll() is None and size() < before + 300_000:
            pass  # no sleep: a page is written within milliseconds
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        assert not target.exists()
    assert kills > 0
    if not target.exists():
        done = pull(server, target, secret="another")
        assert done.returncode == 1 and "another mask or secret" in done.stderr, done
        done = pull(server, target, "--max-units", "100000", "--segments", "64")
        assert done.returncode == 0 and "app: 660 items" in done.stdout, done
    once = FOLDER / "once.db"
    assert pull(server, once, "--max-units", "100000", "--segments", "7").returncode == 0
    key = lambda item: (item["PK"]["S"], item["SK"]["S"])
    assert sorted(items_of(target)[0], key=key) == sorted(items_of(once)[0], key=key)
    assert not list(FOLDER.glob("*.pull*")), list(FOLDER.iterdir())


class Front(http.server.BaseHTTPRequestHandler):
    """Hands requests on to a server; what stands in front of it as AWS would: keys, tokens that grow old, throttling."""
    protocol_version = "HTTP/1.1"
    server_url, seen, before = None, [], None

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Authorization"].split("Credential=")[1].split("/")[0]
        operation = self.headers["X-Amz-Target"].split(".")[1]
        Front.seen.append((operation, key, self.headers["X-Amz-Security-Token"]))
        problem = Front.before and Front.before(operation, key)
        if problem:
            status, answer = 400, json.dumps({"__type": f"com.amazon.coral.service#{problem}", "message": "as a test wants it"}).encode()
        else:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "content-length", "connection")}
            try:
                reply = urllib.request.urlopen(urllib.request.Request(Front.server_url, body, headers))
            except urllib.error.HTTPError as error:
                reply = error
            with reply:
                status, answer = reply.status, reply.read()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def front(server, before=None):
    Front.server_url, Front.seen, Front.before = server.url, [], before
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Front)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{proxy.server_port}"
    proxy.shutdown()
    proxy.server_close()


def credentials():
    server, _ = filled(users=40, filler=json.dumps({"name": "x", "filler": "f" * 30000}))
    home = FOLDER / "home"
    (home / ".aws").mkdir(parents=True)
    printer = home / "aws"
    # as the AWS CLI does; each time other keys
    printer.write_text(f"#!/bin/sh\necho \"$@\" >> {home}/calls\nn=$(wc -l < {home}/calls)\n"
                       "echo '{\"Version\": 1, \"AccessKeyId\": \"printed'$n'\", \"SecretAccessKey\": \"s\", \"SessionToken\": \"t'$n'\"}'\n")
    printer.chmod(0o755)
    (home / ".aws/config").write_text(f"[default]\nregion = eu-west-1\n[profile process]\ncredential_process = {printer} keys\n"
                                      "[profile sso]\nsso_session = home\ns3 =\n  region = nowhere\n[profile bare]\nregion = eu-west-1\n"
                                      "[profile broken]\ncredential_process = false\n")
    (home / ".aws/credentials").write_text("# keys\n[work]\naws_access_key_id = workkey\naws_secret_access_key=worksecret\naws_session_token = worktoken\n")

    def pull_as(url, name, *words, **variables):
        env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        env |= {"HOME": str(home), "PATH": f"{home}:{env['PATH']}", "DYNALITH_MASK_SECRET": "secret", **variables}
        return subprocess.run([BINARY, "pull", "--table", "app", "--endpoint", url, "--to", FOLDER / name, "--mask", FOLDER / "mask.json", "--yes",
                               "--max-units", "100000", *words], env=env, capture_output=True, text=True, timeout=120)

    (FOLDER / "mask.json").write_text(json.dumps({"rules": RULES}))
    with front(server) as url:
        assert pull_as(url, "work.db", AWS_PROFILE="work").returncode == 0 and set(Front.seen[0][1:]) == {"workkey", "worktoken"}, Front.seen
        Front.seen.clear()
        own = {"AWS_ACCESS_KEY_ID": "ownkey", "AWS_SECRET_ACCESS_KEY": "s"}
        assert pull_as(url, "own.db", AWS_PROFILE="work", **own).returncode == 0 and Front.seen[0][1] == "ownkey"
        Front.seen.clear()
        assert pull_as(url, "named.db", "--profile", "process", **own).returncode == 0 and Front.seen[0][1:] == ("printed1", "t1")
        for profile, told in (("none", "there is no profile none"), ("bare", "no credentials: the profile bare"), ("broken", "ended with status 1")):
            done = pull_as(url, "no.db", "--profile", profile)
            assert done.returncode == 2 and told in done.stderr, done
    scans = lambda: sum(operation == "Scan" for operation, *_ in Front.seen)
    with front(server, lambda operation, key: "ExpiredTokenException" if scans() >= 3 and key == "printed2" else None) as url:
        done = pull_as(url, "sso.db", "--profile", "sso")  # a token that is too old in the middle: the CLI is asked again
        assert done.returncode == 0 and {key for _, key, _ in Front.seen} == {"printed2", "printed3"}, (done, Front.seen)
        assert "export-credentials --format process --profile sso" in (home / "calls").read_text()
    with front(server, lambda operation, key: "ExpiredTokenException" if scans() >= 3 and key == "oldkey" else None) as url:
        keys = lambda key: {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"}
        done = pull_as(url, "old.db", **keys("oldkey"))
        assert done.returncode == 1 and "ExpiredTokenException" in done.stderr and "run it again" in done.stderr, done
        before = scans()
        assert pull_as(url, "old.db", **keys("newkey")).returncode == 0
        assert scans() - before <= 4, "what was read is not read again"
    key = lambda item: (item["PK"]["S"], item["SK"]["S"])
    assert sorted(items_of(FOLDER / "old.db")[0], key=key) == sorted(items_of(FOLDER / "sso.db")[0], key=key)


def throttled_and_denied():
    server, _ = filled(users=4)
    with front(server, lambda operation, key: "ProvisionedThroughputExceededException" if operation == "Scan" and len(Front.seen) % 3 else None) as url:
        done = pull(server, FOLDER / "throttled.db", url=url)
        assert done.returncode == 0, done
    with front(server, lambda operation, key: "AccessDeniedException" if operation == "DescribeTimeToLive" else None) as url:
        done = pull(server, FOLDER / "denied.db", url=url)
        assert done.returncode == 1 and "the right dynamodb:DescribeTimeToLive" in done.stderr, done
    with front(server, lambda operation, key: "UnknownOperationException" if operation == "ListTagsOfResource" else None) as url:
        done = pull(server, FOLDER / "local.db", url=url)  # DynamoDB Local
        assert done.returncode == 0 and "the source lists no tags" in done.stderr, done


def turn(server, **how):
    urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock", json.dumps(how).encode(), method="POST")).read()


def sorted_items(path):
    found, _, server = items_of(path)
    server.stop()
    return sorted(found, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))


def exporting(clock=1_900_000_000, **filling):
    """A server whose clock stands, with the table `app` and a bucket; export() gives the folder of an export that is ended."""
    server = Server("--s3", "s3", disk=True)
    turn(server, set=clock, freeze=True)
    client = fill_app(server, **filling)
    bucket = pathlib.Path(server.folder, "s3", "bucket")
    bucket.mkdir(parents=True)
    arn = client.describe_table(TableName="app")["Table"]["TableArn"]
    client.update_continuous_backups(TableName="app", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})

    def export(*window, view="NEW_AND_OLD_IMAGES", **more):
        if window:
            more |= {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": {"ExportFromTime": window[0], "ExportToTime": window[1], "ExportViewType": view}}
        made = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="bucket", **more)["ExportDescription"]
        while made["ExportStatus"] == "IN_PROGRESS":
            made = client.describe_export(ExportArn=made["ExportArn"])["ExportDescription"]
        assert made["ExportStatus"] == "COMPLETED", made
        return pathlib.Path(bucket, made["ExportManifest"]).parent

    return server, client, export


def rewrite(folder, name, content):
    """Other bytes for a file of an export, and the checksums that go with them."""
    md5 = lambda data: base64.b64encode(hashlib.md5(data).digest()).decode()
    (folder / "data" / name).write_bytes(content)
    files = [json.loads(line) for line in (folder / "manifest-files.json").read_text().splitlines()]
    text = "".join(json.dumps({**file, "md5Checksum": md5(content)} if file["dataFileS3Key"].endswith(name) else file) + "\n" for file in files)
    (folder / "manifest-files.json").write_text(text)
    (folder / "manifest-files.md5").write_text(md5(text.encode()))


class Bucket(Listener):
    """S3, for the objects below a folder. It checks signatures, and the token that is signed with them."""

    protocol = "HTTP/1.1"

    def __init__(self, folder):
        self.folder = folder
        self.auth = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials("akey", "secret", "token"), "s3", "us-east-1")
        super().__init__()

    def respond(self, request, body):
        url = urllib.parse.urlsplit(request.path)
        bucket, _, name = urllib.parse.unquote(url.path[1:]).partition("/")
        if request.headers.get("x-amz-security-token") != "token" or not is_signed(request, body, self.auth):
            return 403, {}, b"<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>"
        if bucket != "bucket":
            return 404, {}, b"<Error><Code>NoSuchBucket</Code><Message>no such bucket</Message></Error>"
        if not name:
            prefix = dict(urllib.parse.parse_qsl(url.query))["prefix"]
            keys = [str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()]
            found = "".join(f"<Contents><Key>{key}</Key><Size>{(self.folder / key).stat().st_size}</Size></Contents>" for key in keys if key.startswith(prefix))
            return 200, {}, f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode()
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["Range"]).groups())
        whole = (self.folder / name).read_bytes()
        return 206, {"Content-Range": f"bytes {first}-{last}/{len(whole)}"}, whole[first:last + 1]


def exported():
    server, client, export = exporting(users=30)
    folder, ion = export(), export(ExportFormat="ION")
    with front(server) as url:
        done = pull(server, FOLDER / "export.db", "--export", folder, url=url)
        assert done.returncode == 0 and "no read units" in done.stdout and "app: 120 items" in done.stdout, done
        assert {operation for operation, *_ in Front.seen} == {"DescribeTable", "DescribeTimeToLive", "ListTagsOfResource"}, Front.seen
    bucket = folder.parents[1]
    place = lambda of: f"s3://bucket/{of.relative_to(bucket)}"
    s3 = Bucket(bucket)
    signed = {"AWS_ACCESS_KEY_ID": "akey", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"}
    assert pull(server, FOLDER / "scan.db").returncode == 0
    assert pull(server, FOLDER / "ion.db", "--export", ion).returncode == 0
    done = pull(server, FOLDER / "s3.db", "--export", place(ion) + "/", "--s3", s3.url, variables=signed)
    assert done.returncode == 0, done
    assert pull(server, FOLDER / "buckets.db", "--export", place(folder), "--s3", bucket.parent).returncode == 0
    wanted = sorted_items(FOLDER / "scan.db")
    assert all(sorted_items(FOLDER / f"{name}.db") == wanted for name in ("export", "ion", "s3", "buckets"))
    data = sorted((folder / "data").iterdir())[0]
    name, whole = data.name, data.read_bytes()
    lines = gzip.decompress(whole).decode().splitlines()
    assert len(lines) > 1

    def refused(told, *more):
        done = pull(server, FOLDER / "broken.db", "--export", folder, *more)
        assert done.returncode == 1 and told in done.stderr and not (FOLDER / "broken.db").exists(), done

    data.write_bytes(whole[:-20])
    refused(f"data/{name}: its MD5 is not the one in the manifest")
    for broken, told in ((whole[:-20], f"{name}:1: it is no gzip, or ends within it"), (gzip.compress(f'{lines[0]}\n{{"Itm": {{}}}}\n'.encode()), f"{name}:2: The record has no Item"),
                         (gzip.compress(f"{lines[0]}\nno JSON\n".encode()), f"{name}:2: The line is no JSON"), (gzip.compress(lines[0].encode()), f"it has 1 records, the manifest says {len(lines)}")):
        rewrite(folder, name, broken)
        refused(told)
    rewrite(folder, name, whole)
    assert pull(server, FOLDER / "broken.db", "--export", folder).returncode == 0, "it goes on when the file is whole"
    (FOLDER / "broken.db").unlink()
    data.unlink()
    refused(f"data/{name}: it is missing")
    rewrite(folder, name, whole)
    files = (folder / "manifest-files.json").read_text()
    (folder / "manifest-files.json").write_text(files.replace('"itemCount":', '"itemCount": 1'))
    refused("manifest-files.json: it is not what its checksum")
    (folder / "manifest-files.json").write_text(files)
    (folder / "manifest-summary.md5").unlink()
    refused("manifest-summary.md5: it is missing")
    done = pull(server, FOLDER / "no.db", "--export", place(folder), "--s3", s3.url, variables=signed | {"AWS_SESSION_TOKEN": "old"})
    assert done.returncode == 1 and "manifest-summary.json: SignatureDoesNotMatch" in done.stderr, done
    for where, told in (("s3://nowhere/x", "NoSuchBucket"), ("s3://bucket", "wanted a folder, or s3://BUCKET/KEY"), ("s3://bucket/x", "x/manifest-summary.json: NoSuchKey")):
        done = pull(server, FOLDER / "no.db", "--export", where, "--s3", s3.url, variables=signed)
        assert done.returncode == 1 and told in done.stderr, done
    server.stop()


def changed(client, first):
    """Items that come, change, move in an index and go."""
    for i in range(first, first + 3):
        name, new = f"person{i:04}", f"newbie{i:04}"
        client.put_item(TableName="app", Item={"PK": {"S": f"USER#{new}"}, "SK": {"S": "PROFILE"}, "user": {"S": new}, "email": {"S": f"{new}@mailhost.example"}})
        client.update_item(TableName="app", Key={"PK": {"S": f"USER#{name}"}, "SK": {"S": "PROFILE"}}, UpdateExpression="SET email = :e",
                           ExpressionAttributeValues={":e": {"S": f"moved{i}@mailhost.example"}})
        client.delete_item(TableName="app", Key={"PK": {"S": f"USER#{name}"}, "SK": {"S": f"ORDER#1#{name}"}})


def changes_are_applied():
    server, client, export = exporting(users=20)
    start = 1_900_000_000
    full = export()
    turn(server, advance="1h")
    changed(client, 0)
    turn(server, advance="1h")
    one = export(start, start + 5400)
    changed(client, 10)
    client.put_item(TableName="app", Item={"PK": {"S": "USER#newbie0000"}, "SK": {"S": "PROFILE"}, "user": {"S": "newbie0000"}})
    client.delete_item(TableName="app", Key={"PK": {"S": "USER#newbie0001"}, "SK": {"S": "PROFILE"}})
    turn(server, advance="1h")
    two = export(start + 5400, start + 10800, view="NEW_IMAGE", ExportFormat="ION")
    target, once = FOLDER / "base.db", FOLDER / "chain.db"
    chain = [word for folder in (full, one, two) for word in ("--export", folder)]
    done = pull(server, once, *chain)
    assert done.returncode == 0 and "app: 80 items\n" in done.stdout and "app: 13 items put and 7 deleted by changes until 2030-03-17T20:46:40.000Z" in done.stdout, done
    assert pull(server, FOLDER / "end.db").returncode == 0
    assert pull(server, target, "--export", full).returncode == 0
    untouched = target.read_bytes()

    def refused(told, *words, to=target, **more):
        before = to.read_bytes() if to.exists() else None
        done = pull(server, to, *words, **more)
        assert done.returncode == 1 and told in done.stderr and (to.read_bytes() if to.exists() else None) == before, done
        assert not list(FOLDER.glob(f"{to.name}.pull*")), list(FOLDER.iterdir())

    refused("an export between them is missing", "--export", two)
    refused("give exports in their order", "--export", one, "--export", one, "--export", full.parent / export(start, start + 3600).name)
    refused("it must come first", "--export", one, "--export", full)
    refused("another secret, mask or choice", "--export", one, secret="another")
    refused("another secret, mask or choice", "--export", one, "--only", "SK=PROFILE")
    refused("another secret, mask or choice", "--export", one, rules=[{"path": "*", "action": "keep"}])
    refused("was pulled before", "--export", one, to=FOLDER / "none.db")
    refused("File exists", "--export", full)
    when = [{"path": "PK", "action": "redact", "when": {"user": "nobody*"}}, *RULES]
    assert pull(server, FOLDER / "when.db", "--export", full, rules=when).returncode == 0
    assert pull(server, FOLDER / "when.db", "--export", one, rules=when).returncode == 0
    refused("export NEW_AND_OLD_IMAGES", "--export", two, to=FOLDER / "when.db", rules=when)
    equal = [{"path": "PK", "action": "template", "template": ["USER#person<fake>", "<redact>"]}, *RULES[1:]]
    assert pull(server, FOLDER / "equal.db", "--export", full, rules=equal).returncode == 0
    refused("makes keys of the table app equal", "--export", one, to=FOLDER / "equal.db", rules=equal)
    summary = json.loads((one / "manifest-summary.json").read_text())
    other = one.parent / "other"
    other.mkdir()
    for change, told in (({"tableArn": summary["tableArn"] + "2"}, "an export of the table app2, not of app"), ({"tableId": "x"}, "another table that was called app")):
        text = json.dumps({**summary, **change})
        (other / "manifest-summary.json").write_text(text)
        (other / "manifest-summary.md5").write_text(base64.b64encode(hashlib.md5(text.encode()).digest()).decode())
        for kind in ("json", "md5"):
            (other / f"manifest-files.{kind}").write_bytes((one / f"manifest-files.{kind}").read_bytes())
        refused(told, "--export", other)
    held = Server("--db-path", str(target))
    refused("", "--export", one)
    held.stop()
    assert target.read_bytes() == untouched
    (FOLDER / "base.db.pull").write_text("left of a run that was killed")
    for export_of, put, gone in ((one, 6, 3), (two, 7, 4)):
        done = pull(server, target, "--export", export_of)
        assert done.returncode == 0 and f"app: {put} items put and {gone} deleted" in done.stdout and "none is there" in done.stdout, done
    wanted = sorted_items(FOLDER / "end.db")
    assert len(wanted) == 79 and sorted_items(once) == wanted and sorted_items(target) == wanted
    assert not [name for i in range(20) for name in (f"person{i:04}", f"newbie{i:04}", "mailhost") if name.encode() in target.read_bytes()]
    beside = {path.name for path in FOLDER.glob("base.db*")} - {"base.db-reserve"}  # of the server that showed its items
    assert beside == {"base.db"}, beside
    # a choice is the same one: what is chosen no more goes
    only = ("--only", "email=person*")
    assert pull(server, FOLDER / "only.db", *chain, *only).returncode == 0 and pull(server, FOLDER / "only2.db", *only).returncode == 0
    assert sorted_items(FOLDER / "only.db") == sorted_items(FOLDER / "only2.db") != []
    server.stop()


def changes_after_a_scan():
    """The table is read by Scan, at the machine's time: the window lies around that."""
    now = int(time.time())
    server, client, export = exporting(users=3, clock=now - 7200)
    target = FOLDER / "scanned.db"
    assert pull(server, target).returncode == 0
    turn(server, set=now, freeze=True)
    changed(client, 0)
    turn(server, set=now + 7200, freeze=True)
    late, early, around = (export(at, at + 3600) for at in (now + 1800, now - 7200, now - 1800))
    for window, told in ((late, "an export between them is missing"), (early, "give exports in their order")):
        done = pull(server, target, "--export", window)
        assert done.returncode == 1 and told in done.stderr, done
    assert pull(server, target, "--export", around).returncode == 0
    assert pull(server, FOLDER / "scanned2.db").returncode == 0
    assert sorted_items(target) == sorted_items(FOLDER / "scanned2.db")
    server.stop()


def chosen():
    server, client = filled(users=30, orders=4)
    keep = [{"path": "*", "action": "keep"}]
    client.create_table(TableName="people", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
    for i in range(30):
        client.put_item(TableName="people", Item={"id": {"S": f"person{i:04}"}, "number": {"N": str(i)}})

    def pulled(name, *words, rules=keep, table="app", **more):
        done = pull(server, FOLDER / name, "--max-units", "100000", *words, rules=rules, **more)
        assert done.returncode == 0, done
        opened = Server("--db-path", str(FOLDER / name)).client()
        return opened.scan(TableName=table)["Items"], opened

    keys = lambda items: sorted((item["PK"]["S"], item["SK"]["S"]) for item in items)
    whole = client.scan(TableName="app")["Items"]
    # an entity, by a pattern; a partition, by a Query that reads nothing else
    items, _ = pulled("entity.db", "--only", "SK=ORDER#*", "--only", "PK=USER#person000*")
    assert keys(items) == keys(item for item in whole if item["SK"]["S"].startswith("ORDER#") and item["PK"]["S"] < "USER#person001"), items
    with front(server) as url:
        items, _ = pulled("partition.db", "--only", "PK=USER#person0007", url=url)
        assert len(items) == 5 and {operation for operation, *_ in Front.seen} >= {"Query"} and "Scan" not in {operation for operation, *_ in Front.seen}, Front.seen
    # a sample: whole partitions, the same ones in each pull of one secret
    items, _ = pulled("sample.db", "--sample", "30%")
    partitions = {item["PK"]["S"] for item in items}
    assert 0 < len(partitions) < 30 and keys(items) == keys(item for item in whole if item["PK"]["S"] in partitions)
    assert keys(pulled("sample2.db", "--sample", "30%", "--segments", "1")[0]) == keys(items)
    assert keys(pulled("sample3.db", "--sample", "30%", secret="other")[0]) != keys(items)
    # what the sample points at, masked as well: a partition of another table, and back by a text around it
    both = ("--sample", "30%", "--table", "people", "--follow", "user=people", "--follow", "id=app:USER#<key>")
    rules = [*RULES, {"path": "id", "table": "people", "action": "fake"}, {"path": "number", "action": "keep"}]
    items, opened = pulled("follow.db", *both, rules=rules)
    people = {item["id"]["S"] for item in opened.scan(TableName="people")["Items"]}
    assert len({item["PK"]["S"] for item in items}) >= len(partitions) and {item["user"]["S"] for item in items} <= people, (items, people)
    assert all(sum(item["PK"]["S"] == f"USER#{name}" for item in items) == 5 for name in {item["user"]["S"] for item in items})
    for words in (("--sample", "30"), ("--sample", "0%"), ("--only", "PK"), ("--follow", "user"), ("--segments", "65")):
        assert pull(server, FOLDER / "no.db", *words).returncode == 2, words
    done = pull(server, FOLDER / "no.db", "--follow", "user=nowhere")
    assert done.returncode == 2 and "nowhere" in done.stderr, done


run("pull", [masked_and_joined, refused, equal_keys_far_apart, killed_and_run_again, credentials, throttled_and_denied, exported, changes_are_applied, changes_after_a_scan, chosen])
