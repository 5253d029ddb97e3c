"""Transfers that break: each client of ours against each way in which an answer is not whole. It says so, in time, and counts nothing of it."""
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading

from broken import SPOILS, STALLS, Between, head
from harness import BINARY, Server, key, raises, run, until
from listener import Listener

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"))
PK = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": key("pk"), "BillingMode": "PAY_PER_REQUEST"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_tables", "arguments": {}}}


def dynalith(*words, text=None):
    done = subprocess.run([BINARY, *map(str, words)], input=text, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def asks(*words):
    """A command, and what is wrong with its output where an answer is broken: it must fail, say why, and leave nothing behind."""
    def command(url, *more):
        folder = FOLDER / "target"
        folder.mkdir()
        filled = [str(word).replace("URL", url).replace("PORT", url.rpartition(":")[2]).replace("TARGET", str(folder / "file")) for word in words]
        status, out, problem = dynalith(*filled, *more)
        left = [path.name for path in folder.iterdir()]
        shutil.rmtree(folder)
        return status, problem, left
    return command


def mcp(url, *more):
    _, out, _ = dynalith("mcp", "--endpoint", url, *more, text=json.dumps(CALL) + "\n")
    result = json.loads(out)["result"]
    return int(result["isError"]), result["content"][0]["text"], []


def commands():
    """The commands that ask a server, with what they need."""
    recording, seed = FOLDER / "recording", FOLDER / "seed.json"
    lines = [{"start_us": 10 * i, "end_us": 10 * i + 1, "operation": "ListTables", "status": 200, "request": {}, "response": {"TableNames": ["app"]}} for i in range(3)]
    recording.write_text("".join(json.dumps(line) + "\n" for line in [{"dynalith_recording": 1, "values": "open"}, *lines]))
    (FOLDER / "app.json").write_text("\n".join(json.dumps({"pk": {"S": str(i)}}) for i in range(3)))
    return {
        "apply": asks("apply", FOLDER / "app.json", "--endpoint", "URL", "--table", "app"), "backup": asks("backup", "URL", "TARGET"), "check": asks("check", "URL"),
        "copy": asks("copy", "--from", "URL", "--to", "sqlite:TARGET"), "dump": asks("dump", "URL", "TARGET"), "health": asks("health", "--port", "PORT"),
        "load": asks("load", "URL", FOLDER / "dump"), "mcp": mcp, "replay": asks("replay", recording, "--endpoint", "URL"),
        "report": asks("report", "URL", "--output", "TARGET"),
    }


def walk(ways, *more):
    server = Server("--insight", "on", disk=True)
    client = server.client()
    client.create_table(TableName="app", **PK)
    client.put_item(TableName="app", Item={"pk": {"S": "0"}})
    (FOLDER / "dump").unlink(missing_ok=True)
    assert dynalith("dump", server.url, FOLDER / "dump")[0] == 0
    between = Between(server.url)
    for name, command in commands().items():
        between.spoil_with(None)
        status, problem, _ = command(between.url)
        assert status == 0, (name, problem)
        # A backup whose first answer is lost cannot end what it began: the server does, after 10 s. What the first request of a load comes to does not matter.
        first = name in ("backup", "copy", "load")
        places = range(first, between.count)
        for i, (way, (spoil, words)) in enumerate(ways.items()):
            at = places[i % len(places)]
            between.spoil_with(spoil, at)
            status, problem, left = command(between.url, *more)
            assert status != 0 and words in problem and not left, (name, way, at, status, problem, left)
    server.stop()


def every_command_fails_where_an_answer_is_broken():
    walk(SPOILS)


def every_command_gives_up_what_does_not_go_on():
    walk(STALLS, "--timeout", "0.5")


def nothing_listens():
    """Connections that are never accepted: the queue of the listener is full."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = []
        while True:
            waiting.append(socket.socket())
            waiting[-1].settimeout(0.3)
            try:
                waiting[-1].connect(full.getsockname())
            except TimeoutError:
                break
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        (FOLDER / "dump").write_bytes(b"")
        for name, command in commands().items():
            status, problem, left = command(url, "--timeout", "0.2")
            assert status != 0 and not left and ("cannot connect" in problem or name == "load"), (name, problem)


def the_end_of_tls_is_told():
    """Over TLS the end of the connection ends an answer only where TLS says so: anybody on the way can cut a connection."""
    cert, private = str(FOLDER / "cert"), str(FOLDER / "key")
    subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-keyout", private, "-out", cert, "-days", "30", "-subj", "/CN=x"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, private)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)

        def serve(is_told):
            connection, _ = listener.accept()
            connection = context.wrap_socket(connection, server_side=True)
            connection.recv(65536)
            connection.sendall(head(200) + b"{}")
            if is_told:
                try:
                    connection.unwrap()
                except OSError:
                    pass
            connection.close()

        for is_told in (True, False):
            thread = threading.Thread(target=serve, args=(is_told,))
            thread.start()
            status, _, problem = dynalith("report", f"https://127.0.0.1:{listener.getsockname()[1]}")
            thread.join()
            assert status == 1 and ("no access patterns" if is_told else "cut off") in problem, (is_told, problem)


class Bucket(Listener):
    """Three items in two objects, each a page of the listing; or what `pages` gives for a token."""

    protocol = "HTTP/1.1"
    objects = {"a": b'{"Item":{"pk":{"S":"1"}}}\n{"Item":{"pk":{"S":"2"}}}\n', "b": b'{"Item":{"pk":{"S":"3"}}}\n'}

    def __init__(self, pages=None):
        self.pages, self.asked = pages or self.page, 0
        super().__init__()

    def page(self, token):
        name, more = ("b", "") if token else ("a", "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>")
        return f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{more}{self.object(name, len(self.objects[name]))}</ListBucketResult>'

    @staticmethod
    def object(name, size):
        return f"<Contents><Key>{name}</Key><ETag>&quot;{name}{size}&quot;</ETag><Size>{size}</Size></Contents>"

    def respond(self, request, body):
        path, _, query = request.path.partition("?")
        self.asked += 1
        if query:
            token = re.search(r"continuation-token=([^&]*)", query)
            return 200, {}, self.pages(token[1] if token else "").encode()
        text = self.objects[path.rpartition("/")[2]]
        assert request.headers["If-Match"].startswith('"')
        return 206, {"Content-Range": f"bytes 0-{len(text) - 1}/{len(text)}"}, text


def imported(client, name):
    made = client.import_table(S3BucketSource={"S3Bucket": "bucket"}, InputFormat="DYNAMODB_JSON", TableCreationParameters={"TableName": name, **PK})
    describe = lambda: client.describe_import(ImportArn=made["ImportTableDescription"]["ImportArn"])["ImportTableDescription"]
    until(lambda: describe()["ImportStatus"] != "IN_PROGRESS", "the import ends")
    return describe()


def failed(client, name):
    """The reason of an import that must fail."""
    done = imported(client, name)
    assert done["ImportStatus"] == "FAILED", done
    raises("ResourceNotFoundException", client.describe_table, TableName=name)
    return done["FailureMessage"]


def an_import_is_whole_or_fails():
    """What breaks once is asked for again; what stays broken fails, with the reason. Nothing is counted twice, or not at all."""
    between = Between(Bucket().url)
    server = Server("--log-level", "error", "--s3", between.url)
    client = server.client()
    for i, (way, (spoil, _)) in enumerate(SPOILS.items()):
        between.spoil_with(spoil, i % 4)
        done = imported(client, f"table{i}")
        assert (done["ImportStatus"], done["ProcessedItemCount"], done["ImportedItemCount"]) == ("COMPLETED", 3, 3), (way, done)
        assert client.scan(TableName=f"table{i}")["Count"] == 3, way
    for way, at in (("half of its length", 1), ("no last chunk", 2)):  # a page of the listing; an object
        spoil, words = SPOILS[way]
        between.spoil_with(spoil, at, times=100)
        assert words in failed(client, "broken"), way
    server.stop()


def an_object_is_the_one_that_was_listed():
    for change in ({"Content-Range": "bytes 0-51/99"}, {"Content-Range": "bytes 1-52/52"}, {"Content-Range": "nonsense"}, {}):
        class Changed(Bucket):
            def respond(self, request, body, change=change):
                status, headers, text = super().respond(request, body)
                return status, change if status == 206 else headers, text

        server = Server("--log-level", "error", "--s3", Changed().url)
        assert "PreconditionFailed" in failed(server.client(), "broken"), change
        server.stop()


def a_listing_has_an_end():
    """Its pages, its objects and its memory are bounded, and tokens that come again are found."""
    def following(*tokens):
        return lambda token: ("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>" +
                              (tokens[(tokens.index(token) + 1) % len(tokens)] if token in tokens else tokens[0]) + "</NextContinuationToken></ListBucketResult>")

    thousand = "".join(Bucket.object(f"{'k' * 900}{i}", 1) for i in range(1000))
    more = "<ListBucketResult><IsTruncated>true</IsTruncated>{}<NextContinuationToken>{}</NextContinuationToken></ListBucketResult>"
    for pages, words, requests in (
            (following("a"), "it has no end", 3), (following("a", "b", "c"), "it has no end", 12),
            (lambda token: more.format(thousand, int(token or 0) + 1), "more than 50000 objects", 51),
            (lambda token: "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "what comes behind it", 1),
            (lambda token: "<ListBucketResult>" + Bucket.object("a", 5), "a page has no end", 1),
            (lambda token: f"<ListBucketResult>{Bucket.object('a', 'x')}</ListBucketResult>", "no key or no size", 1),
            (lambda token: f"<ListBucketResult>{Bucket.object('k' * 1025, 5)}</ListBucketResult>", "no key or no size", 1),
            (lambda token: "x" * (17 << 20), "too large", 4)):
        bucket = Bucket(pages)
        server = Server("--log-level", "error", "--s3", bucket.url)
        assert words in failed(server.client(), "endless") and bucket.asked <= requests, (words, bucket.asked)
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", open(f"/proc/{server.process.pid}/status").read())[1])
        assert peak < 400_000, (words, peak)  # one page, and 50,000 names of 900 bytes
        server.stop()


class Taker(Listener):
    """Kinesis, or a function: it takes every record. What it answers does not get through."""

    def __init__(self):
        self.bodies = []
        super().__init__()

    def respond(self, request, body):
        asked = json.loads(body)
        if "Records" not in asked:  # whether the stream is there
            return 200, {}, b"{}"
        self.bodies.append(asked)
        return 200, {}, json.dumps({"FailedRecordCount": 0, "Records": [{"SequenceNumber": "1", "ShardId": "s"} for _ in asked["Records"]]}).encode()


def records_are_sent_until_an_answer_is_whole():
    for kind in "trigger", "kinesis":
        taker = Taker()
        between = Between(taker.url)
        flags = ["--trigger", f"app={between.url}/f"] if kind == "trigger" else ["--kinesis", between.url, "--kinesis-credentials", "AKID:hidden"]
        server = Server("--log-level", "error", *flags)
        client = server.client()
        client.create_table(TableName="app", **PK, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        if kind == "kinesis":
            client.enable_kinesis_streaming_destination(TableName="app", StreamArn="arn:aws:kinesis:us-east-1:000000000000:stream/changes")
            client.put_item(TableName="app", Item={"pk": {"S": "first"}})
            until(lambda: taker.bodies, kind)
        for i, (way, (spoil, _)) in enumerate(list(SPOILS.items())[::1 if kind == "trigger" else 4]):
            between.spoil_with(spoil)
            taker.bodies.clear()
            client.put_item(TableName="app", Item={"pk": {"S": str(i)}})
            until(lambda: between.count >= 2 and len(taker.bodies) >= 2, (kind, way))
            assert taker.bodies[0] == taker.bodies[1], (kind, way, taker.bodies)
        server.stop()


try:
    run("broken", [every_command_fails_where_an_answer_is_broken, every_command_gives_up_what_does_not_go_on, nothing_listens, the_end_of_tls_is_told,
                   an_import_is_whole_or_fails, an_object_is_the_one_that_was_listed, a_listing_has_an_end, records_are_sent_until_an_answer_is_whole])
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
