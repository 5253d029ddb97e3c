"""TLS: certificates made here by openssl; SDKs and clients that insist on https, clients that stall, and certificates that change under load."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, SSLError

import raw
from harness import BINARY, LINKS, ROOT, Server, create_app, run, until

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-tls-"))
NAMES = "subjectAltName=DNS:localhost,DNS:db.example,IP:127.0.0.1,IP:::1"
QUICK = Config(retries={"max_attempts": 1}, max_pool_connections=40)


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def pair(name, kind=("rsa:2048",), *more):
    """A certificate that vouches for itself, and its key."""
    cert, key = str(FOLDER / f"{name}.crt"), str(FOLDER / f"{name}.key")
    options = ["-newkey", kind[0], *(o for k in kind[1:] for o in ("-pkeyopt", k))]
    openssl("req", "-x509", "-nodes", *options, "-keyout", key, "-out", cert, "-days", "30", "-subj", f"/CN={name}", "-addext", NAMES, *more)
    return cert, key


def expired(name):
    cert, key = str(FOLDER / f"{name}.crt"), str(FOLDER / f"{name}.key")
    openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", f"{cert}.csr", "-subj", f"/CN={name}")
    openssl("x509", "-req", "-in", f"{cert}.csr", "-signkey", key, "-days", "-1", "-out", cert)
    return cert, key


RSA = pair("rsa")
EC = pair("ec", ("ec", "ec_paramgen_curve:P-256"))


class TlsServer(Server):
    def __init__(self, *flags, pair=RSA, **options):
        self.cert = pair[0]
        super().__init__("--tls-cert", pair[0], "--tls-key", pair[1], *flags, **options)

    @property
    def url(self):
        return f"https://localhost:{self.port}"

    def client(self, cert=None, config=QUICK):
        return boto3.client("dynamodb", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test",
                            verify=cert or self.cert, config=config)

    def connect(self, context=None, session=None, **options):
        context = context or ssl.create_default_context(cafile=self.cert)
        return context.wrap_socket(raw.connect(self, **options), server_hostname="localhost", session=session)


def health(*arguments, environment=None):
    return subprocess.run([BINARY, "health", *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **(environment or {})})


def fails_at_start(*flags):
    """The one line that says why."""
    done = subprocess.run([BINARY, "--in-memory", "--port", "0", *flags], capture_output=True, text=True, timeout=120)
    assert done.returncode == (2 if "see dynalith help" in done.stderr else 1) and done.stderr.count("\n") == 1, (done.returncode, done.stderr)
    return done.stderr.strip()


def boto3_by_either_kind_of_key():
    for chosen in (RSA, EC):
        server = TlsServer(pair=chosen)
        client = server.client()
        create_app(client)
        for i in range(50):
            client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": str(i)}, "n": {"N": str(i)}})
        assert client.query(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "a"}})["Count"] == 50
        try:
            server.client(cert=(EC if chosen is RSA else RSA)[0]).list_tables()
            raise AssertionError("another certificate was taken for the server's")
        except SSLError:
            pass
        server.stop()


def signatures_are_checked_by_https_too():
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"auth": "verify", "credentials": [{"access_key_id": "test", "secret_access_key": "test"}],
                   "tls.cert": RSA[0], "tls.key": RSA[1]}, config)
        config.flush()
        server = TlsServer("--config", config.name)
        assert server.client().list_tables()["TableNames"] == []
        server.stop()


def curl_and_javascript():
    server = TlsServer()
    done = subprocess.run(["curl", "-sS", "--http2", "--cacert", server.cert, f"{server.url}/_dynalith/health"], capture_output=True, text=True, timeout=120)
    assert '"status":"ok"' in done.stdout, done
    modules = os.environ.get("E2E_NODE_MODULES", str(ROOT / "build/deps/node_modules"))
    if shutil.which("node") and os.path.isdir(f"{modules}/@aws-sdk/client-dynamodb"):
        script = """const { DynamoDBClient, ListTablesCommand, CreateTableCommand } = require(process.argv[1] + "/@aws-sdk/client-dynamodb");
            const client = new DynamoDBClient({ endpoint: process.argv[2], region: "us-east-1", credentials: { accessKeyId: "js", secretAccessKey: "js" } });
            (async () => {
              await client.send(new CreateTableCommand({ TableName: "from-js", BillingMode: "PAY_PER_REQUEST",
                AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }], KeySchema: [{ AttributeName: "id", KeyType: "HASH" }] }));
              console.log((await client.send(new ListTablesCommand({}))).TableNames.join());
            })();"""
        done = subprocess.run(["node", "-e", script, modules, server.url], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "NODE_EXTRA_CA_CERTS": server.cert})
        assert done.stdout == "from-js\n", done
    server.stop()


def protocols():
    """TLS 1.2 and 1.3, HTTP/1.1 inside; sessions are resumed."""
    server = TlsServer()
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ssl.create_default_context(cafile=server.cert)
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(["h2", "http/1.1"])
        with server.connect(context) as s:
            assert s.selected_alpn_protocol() == "http/1.1", s.selected_alpn_protocol()
            s.sendall(raw.GET_HEALTH)
            assert raw.read_reply(s).status == 200
            session = s.session
        with server.connect(context, session) as s:
            s.sendall(raw.GET_HEALTH)
            assert raw.read_reply(s).status == 200 and s.session_reused, version
    for change in (lambda c: c.set_alpn_protocols(["h2"]), lambda c: setattr(c, "maximum_version", ssl.TLSVersion.TLSv1_1), lambda c: c.set_ciphers("AES128-SHA")):
        context = ssl.create_default_context(cafile=server.cert)
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        change(context)
        try:
            server.connect(context).close()
            raise AssertionError("taken")
        except ssl.SSLError:
            pass
    server.stop()


def errors_at_start():
    garbage, locked = FOLDER / "garbage", FOLDER / "locked.key"
    garbage.write_bytes(os.urandom(3000))
    openssl("rsa", "-in", RSA[1], "-aes128", "-passout", "pass:secret", "-out", str(locked))
    for flags, want in (
        (("--tls-cert", RSA[0]), "--tls-key is missing"), (("--tls-key", RSA[1]), "--tls-cert is missing"),
        (("--tls-cert", "/nowhere", "--tls-key", RSA[1]), "tls-cert: wants certificates in PEM, not /nowhere: No such file or directory"),
        (("--tls-cert", str(garbage), "--tls-key", RSA[1]), f"tls-cert: wants certificates in PEM, not {garbage}: no start line"),
        (("--tls-cert", RSA[0], "--tls-key", "/nowhere"), "tls-key: wants a private key in PEM, not /nowhere: No such file or directory"),
        (("--tls-cert", RSA[0], "--tls-key", str(garbage)), f"tls-key: wants a private key in PEM, not {garbage}: "),
        (("--tls-cert", RSA[0], "--tls-key", RSA[0]), f"tls-key: wants a private key in PEM, not {RSA[0]}: "),
        (("--tls-cert", RSA[0], "--tls-key", pair("other")[1]), f"does not belong to the certificate of {RSA[0]}"),
        (("--tls-cert", RSA[0], "--tls-key", EC[1]), f"does not belong to the certificate of {RSA[0]}"),
        (("--tls-cert", RSA[0], "--tls-key", str(locked)), f"{locked} wants a passphrase; the server takes a key without one"),
    ):
        line = fails_at_start(*flags)
        assert want in line, (line, want)
    cert, key = expired("old")
    server = TlsServer(pair=(cert, key))
    assert health("--port", str(server.port), "--tls-cert", cert).returncode == 0
    assert b"expired on" in stopped(server)


def stopped(server):
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(120) == 0
    return server.process.stderr.read()


def health_asks_by_tls():
    server = TlsServer("--host", "::")
    port = ("--port", str(server.port))
    for arguments, environment, status, word in (
        ((*port, "--tls-cert", RSA[0]), {}, 0, ""),
        (("--host", "::"), {"DYNALITH_PORT": str(server.port), "DYNALITH_TLS_CERT": RSA[0], "DYNALITH_TLS_KEY": RSA[1]}, 0, ""),
        ((*port, "--tls-ca", RSA[0]), {}, 0, ""), ((*port, "--tls-ca", RSA[0], "--host", "localhost"), {}, 0, ""),
        ((*port, "--tls-ca", RSA[0], "--host", "::1"), {}, 0, ""),
        ((*port, "--tls-ca", EC[0]), {}, 1, "its certificate is not taken"), ((*port, "--tls-ca", RSA[0], "--host", "127.0.0.2"), {}, 1, "its certificate is not taken: IP address mismatch"),
        ((*port, "--tls-ca", "/nowhere"), {}, 1, "tls-ca: wants certificates in PEM, not /nowhere"), (port, {}, 1, "answers with status 400"),
    ):
        done = health(*arguments, environment=environment)
        assert done.returncode == status and word in done.stderr and (status or not done.stderr), (arguments, done)
    plain = Server()
    done = health("--port", str(plain.port), "--tls-cert", RSA[0])
    assert done.returncode == 1 and "no TLS" in done.stderr, done
    plain.stop()
    server.stop()


def health_does_not_wait_for_workers():
    server = TlsServer("--request-cpu-ms", "0", "--threads", "1")
    create_app(server.client())
    item = {"PK": {"S": "p"}, "SK": {"S": "long"}, "l": {"L": [{"NULL": True}] * 190_000}}
    long = raw.request("Query", json.dumps({
        "TableName": "app", "KeyConditionExpression": "PK = :p", "FilterExpression": " OR ".join(["contains(l, :v)"] * 200),
        "ExpressionAttributeValues": {":p": {"S": "p"}, ":v": {"S": "none"}}}).encode())
    assert raw_status(server, raw.request("PutItem", json.dumps({"TableName": "app", "Item": item}).encode())) == 200
    busy = [server.connect() for _ in range(12)]
    [s.sendall(long) for s in busy]
    time.sleep(0.1)
    assert raw_status(server, raw.GET_HEALTH) == 200
    assert health("--port", str(server.port), "--tls-ca", RSA[0]).returncode == 0
    assert any(is_silent(s) for s in busy), "the worker was not busy for long enough to prove anything"
    [s.close() for s in busy]
    server.stop()


def is_silent(s):
    """Whether no answer has begun to come; tickets may have."""
    s.settimeout(0)
    try:
        return not s.recv(1)
    except ssl.SSLWantReadError:
        return True
    finally:
        s.settimeout(raw.PATIENCE)


def plain_http_is_answered():
    server = TlsServer()
    for data in (raw.request(), raw.GET_HEALTH, b"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", raw.request(body=b" " * 3000000), b"\x80" + b"x" * 100):
        with raw.connect(server) as s:
            with contextlib.suppress(ConnectionError):  # it does not read on for ever
                s.sendall(data)
            reply = raw.read_reply(s)
            assert reply.status == 400 and b"https://" in reply.body and reply.headers["connection"] == "close", reply
    server.stop()


def stalled_handshakes():
    """They end by themselves, keep nobody out for longer, and the server ends beside them."""
    server = TlsServer("--connection-limit", "40", "--request-timeout", "1")
    hello = raw.connect(server)
    bio_in, bio_out = ssl.MemoryBIO(), ssl.MemoryBIO()
    talk = ssl.create_default_context(cafile=server.cert).wrap_bio(bio_in, bio_out, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        talk.do_handshake()
    first = bio_out.read()
    hello.sendall(first[:-10])
    began = time.monotonic()
    assert hello.recv(100) == b"" and time.monotonic() - began > 0.5
    silent = [raw.connect(server) for _ in range(150)]
    halves = [raw.connect(server) for _ in range(150)]
    for s in halves:
        with contextlib.suppress(ConnectionError):
            s.sendall(first[:100])
    until(lambda: is_served(server), "stalled handshakes keep a client out")
    until(lambda: all(is_closed(s) for s in silent + halves), "stalled handshakes stay")
    more = [raw.connect(server) for _ in range(20)]
    server.stop()
    for s in (hello, *silent, *halves, *more):
        s.close()


def is_served(server):
    """While stalled handshakes fill the limit of connections, a client gets 503. A slow one may be taken for a stalled one."""
    with contextlib.suppress(BotoCoreError, ClientError):
        return server.client().list_tables()["TableNames"] == []
    return False


def is_closed(s):
    """By the server, which has sent nothing."""
    s.setblocking(False)
    try:
        return s.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def large_bodies():
    """Batches of nearly 16 MB, both ways, by several clients at once."""
    server = TlsServer()
    client = server.client(config=Config(retries={"max_attempts": 1}, read_timeout=120, max_pool_connections=10))
    create_app(client)
    text = "x" * 390000

    def both_ways(k):
        keys = [{"PK": {"S": f"{k}"}, "SK": {"S": str(i)}} for i in range(25)]
        client.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": {**key, "text": {"S": text}}}} for key in keys]})
        got, left = [], {"app": {"Keys": keys}}
        while left:
            reply = client.batch_get_item(RequestItems=left)
            got += reply["Responses"]["app"]
            left = reply["UnprocessedKeys"]
        assert len(got) == 25 and all(item["text"]["S"] == text for item in got)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(both_ways, range(4)))
    body = json.dumps({"TableName": "app", "Item": {"PK": {"S": "a"}, "SK": {"S": "b"}}}).encode()
    with server.connect() as s:  # nearly the largest body there is
        s.sendall(raw.request("PutItem", body + b" " * (16 * 1024 * 1024 - len(body))))
        assert raw.read_reply(s).status == 200
        s.sendall(raw.GET_HEALTH)
        assert raw.read_reply(s).status == 200
    with server.connect() as s:  # refused by its head, and heard nevertheless
        with contextlib.suppress(OSError):
            s.sendall(raw.head("PutItem", b"Content-Length: 40000000") + b"\r\n" + b" " * 30000000)
        assert raw.read_reply(s).status == 413
    server.stop()


def many_connections():
    server = TlsServer()
    create_app(server.client())
    context = ssl.create_default_context(cafile=server.cert)
    sockets = [server.connect(context) for _ in range(200)]
    for i in range(3):
        for s in sockets:
            s.sendall(raw.request("PutItem", json.dumps({"TableName": "app", "Item": {"PK": {"S": "a"}, "SK": {"S": str(i)}}}).encode()))
        assert all(raw.read_reply(s).status == 200 for s in sockets)
    for s in sockets:
        s.close()
    server.stop()


def the_limit_of_connections():
    """Those beyond it are answered 503, as without TLS."""
    server = TlsServer("--connection-limit", "5")
    context = ssl.create_default_context(cafile=server.cert)
    sockets = []
    for _ in range(8):
        s = server.connect(context)
        s.sendall(raw.request())
        sockets.append((s, raw.read_reply(s).status))
    assert [status for _, status in sockets] == [200] * 5 + [503] * 3, sockets
    for s, _ in sockets:
        s.close()
    until(lambda: raw_status(server) == 200, "the limit stays reached")
    server.stop()


def raw_status(server, data=None):
    with server.connect() as s:
        s.sendall(data or raw.request())
        reply = raw.read_reply(s)
        return reply and reply.status


def slow_readers():
    """One that reads a large answer slowly gets it whole; those that read nothing hold little, are closed, and keep nobody waiting."""
    server = TlsServer("--request-timeout", "2", "--idle-timeout", "2")
    client = server.client()
    create_app(client)
    for i in range(3):
        client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": str(i)}, "text": {"S": "y" * 330000}})
    query = raw.request("Query", json.dumps({"TableName": "app", "KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}).encode())
    slow = server.connect(receive_buffer=4096)
    slow.sendall(query)
    idle = [server.connect(receive_buffer=4096) for _ in range(30)]
    for s in idle:
        s.sendall(query)
    data, last = b"", time.monotonic()
    while len(data) < 990000:
        data += slow.recv(65536)
        time.sleep(0.005)
        if time.monotonic() - last > 0.1:
            last = time.monotonic()
            client.get_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "0"}})  # nobody reads the large answer meanwhile: it would wait for ever
    assert data.startswith(b"HTTP/1.1 200")
    slow.close()
    until(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) < 60 + LINKS, "slow readers stay")
    for s in idle:
        s.close()
    server.stop()


def half_closed():
    """A client that ends its side behind the request gets its answer; one that breaks off without a word of TLS harms nobody."""
    server = TlsServer()
    context = ssl.create_default_context(cafile=server.cert)
    bio_in, bio_out = ssl.MemoryBIO(), ssl.MemoryBIO()
    talk = context.wrap_bio(bio_in, bio_out, server_hostname="localhost")
    s = raw.connect(server)

    def step(call, *arguments):
        while True:
            try:
                return call(*arguments)
            except ssl.SSLWantReadError:
                if bio_out.pending:
                    s.sendall(bio_out.read())
                data = s.recv(65536)
                bio_in.write(data) if data else bio_in.write_eof()

    step(talk.do_handshake)
    s.sendall(bio_out.read())
    talk.write(raw.GET_HEALTH)
    s.sendall(bio_out.read())
    s.shutdown(socket.SHUT_WR)
    assert step(talk.read, 1000).startswith(b"HTTP/1.1 200")
    s.close()
    for _ in range(50):
        t = server.connect(context)
        t.sendall(raw.request()[:-1])
        t.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        t.close()
    assert raw_status(server) == 200
    until(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) < 40 + LINKS, "broken connections stay")
    server.stop()


def garbage_inside_and_outside():
    server = TlsServer()
    record = b"\x16\x03\x01"
    for data in (record + b"\x40\x00" + os.urandom(0x4000), record + b"\xff\xff" + os.urandom(70000), record + b"\x00\x00" * 1000, b"\x16" * 5000, b"\x16"):
        with raw.connect(server) as s:
            with contextlib.suppress(OSError):
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
    with server.connect() as s:  # a record that is no such one, beneath a good handshake
        under = socket.socket(fileno=os.dup(s.fileno()))
        under.sendall(b"\x17\x03\x03\x00\x20" + os.urandom(32))
        with contextlib.suppress(OSError):
            assert s.recv(100) == b""
        under.close()
    assert raw_status(server) == 200
    server.stop()


def reload_under_load():
    """New connections get the new certificate, old ones go on; a bad pair changes nothing."""
    cert, key = str(FOLDER / "now.crt"), str(FOLDER / "now.key")

    def install(source):
        for what, file in zip(source, (cert, key)):
            shutil.copy(what, f"{file}.new")
            os.replace(f"{file}.new", file)

    install(RSA)
    server = TlsServer("--log-level", "info", pair=(cert, key))
    both = FOLDER / "both.crt"
    both.write_text(pathlib.Path(RSA[0]).read_text() + pathlib.Path(EC[0]).read_text())
    create_app(server.client(cert=str(both)))
    is_over, failures, done = threading.Event(), [], [0]

    def load(k):
        client = server.client(cert=str(both), config=Config(retries={"max_attempts": 0}))
        while not is_over.is_set():
            try:
                client.put_item(TableName="app", Item={"PK": {"S": str(k)}, "SK": {"S": "1"}})
                done[0] += 1
                if done[0] % 10 == 0:
                    assert raw_status_with(server, both) == 200
            except Exception as e:
                failures.append(e)
                return

    threads = [threading.Thread(target=load, args=(k,)) for k in range(4)]
    kept = server.connect(ssl.create_default_context(cafile=str(both)))
    serial = kept.getpeercert()["serialNumber"]
    [t.start() for t in threads]
    seen = set()
    for i in range(10):
        install(EC if i % 2 == 0 else RSA)
        server.process.send_signal(signal.SIGHUP)
        want = serial_of(EC if i % 2 == 0 else RSA)
        until(lambda: served(server, both) == want, "the new certificate is not served")
        seen.add(want)
        kept.sendall(raw.GET_HEALTH)
        assert raw.read_reply(kept).status == 200
    assert len(seen) == 2 and kept.getpeercert()["serialNumber"] == serial
    now = served(server, both)
    # between the two files of one, no pair is good: a slow server may look just then
    for bad in ((RSA[0], EC[1]), ("/dev/null", EC[1]), (RSA[0], "/dev/null"), expired("late")):
        install(bad)
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        assert served(server, both) == now
    is_over.set()
    [t.join() for t in threads]
    assert not failures and done[0] > 50, (failures, done)
    kept.close()
    lines = stopped(server).decode().splitlines()
    assert sum("new connections get the certificate" in line for line in lines) == 10, lines
    assert sum("level=error" in line and "the certificate read before stays" in line for line in lines) == 4, lines


def raw_status_with(server, authorities):
    with server.connect(ssl.create_default_context(cafile=str(authorities))) as s:
        s.sendall(raw.GET_HEALTH)
        return raw.read_reply(s).status


def served(server, authorities):
    with server.connect(ssl.create_default_context(cafile=str(authorities))) as s:
        return s.getpeercert()["serialNumber"]


def serial_of(chosen):
    return subprocess.run(["openssl", "x509", "-in", chosen[0], "-noout", "-serial"], capture_output=True, text=True, check=True).stdout.strip().split("=")[1]


def kill_and_restart():
    server = TlsServer(disk=True)
    client = server.client(config=Config(retries={"max_attempts": 10}))
    create_app(client)
    for i in range(20):
        client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": str(i)}})
    server.kill()
    server.start()
    assert client.query(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "a"}})["Count"] == 20
    server.stop()


def answers_under_way_are_sent_when_the_server_ends():
    server = TlsServer()
    client = server.client()
    create_app(client)
    for i in range(3):
        client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": str(i)}, "text": {"S": "y" * 330000}})
    query = raw.request("Query", json.dumps({"TableName": "app", "KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}).encode())
    with server.connect(receive_buffer=4096) as s:
        s.sendall(query)
        assert s.recv(12) == b"HTTP/1.1 200"
        server.process.send_signal(signal.SIGTERM)
        size = 0
        while more := s.recv(65536):
            size += len(more)
        assert size > 100000, size
    assert server.process.wait(120) == 0


def hang_up_ends_a_server_without_tls():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and its children do
    server = Server()
    server.process.send_signal(signal.SIGHUP)
    assert server.process.wait(120) == -signal.SIGHUP


run("tls", [boto3_by_either_kind_of_key, signatures_are_checked_by_https_too, curl_and_javascript, protocols, errors_at_start, health_asks_by_tls,
            health_does_not_wait_for_workers, plain_http_is_answered, stalled_handshakes, large_bodies, many_connections,
            the_limit_of_connections, slow_readers, half_closed, garbage_inside_and_outside, reload_under_load, kill_and_restart, answers_under_way_are_sent_when_the_server_ends,
            hang_up_ends_a_server_without_tls])
