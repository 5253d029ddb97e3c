"""A server between a client of ours and the one that it asks: it passes requests on and breaks one of the answers, in each way of SPOILS."""
import http.client
import socket
import struct
import threading
import time
import urllib.parse

from listener import Listener

MANY = 10**6


def head(status, headers=(), **more):
    lines = [f"{name}: {value}" for name, value in {**dict(headers), **{n.replace("_", "-"): v for n, v in more.items()}}.items()]
    return "\r\n".join([f"HTTP/1.1 {status} Some", *lines, "", ""]).encode()


def chunk(body):
    return b"%x\r\n%s\r\n" % (len(body), body) if body else b""


def chunked(status, headers):
    return head(status, headers, Transfer_Encoding="chunked")


def forever(first, more):
    yield first
    for _ in range(MANY):
        yield more


def dripping(fast, slow):
    yield fast
    for byte in slow:
        yield 0.05
        yield bytes([byte])


def waiting(first):
    yield first
    yield None


# What is sent, and words of the reason that the client gives: bytes, a number: seconds to wait, None: until the client hangs up, RESET: the connection is.
RESET = object()
SPOILS = {
    "less than its length": (lambda s, h, b: [head(s, h, Content_Length=len(b) + 10), b], "cut off"),
    "half of its length": (lambda s, h, b: [head(s, h, Content_Length=len(b) + 1), b[:len(b) // 2]], "cut off"),
    "no last chunk": (lambda s, h, b: [chunked(s, h), chunk(b)], "cut off"),
    "no end of the trailer": (lambda s, h, b: [chunked(s, h), chunk(b), b"0\r\n"], "cut off"),
    "half a head": (lambda s, h, b: [head(s, h, Content_Length=len(b))[:-3]], "cut off"),
    "nothing": (lambda s, h, b: [], "ended without an answer"),
    "a reset": (lambda s, h, b: [head(s, h, Content_Length=len(b) + 10), b, 0.05, RESET], "cut off"),
    "a malformed chunk": (lambda s, h, b: [chunked(s, h), b"5x\r\n" + b + b"\r\n0\r\n\r\n"], "malformed chunk"),
    "a chunk that is longer than it says": (lambda s, h, b: [chunked(s, h), b"1\r\n" + b + b"xx\r\n0\r\n\r\n"], "malformed chunk"),
    "two lengths": (lambda s, h, b: [head(s, h, Content_Length=f"{len(b)}, {len(b) + 1}"), b], "no valid length"),
    "a length that is no number": (lambda s, h, b: [head(s, h, Content_Length=f"{len(b)}x"), b], "no valid length"),
    "a length and chunks": (lambda s, h, b: [head(s, h, Content_Length=len(b), Transfer_Encoding="chunked"), chunk(b), b"0\r\n\r\n"], "two ways"),
    "another coding": (lambda s, h, b: [head(s, h, Transfer_Encoding="gzip, chunked"), chunk(b), b"0\r\n\r\n"], "transfer coding"),
    "no HTTP": (lambda s, h, b: [b"220 mail.example.com\r\n" + b], "not HTTP"),
    "another protocol": (lambda s, h, b: [head(101, Upgrade="h2c"), b], "never begins"),
    "100 Continue for ever": (lambda s, h, b: forever(b"", head(100)), "never begins"),
    "a head for ever": (lambda s, h, b: forever(head(s, h)[:-2], b"X-More: and more\r\n" * 100), "head is too large"),
    "chunks for ever": (lambda s, h, b: forever(chunked(s, h) + chunk(b), chunk(b"x" * 65536)), "too large"),
    "a length that nobody has": (lambda s, h, b: [head(s, h, Content_Length=10**12), b], "too large"),
    "a wrong checksum": (lambda s, h, b: [head(s, h, Content_Length=len(b), X_Amz_Crc32=1), b], "checksum"),
}
# Whether the head or the body is late is not asked: on a busy machine the whole answer can be.
STALLS = {
    "silence": (lambda s, h, b: waiting(b""), "within"),
    "silence behind 100 Continue": (lambda s, h, b: waiting(head(100)), "within"),
    "half an answer, then silence": (lambda s, h, b: waiting(head(s, h, Content_Length=len(b) + 10) + b), "within"),
    "a head that drips": (lambda s, h, b: dripping(b"", head(s, h, X_Long="x" * 1000)), "within"),
    "a body that drips": (lambda s, h, b: dripping(head(s, h, Content_Length=1000), b"x" * 1000), "within"),
}


class Between(Listener):
    """`url` of who is asked; of its answers from number `at` on, counted from 0, `times` are broken by `spoil`."""

    protocol = "HTTP/1.1"

    def __init__(self, url=None):
        self.asked, self.lock = urllib.parse.urlsplit(url or ""), threading.Lock()
        self.spoil_with(None)
        super().__init__()

    def spoil_with(self, spoil, at=0, times=1, is_asked=True):
        """`is_asked`: what is answered so is done all the same."""
        self.spoil, self.at, self.times, self.count, self.is_asked = spoil, at, times, 0, is_asked

    def respond(self, request, body):
        with self.lock:
            request.number, self.count = self.count, self.count + 1
        request.is_spoiled = self.spoil and self.at <= request.number < self.at + self.times
        if request.is_spoiled and not self.is_asked:
            return 200, {}, b""
        connection = http.client.HTTPConnection(self.asked.hostname, self.asked.port, timeout=60)
        connection.request(request.command, request.path, body, {n: v for n, v in request.headers.items() if n.lower() != "connection"})
        answer = connection.getresponse()
        own = ("content-length", "transfer-encoding", "connection", "date", "x-amz-crc32")
        return answer.status, {n: v for n, v in answer.getheaders() if n.lower() not in own}, answer.read()

    def deliver(self, request, status, headers, body):
        if not request.is_spoiled:
            return super().deliver(request, status, headers, body)
        request.close_connection = True
        sock = request.connection
        for part in self.spoil(status, headers, body):
            if part is RESET:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if part is None:
                sock.settimeout(60)
                while sock.recv(65536):
                    pass
            elif isinstance(part, float):
                time.sleep(part)
            else:
                sock.sendall(part)
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(60)
        while sock.recv(65536):  # what was not read would reset the connection
            pass
