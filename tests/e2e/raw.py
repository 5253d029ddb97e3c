"""HTTP by hand: what no SDK would send."""
import re
import socket

SIGNED = (b"X-Amz-Target: DynamoDB_20120810.%s\r\nX-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
          b"Credential=raw/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\n")
PATIENCE = 60  # seconds that nothing takes


def connect(server, receive_buffer=None):
    s = socket.socket()
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.settimeout(PATIENCE)
    s.connect(("127.0.0.1", server.port))
    return s


def head(operation="ListTables", *lines, path=b"/"):
    return b"POST " + path + b" HTTP/1.1\r\nHost: x\r\n" + SIGNED % operation.encode() + b"".join(line + b"\r\n" for line in lines)


def request(operation="ListTables", body=b"{}"):
    return head(operation, b"Content-Length: %d" % len(body)) + b"\r\n" + body


GET_HEALTH = b"GET /_dynalith/health HTTP/1.1\r\nHost: x\r\n\r\n"
GET_METRICS = b"GET /_dynalith/metrics HTTP/1.1\r\nHost: x\r\n\r\n"


class Reply:
    def __init__(self, head, body):
        self.status = int(head.split(b" ", 2)[1])
        self.headers = {k.decode().lower(): v.decode() for k, v in re.findall(rb"\r\n([^:\r]+): *([^\r]*)", head)}
        self.body = body


def read_reply(s, has_body=True):
    """The next reply on the connection; None where it ended. One to HEAD has no body."""
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            more = s.recv(1)
        except ConnectionError:
            return None
        if not more:
            return None
        data += more
    reply = Reply(data, b"")
    length = int(reply.headers.get("content-length", 0)) if has_body else 0
    while len(reply.body) < length:
        more = s.recv(min(65536, length - len(reply.body)))
        if not more:
            break
        reply.body += more
    return reply


def ask(server, data):
    """One request on a connection of its own."""
    with connect(server) as s:
        s.sendall(data)
        return read_reply(s, not data.startswith(b"HEAD"))


def figures(server):
    """The metrics that have no labels."""
    text = ask(server, GET_METRICS).body.decode()
    return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.M)}
