"""The server in this process, by libdynalith: what Dynalith(in_process=True) is made of."""
import ctypes
import ctypes.util
import io
import json
import os
import pathlib
import sys
import urllib.parse


class _Header(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class _Request(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("method", ctypes.c_char_p), ("path", ctypes.c_char_p), ("target", ctypes.c_char_p),
                ("access_key", ctypes.c_char_p), ("region", ctypes.c_char_p), ("body", ctypes.c_char_p), ("body_size", ctypes.c_size_t),
                ("headers", ctypes.POINTER(_Header)), ("header_count", ctypes.c_size_t)]


class _Answer(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("crc32", ctypes.c_uint32), ("request_id", ctypes.c_char_p), ("content_type", ctypes.c_char_p),
                ("body", ctypes.c_void_p), ("body_size", ctypes.c_size_t), ("headers", ctypes.POINTER(_Header)), ("header_count", ctypes.c_size_t)]


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
URL = "http://localhost"  # of requests that never leave this process
_loaded = {}


def find_library() -> 'str | None':
    """The path of libdynalith: DYNALITH_LIBRARY, the one that came with this package, or the system's; None where there is none."""
    name = os.environ.get("DYNALITH_LIBRARY")
    if name:
        return name
    beside = pathlib.Path(__file__).resolve().parent / ("libdynalith.dylib" if sys.platform == "darwin" else "libdynalith.so")
    return str(beside) if beside.exists() else ctypes.util.find_library("dynalith")


def _load(path):
    if path not in _loaded:
        library = ctypes.CDLL(path)
        library.dynalith_open.restype = ctypes.c_void_p
        library.dynalith_open.argtypes = [ctypes.c_char_p, _LOG, ctypes.c_void_p]
        library.dynalith_send.restype = ctypes.POINTER(_Answer)
        library.dynalith_send.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Request)]
        library.dynalith_apply.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p]
        library.dynalith_free.argtypes = [ctypes.POINTER(_Answer)]
        library.dynalith_close.argtypes = [ctypes.c_void_p]
        library.dynalith_error.restype = library.dynalith_version.restype = ctypes.c_char_p
        _loaded[path] = library
    return _loaded[path]


def _bytes(text):
    return text if isinstance(text, bytes) or text is None else text.encode()


class Library:
    """An instance of libdynalith. `options` are the server's, by their names in its configuration file or by their flags. What it does not take raises
    `error` with the reason."""

    def __init__(self, path, options, log=None, error=RuntimeError):
        self._library, self._error = _load(path), error
        self._log = _LOG(lambda context, level, line, size: log(ctypes.string_at(line, size))) if log else _LOG()
        self._instance = self._library.dynalith_open(json.dumps(options).encode(), self._log, None)
        if not self._instance:
            raise self._refusal()

    def _refusal(self):
        return self._error(self._library.dynalith_error().decode(errors="replace"))

    def _opened(self):
        if not self._instance:
            raise self._error("the instance is closed")
        return self._instance

    def send(self, method, path, body=None, headers=(), access_key=None, region=None):
        """Returns the status, the headers as a dict and the body. Status 0: a fault rule closed the connection in place of an answer."""
        lines = (_Header * len(headers))(*((_bytes(name), _bytes(value)) for name, value in headers))
        body = _bytes(body) or b""
        request = _Request(ctypes.sizeof(_Request), _bytes(method), _bytes(path), None, _bytes(access_key), _bytes(region), body, len(body), lines, len(lines))
        answer = self._library.dynalith_send(self._opened(), request)
        if not answer:
            raise self._refusal()
        try:
            it = answer.contents
            back = {it.headers[i].name.decode(): it.headers[i].value.decode() for i in range(it.header_count)}
            back["x-amzn-RequestId"], back["x-amz-crc32"] = it.request_id.decode(), str(it.crc32)
            if it.content_type:
                back["Content-Type"] = it.content_type.decode()
            return it.status, back, ctypes.string_at(it.body, it.body_size)
        finally:
            self._library.dynalith_free(answer)

    def apply(self, path, access_key=None, region=None):
        if self._library.dynalith_apply(self._opened(), os.fsencode(path), _bytes(access_key), _bytes(region)) != 0:
            raise self._refusal()

    def close(self):
        instance, self._instance = self._instance, None
        self._library.dynalith_close(instance)


class _Raw(io.BytesIO):
    """A body as botocore reads it."""

    def stream(self, **_):
        while True:
            piece = self.read()
            if not piece:
                return
            yield piece


def read_arguments(arguments):
    """The server's command line as options; one without a value is a switch."""
    options, rest = {}, list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not equals:
            value = rest.pop(0) if rest and not rest[0].startswith("--") else True
        options[name] = value
    return options


class Transport:
    """What a namespace has in the place of HTTP."""

    def __init__(self, path, arguments, log_path, error):
        options = read_arguments(arguments)
        self._error = error
        self._is_signed = options.get("--auth", "off") != "off"
        self._log = open(log_path, "ab", buffering=0)
        self.library = Library(path, options, lambda line: self._log.write(line + b"\n"), error)

    def client(self, make, service, **settings):
        """A client or resource of boto3 whose requests go to the library: an answer to botocore's event before-send takes the place of HTTP."""
        import botocore
        from botocore.config import Config
        if not self._is_signed:  # the library does not look, and signing takes time
            unsigned = Config(signature_version=botocore.UNSIGNED)
            settings["config"] = settings["config"].merge(unsigned) if settings.get("config") else unsigned
        made = make(service, **settings)
        client = made.meta.client if hasattr(made.meta, "client") else made
        who = {} if self._is_signed else {"access_key": settings["aws_access_key_id"], "region": client.meta.region_name}
        client.meta.events.register("before-send", lambda request, **_: self._answer(request, who))
        return made

    def _answer(self, request, who):
        from botocore.awsrequest import AWSResponse
        from botocore.exceptions import ConnectionClosedError
        url = urllib.parse.urlsplit(request.url)
        path = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
        status, headers, body = self.library.send(request.method, path, request.body, list(request.headers.items()), **who)
        if status == 0:
            raise ConnectionClosedError(endpoint_url=request.url)
        return AWSResponse(request.url, status, headers, _Raw(body))

    def control(self, method, path, data):
        status, _, body = self.library.send(method, f"/_dynalith/{path}", data)
        if status >= 400 or status == 0:
            raise self._error(f"{method} {path}: {body.decode(errors='replace')}")
        return json.loads(body)

    def apply(self, files, account, region):
        for path in files:
            self.library.apply(path, account, region)

    def close(self):
        if self.library._instance:
            self.library.close()
            self._log.close()
