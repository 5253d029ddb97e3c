"""HTTP servers of tests: stand-ins for what Dynalith calls, such as S3, Kinesis and functions."""
import http.server
import re
import threading
import urllib.parse

import botocore.awsrequest


class Listener:
    """Answers each request on a port of its own with what respond() gives: a status, headers and a body."""

    protocol = "HTTP/1.0"

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = self.protocol

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, headers, answer = outer.respond(self, body)
                try:
                    outer.deliver(self, status, headers, answer)
                except OSError:
                    self.close_connection = True  # the server was ended meanwhile, or hung up

            do_GET = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

    def respond(self, request, body):
        raise NotImplementedError

    def deliver(self, request, status, headers, answer):
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(answer))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(answer)


def is_signed(request, body, auth):
    """Whether the request has the signature that `auth`, a signer of botocore, makes of the headers it names."""
    given = {k.lower(): v for k, v in request.headers.items()}
    names = re.search(r"SignedHeaders=([^,]+)", given["authorization"])[1].split(";")
    assert "host" in names and all(n in names for n in given if n.startswith("x-amz-")), names
    url = urllib.parse.urlsplit(request.path)
    signed = botocore.awsrequest.AWSRequest(request.command, f"http://{given['host']}{url.path}", data=body,
                                            headers={n: given[n] for n in names if n != "host"},
                                            params=dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True)))
    signed.context["timestamp"] = given["x-amz-date"]
    text = auth.string_to_sign(signed, auth.canonical_request(signed))
    return re.search(r"Credential=([^,]+), .*Signature=(\w+)", given["authorization"]).groups() == (auth.scope(signed), auth.signature(text, signed))
