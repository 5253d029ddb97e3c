"""Two servers to ask: ours as a process, the other as a process or at an address; and what of their answers may differ."""
import copy
import http.client
import json
import os
import re
import socket
import subprocess
import time

AUTHORIZATION = ("AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
                 "SignedHeaders=host;x-amz-date;x-amz-target, Signature=00")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, name, port, process=None):
        self.name, self.port, self.process, self.connection = name, port, process, None
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                if process and process.poll() is not None:
                    break
                time.sleep(0.05)
        raise SystemExit(f"{name} did not start")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()

    def ask(self, operation, body):
        """(status, answer as JSON)"""
        headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0",
                   "Authorization": AUTHORIZATION, "X-Amz-Date": "20260101T000000Z"}
        text = json.dumps(body)
        for attempt in range(2):
            try:
                if not self.connection:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                    self.connection.connect()
                    self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connection.request("POST", "/", text, headers)
                response = self.connection.getresponse()
                raw = response.read()
                break
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt or (self.process and self.process.poll() is not None):
                    raise
        try:
            return response.status, json.loads(raw) if raw else {}
        except ValueError:
            return response.status, {"raw": raw.decode(errors="replace")}


def start_ours(binary):
    port = free_port()
    return Server("ours", port, subprocess.Popen([binary, "--in-memory", "--port", str(port), "--log-level", "warn"]))


def start_dynamodb_local(folder):
    """`folder` holds DynamoDBLocal's jars in lib/, or DynamoDBLocal.jar beside DynamoDBLocal_lib/."""
    port = free_port()
    lib = "lib" if os.path.isdir(os.path.join(folder, "lib")) else "DynamoDBLocal_lib"
    command = ["java", "-cp", f"{lib}/*:*", f"-Dsqlite4java.library.path={lib}", "software.amazon.dynamodb.services.local.main.ServerRunner",
               "-inMemory", "-disableTelemetry", "-port", str(port)]
    return Server("theirs", port, subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


# What may differ

IGNORED = {"TableId", "CreationDateTime", "TableArn", "IndexArn", "LastIncreaseDateTime", "LastDecreaseDateTime", "LatestStreamArn",
           "LatestStreamLabel", "LastUpdateToPayPerRequestDateTime", "ItemCount", "TableSizeBytes", "IndexSizeBytes"}
SETS = {"SS", "NS", "BS"}
UNORDERED = {"GlobalSecondaryIndexes", "LocalSecondaryIndexes", "AttributeDefinitions", "NonKeyAttributes", "ItemCollectionMetrics"}


def canonical(value, operation, name=None):
    if isinstance(value, dict):
        return {k: canonical(v, operation, k) for k, v in value.items() if k not in IGNORED}
    if isinstance(value, list):
        values = [canonical(v, operation) for v in value]
        return sorted(values, key=json.dumps) if name in SETS or name in UNORDERED else values
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return round(float(value), 6)
    return value


def kind(answer):
    return str(answer.get("__type", "")).rsplit("#", 1)[-1]


def text(answer):
    return answer.get("message") or answer.get("Message") or ""


def normal(operation, body, answer):
    """The part of an answer that both servers must agree on."""
    status, content = answer
    if status != 200:
        rest = {k: v for k, v in content.items() if k not in ("__type", "message", "Message")}
        return [status, kind(content), text(content), canonical(rest, operation)]
    content = copy.deepcopy(content)
    if operation in ("Scan", "Query") and "Items" in content:
        if operation == "Scan" and ("LastEvaluatedKey" in content or "ExclusiveStartKey" in body or "Segment" in body):
            # the order of partitions is each server's own, so what a part of them holds is too
            return [status, "part of a Scan"]
        by_index = "IndexName" in body
        if by_index and ("LastEvaluatedKey" in content or "ExclusiveStartKey" in body):
            return [status, "part of an index: entries of equal keys have no order"]
        if operation == "Scan" or "IndexName" in body:
            content["Items"].sort(key=lambda i: json.dumps(canonical(i, operation), sort_keys=True))
    if operation == "Scan" and ("LastEvaluatedKey" in content or "ExclusiveStartKey" in body or "Segment" in body):
        return [status, "part of a Scan"]
    if operation == "BatchGetItem":
        for items in content.get("Responses", {}).values():
            items.sort(key=lambda i: json.dumps(canonical(i, operation), sort_keys=True))
    for holder in (content.get("ConsumedCapacity"),):
        if isinstance(holder, list):
            holder.sort(key=lambda c: c.get("TableName", ""))
    return [status, canonical(content, operation)]


def signature(operation, ours, theirs):
    """What differences of one cause have in common."""
    def short(normalised):
        if normalised[0] == 200:
            return "200"
        message = re.sub(r"\[[^\]]*\]|\{[^}]*\}|'[^']*'|\"[^\"]*\"", "[]", normalised[2])
        message = re.sub(r"(token|near|key|function|operator|attribute name|name):? [^,;\s]+", r"\1 X", message)
        return f"{normalised[0]} {normalised[1]} {re.sub(r'[0-9.]+', 'N', message)[:160]}"
    return f"{operation} | {short(ours)} | {short(theirs)}"


def difference(ours, theirs, place=""):
    """The places where two answers differ, as text."""
    if type(ours) is not type(theirs) or not isinstance(ours, (dict, list)):
        return [] if ours == theirs else [f"{place}: ours {json.dumps(ours)[:300]}, theirs {json.dumps(theirs)[:300]}"]
    if isinstance(ours, list):
        if len(ours) != len(theirs):
            return [f"{place}: ours {json.dumps(ours)[:600]}, theirs {json.dumps(theirs)[:600]}"]
        pairs = [(f"{place}[{i}]", a, b) for i, (a, b) in enumerate(zip(ours, theirs))]
    else:
        pairs = [(f"{place}.{k}", ours.get(k), theirs.get(k)) for k in sorted({*ours, *theirs})]
    return [line for where, a, b in pairs for line in difference(a, b, where)]
