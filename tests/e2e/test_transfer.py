"""Exports, imports and bulk operations, by boto3: through a folder, through an endpoint that checks signatures, with bad input, and killed on the way."""
import base64
import datetime
import decimal
import gzip
import hashlib
import json
import pathlib
import re
import struct
import time
import urllib.parse
import urllib.request

import botocore.auth
import botocore.credentials

from harness import DATABASE, Server, key, raises, run, until
from listener import Listener, is_signed

WAIT = {"Delay": 0, "MaxAttempts": 100000}
PK = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": key("pk"), "BillingMode": "PAY_PER_REQUEST"}


def serve(disk=False):
    server = Server("--log-level", "error", "--s3", "s3", disk=disk)
    folder = pathlib.Path(server.folder, "s3", "bucket")
    folder.mkdir(parents=True)
    return server, server.client(), folder


def item(n, size=0):
    more = {"text": {"S": "x" * size}} if size else {}
    return {"pk": {"S": f"key {n}"}, "n": {"N": str(n * 100)}, "d": {"N": f"-{n}.25"}, "b": {"B": bytes([n % 256, 0, 255])}, "t": {"BOOL": n % 2 == 0},
            "z": {"NULL": True}, "ss": {"SS": ["a", f"é\"\\\n{n}"]}, "ns": {"NS": ["-2.5", str(n)]}, "bs": {"BS": [b"\0", b"x"]},
            "l": {"L": [{"S": ""}, {"L": []}, {"M": {}}]}, "m": {"M": {"a b": {"N": "1E-20"}, "null": {"S": "it's"}}}, **more}


def table(client, name="source", n=50, size=0):
    client.create_table(TableName=name, **PK)
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    for i in range(0, n, 25):
        client.batch_write_item(RequestItems={name: [{"PutRequest": {"Item": item(k, size)}} for k in range(i, min(i + 25, n))]})
    return client.describe_table(TableName=name)["Table"]["TableArn"]


def normal(value):
    """An item without what the order of JSON and of sets says."""
    if isinstance(value, dict):
        return {k: sorted(v, key=repr) if k in ("SS", "NS", "BS") else normal(v) for k, v in value.items()}
    return [normal(v) for v in value] if isinstance(value, list) else value


def items(client, name):
    found = [i for page in client.get_paginator("scan").paginate(TableName=name) for i in page["Items"]]
    return {i["pk"]["S"]: normal(i) for i in found}


def export(client, arn, wait=True, **more):
    made = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="bucket", **more)["ExportDescription"]
    return ended_export(client, made["ExportArn"]) if wait else made


def ended_export(client, arn, seconds=60):
    describe = lambda: client.describe_export(ExportArn=arn)["ExportDescription"]
    until(lambda: describe()["ExportStatus"] != "IN_PROGRESS", "the export ends", seconds)
    return describe()


def importing(client, prefix, name="target", form="DYNAMODB_JSON", compression="NONE", bucket="bucket", wait=True, owner=None, **more):
    source = {"S3Bucket": bucket, "S3KeyPrefix": prefix, **({"S3BucketOwner": owner} if owner else {})}
    made = client.import_table(S3BucketSource=source, InputFormat=form, InputCompressionType=compression,
                               TableCreationParameters={"TableName": name, **PK}, **more)["ImportTableDescription"]
    return ended_import(client, made["ImportArn"]) if wait else made


def ended_import(client, arn, seconds=60):
    describe = lambda: client.describe_import(ImportArn=arn)["ImportTableDescription"]
    until(lambda: describe()["ImportStatus"] != "IN_PROGRESS", "the import ends", seconds)
    return describe()


def counts(done):
    return tuple(done[c] for c in ("ProcessedItemCount", "ImportedItemCount", "ErrorCount"))


def log(server, done):
    with urllib.request.urlopen(f"{server.url}/_dynalith/imports/{done['ImportArn'].rsplit('/', 1)[1]}") as reply:
        return json.load(reply)


# A reader of exports, from the developer guide's description of the format alone.
def ion(text, at=0):
    """A value of Ion's text, as an export has it, and where it ends."""
    match = re.compile(r"\$dynamodb_([SNB]S)::").match(text, at)
    if match:
        elements, at = ion(text, match.end())
        return {match[1]: [next(iter(e.values())) for e in elements["L"]]}, at
    if text[at] == '"':
        match = re.compile(r'"((?:[^"\\]|\\.)*)"').match(text, at)
        return {"S": re.sub(r"\\x(..)|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else {"n": "\n", "t": "\t", "0": "\0"}.get(m[2], m[2]), match[1])}, match.end()
    if text.startswith("{{", at):
        end = text.index("}}", at)
        return {"B": base64.b64decode(text[at + 2:end])}, end + 2
    if text[at] == "[":
        elements, at = [], at + 1
        while text[at] != "]":
            value, at = ion(text, at)
            elements.append(value)
            at += text[at] == ","
        return {"L": elements}, at + 1
    if text[at] == "{":
        members, at = {}, at + 1
        while text[at] != "}":
            match = re.compile(r"(?:'((?:[^'\\]|\\.)*)'|(\w+)):").match(text, at)
            name = match[2] if match[1] is None else re.sub(r"\\(.)", r"\1", match[1])
            members[name], at = ion(text, match.end())
            at += text[at] == ","
        return {"M": members}, at + 1
    match = re.compile(r"[-\w.]+").match(text, at)
    if match[0] in ("true", "false", "null"):
        return {"NULL": True} if match[0] == "null" else {"BOOL": match[0] == "true"}, match.end()
    number = match[0].replace("d", "e")
    return {"N": plain(number)}, match.end()


def plain(number):
    return format(decimal.Decimal(number).normalize(), "f")


def decoded(value):
    """DynamoDB's JSON with its bytes as bytes."""
    (kind, content), = value.items()
    if kind == "B":
        return {"B": base64.b64decode(content)}
    if kind == "BS":
        return {"BS": [base64.b64decode(c) for c in content]}
    if kind == "M":
        return {"M": {k: decoded(v) for k, v in content.items()}}
    return {"L": [decoded(v) for v in content]} if kind == "L" else value


def read_export(folder, done, form="DYNAMODB_JSON"):
    """The items of an export, its manifests and checksums checked."""
    def checked(name):
        text = (folder / name).read_bytes()
        assert (folder / name.replace(".json", ".md5")).read_text() == base64.b64encode(hashlib.md5(text).digest()).decode(), name
        return text.decode()

    summary = json.loads(checked(done["ExportManifest"]))
    assert (folder / done["ExportManifest"]).with_name("_started").read_bytes() == b""
    assert summary["exportArn"] == done["ExportArn"] and summary["tableId"] == done["TableId"] and summary["outputFormat"] == form
    assert summary["itemCount"] == done["ItemCount"] and summary["billedSizeBytes"] == done["BilledSizeBytes"]
    found, files = {}, set()
    for line in checked(summary["manifestFilesS3Key"]).splitlines():
        file = json.loads(line)
        packed = (folder / file["dataFileS3Key"]).read_bytes()
        assert base64.b64encode(hashlib.md5(packed).digest()).decode() == file["md5Checksum"] and hashlib.md5(packed).hexdigest() == file["etag"]
        lines = gzip.decompress(packed).decode().split("\n")[:-1]
        assert len(lines) == file["itemCount"], file
        files.add(file["dataFileS3Key"])
        for text in lines:
            if form == "ION":
                assert text.startswith("$ion_1_0 ")
                whole, end = ion(text, 9)
                assert end == len(text), text
                one = whole["M"]["Item"]["M"]
            else:
                one = {k: decoded(v) for k, v in json.loads(text)["Item"].items()}
            assert one["pk"]["S"] not in found, "no item twice"
            found[one["pk"]["S"]] = normal(one)
    data = (folder / done["ExportManifest"]).parent / "data"
    assert {str(p.relative_to(folder)) for p in data.iterdir()} == files, "the folder has what the manifest names"
    assert len(found) == summary["itemCount"]
    return found


def exports_and_imports_again():
    server, client, folder = serve()
    arn = table(client)
    before = items(client, "source")
    for form, prefix, below in (("DYNAMODB_JSON", None, ""), ("ION", "a/b", "a/b/"), ("DYNAMODB_JSON", "c/", "c/")):
        more = {"S3Prefix": prefix} if prefix else {}
        done = export(client, arn, ExportFormat=form, **more)
        assert done["ExportStatus"] == "COMPLETED" and done["ItemCount"] == 50 and done["EndTime"] >= done["StartTime"] and "ExportType" not in done, done
        id = done["ExportArn"].rsplit("/", 1)[1]
        assert done["ExportManifest"] == f"{below}AWSDynamoDB/{id}/manifest-summary.json" and re.fullmatch(r"\d{14}-[0-9a-f]{8}", id)
        assert read_export(folder, done, form) == before
        target = f"target{len(client.list_tables()['TableNames'])}"
        made = importing(client, f"{below}AWSDynamoDB/{id}/data/", target, form, "GZIP")
        assert made["ImportStatus"] == "COMPLETED" and counts(made) == (50, 50, 0), made
        assert items(client, target) == before
        described = client.describe_table(TableName=target)["Table"]
        assert described["TableStatus"] == "ACTIVE" and described["TableId"] == made["TableId"] and described["ItemCount"] == 50
    client.get_waiter("export_completed").wait(ExportArn=done["ExportArn"], WaiterConfig=WAIT)
    client.get_waiter("import_completed").wait(ImportArn=made["ImportArn"], WaiterConfig=WAIT)
    server.stop()


def exports_one_moment():
    """Also in several files a partition, while others write; of a small table also when the table is gone."""
    server, client, folder = serve()
    arn = table(client, n=75, size=250_000)
    before = items(client, "source")
    made = export(client, arn, wait=False)
    until(lambda: time.time() > made["ExportTime"].timestamp() + 0.001, "the next millisecond")
    client.put_item(TableName="source", Item={"pk": {"S": "later"}})
    client.delete_item(TableName="source", Key={"pk": {"S": "key 1"}})
    done = ended_export(client, made["ExportArn"])
    assert read_export(folder, done) == before
    small = table(client, "small", n=10)
    made = export(client, small, wait=False)
    client.delete_table(TableName="small")
    assert ended_export(client, made["ExportArn"])["ItemCount"] == 10
    assert client.list_exports(TableArn=small)["ExportSummaries"] == [] and len(client.list_exports()["ExportSummaries"]) == 2
    server.stop()


def turn(server, **how):
    urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock", json.dumps(how).encode(), method="POST")).read()


def at(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def changes(folder, done, form):
    """The records of an incremental export by their keys: (old image, new image)."""
    found = {}
    files = json.loads((folder / done["ExportManifest"]).read_text())["manifestFilesS3Key"]
    for line in (folder / files).read_text().splitlines():
        file = json.loads(line)["dataFileS3Key"]
        assert pathlib.Path(file).parts[:-1] == ("AWSDynamoDB", "data"), file
        for text in gzip.decompress((folder / file).read_bytes()).decode().split("\n")[:-1]:
            if form == "ION":
                record = {k: v["M"] for k, v in ion(text, 9)[0]["M"]["Record"]["M"].items()}
            else:
                record = {k: {n: decoded(v) for n, v in m.items()} for k, m in json.loads(text).items()}
            assert record["Metadata"]["WriteTimestampMicros"] == {"N": "1900003600000000"} or form == "ION", record
            assert list(record["Keys"]) == ["pk"] and record["Keys"]["pk"]["S"] not in found
            found[record["Keys"]["pk"]["S"]] = tuple(normal(record[i]) if i in record else None for i in ("OldImage", "NewImage"))
    assert len(found) == done["ItemCount"]
    return found


def exports_the_past():
    """The state of a moment; what changed within a window, once for each item, from its first moment on and before its last."""
    server, client, folder = serve()
    turn(server, set=1_900_000_000, freeze=True)
    arn = table(client, n=4)
    before = items(client, "source")
    turn(server, advance="1h")
    start = 1_900_003_600
    client.put_item(TableName="source", Item={"pk": {"S": "new"}})
    client.delete_item(TableName="source", Key={"pk": {"S": "key 1"}})
    for x in "12":
        client.update_item(TableName="source", Key={"pk": {"S": "key 2"}}, UpdateExpression="SET x = :x", ExpressionAttributeValues={":x": {"N": x}})
    client.put_item(TableName="source", Item={"pk": {"S": "gone"}})
    client.delete_item(TableName="source", Key={"pk": {"S": "gone"}})
    middle = items(client, "source")
    turn(server, advance="20m")
    client.put_item(TableName="source", Item={"pk": {"S": "later"}})
    turn(server, advance="20m")
    for form in ("DYNAMODB_JSON", "ION"):
        for view in ("NEW_AND_OLD_IMAGES", "NEW_IMAGE"):
            window = {"ExportFromTime": at(start), "ExportToTime": at(start + 1200), "ExportViewType": view}
            done = export(client, arn, ExportType="INCREMENTAL_EXPORT", ExportFormat=form, IncrementalExportSpecification=window)
            assert done["ExportStatus"] == "COMPLETED" and done["BilledSizeBytes"] == 10_000_000 and done["ExportType"] == "INCREMENTAL_EXPORT", done
            assert done["IncrementalExportSpecification"] == window and "ExportTime" not in done
            old = (lambda name: before[name]) if view == "NEW_AND_OLD_IMAGES" else lambda name: None
            assert changes(folder, done, form) == {"new": (None, middle["new"]), "key 1": (old("key 1"), None), "key 2": (old("key 2"), middle["key 2"])}
            summary = json.loads((folder / done["ExportManifest"]).read_text())
            assert summary["outputView"] == view and summary["exportType"] == "INCREMENTAL_EXPORT" and summary["exportFromTime"] == "2030-03-17T18:46:40.000Z"
    assert read_export(folder, export(client, arn, ExportTime=at(start + 60))) == middle
    assert read_export(folder, export(client, arn, ExportTime=at(start - 60))) == before
    client.delete_table(TableName="source")
    server.stop()


def filters_an_export():
    server, client, folder = serve()
    arn = table(client, n=20)
    done = export(client, arn, FilterSpecification={"FilterExpression": "n >= :n", "ProjectionExpression": "pk, #n", "ExpressionAttributeNames": {"#n": "n"},
                                                    "ExpressionAttributeValues": {":n": {"N": "1500"}}})
    assert read_export(folder, done) == {f"key {n}": {"pk": {"S": f"key {n}"}, "n": {"N": str(n * 100)}} for n in range(15, 20)}
    done = export(client, arn, FilterSpecification={"KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": {"S": "key 3"}}})
    assert list(read_export(folder, done)) == ["key 3"] and done["FilterSpecification"]["KeyConditionExpression"] == "pk = :k"
    message = raises("ValidationException", export, client=client, arn=arn, FilterSpecification={"FilterExpression": "n >="})
    assert message.startswith("Invalid Request: Invalid FilterSpecification: "), message
    server.stop()


def zstd(data):
    """A frame of zstd without compression: raw blocks."""
    frame = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    blocks = [data[i:i + 100_000] for i in range(0, len(data), 100_000)] or [b""]
    for i, block in enumerate(blocks):
        frame += struct.pack("<I", len(block) << 3 | (i == len(blocks) - 1))[:3] + block
    return frame


def imports_each_form():
    server, client, folder = serve()
    lines = b"".join(b'{"Item":{"pk":{"S":"%d"},"v":{"S":"%s"}}}\n' % (n, b"x" * 900) for n in range(3000))
    forms = [("DYNAMODB_JSON", lines, {}), ("ION", b"".join(b'$ion_1_0 {Item:{pk:"%d",v:"%s"}}\n' % (n, b"x" * 900) for n in range(3000)), {}),
             ("CSV", b"pk,v\n" + b"".join(b"%d,%s\n" % (n, b"x" * 900) for n in range(3000)), {}),
             ("CSV", b"".join(b"%d;%s\n" % (n, b"x" * 900) for n in range(3000)), {"InputFormatOptions": {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "v"]}}})]
    expected = {str(n): {"pk": {"S": str(n)}, "v": {"S": "x" * 900}} for n in range(3000)}
    for i, (form, data, more) in enumerate(forms):
        for compression, pack in (("NONE", bytes), ("GZIP", gzip.compress), ("ZSTD", zstd)):
            name = f"{form}-{compression}-{i}"
            (folder / name).mkdir()
            half = data.index(b"\n", len(data) // 2) + 1 if "InputFormatOptions" in more or form != "CSV" else len(data)
            for k, part in enumerate((data[:half], data[half:])):
                if part:
                    (folder / name / f"part {k}.data").write_bytes(pack(part))
            done = importing(client, name + "/", name, form, compression, **more)
            assert done["ImportStatus"] == "COMPLETED" and counts(done) == (3000, 3000, 0), done
            assert items(client, name) == expected
    listed = [i["ImportArn"] for page in pages(client.list_imports, "ImportSummaryList", PageSize=5) for i in page]
    assert len(listed) == 12 and listed == sorted(listed, key=lambda a: a.rsplit("/", 1)[1], reverse=True)
    server.stop()


def indexes_of_an_import_are_active():
    """As the table is: or they could neither change nor go with it."""
    server, client, folder = serve()
    (folder / "items.csv").write_text("pk,n\na,1\nb,2\n")
    keys = {"AttributeDefinitions": [*PK["AttributeDefinitions"], {"AttributeName": "n", "AttributeType": "N"}],
            "GlobalSecondaryIndexes": [{"IndexName": "byn", "KeySchema": key("n"), "Projection": {"ProjectionType": "ALL"}}]}
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "items"}
    made = client.import_table(S3BucketSource=source, InputFormat="CSV", TableCreationParameters={"TableName": "target", **PK, **keys})
    assert ended_import(client, made["ImportTableDescription"]["ImportArn"])["ImportStatus"] == "COMPLETED"
    table = client.describe_table(TableName="target")["Table"]
    assert [table["TableStatus"], *(i["IndexStatus"] for i in table["GlobalSecondaryIndexes"])] == ["ACTIVE", "ACTIVE"], table
    client.delete_table(TableName="target")
    client.close()
    server.stop()


def pages(call, member, **more):
    answer = call(**more)
    yield answer[member]
    while "NextToken" in answer:
        answer = call(NextToken=answer["NextToken"], **more)
        yield answer[member]


def keys_of_csv_have_their_types():
    server, client, folder = serve()
    (folder / "x.csv").write_text("pk,n,b,v\na,1.50,aGk=,7\nb,x,aGk=,7\nc,2,!,7\nd,3,aGk=\n")
    made = client.import_table(S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": "x.csv"}, InputFormat="CSV", TableCreationParameters={
        "TableName": "typed", "BillingMode": "PAY_PER_REQUEST", "KeySchema": key("pk", "n"),
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in (("pk", "S"), ("n", "N"), ("b", "B"))],
        "GlobalSecondaryIndexes": [{"IndexName": "by-b", "KeySchema": key("b"), "Projection": {"ProjectionType": "ALL"}}]})["ImportTableDescription"]
    done = ended_import(client, made["ImportArn"])
    assert counts(done) == (4, 1, 3) and done["FailureCode"] == "ItemValidationError", done
    expected = {"pk": {"S": "a"}, "n": {"N": "1.5"}, "b": {"B": b"hi"}, "v": {"S": "7"}}
    assert client.scan(TableName="typed")["Items"] == [expected] == client.scan(TableName="typed", IndexName="by-b")["Items"]
    assert [e["itemS3Pointer"]["itemIndex"] for e in log(server, done)] == [1, 2, 3]
    server.stop()


def objects_need_no_line_feed():
    server, client, folder = serve()
    (folder / "joined.json").write_text("".join(json.dumps({"Item": {"pk": {"S": str(n)}, "v": {"S": "}{" * 400}}}) for n in range(2500)))
    made = importing(client, "joined.json", "joined")
    assert (made["ImportStatus"], counts(made)) == ("COMPLETED", (2500, 2500, 0)), made
    assert len(items(client, "joined")) == 2500
    server.stop()


def counts_what_is_no_item():
    """AWS: recorded, DDB-IMPORT-012 to 015 and 020."""
    server, client, folder = serve()
    good = [json.dumps({"Item": {"pk": {"S": str(n)}}}) for n in range(10)]
    (folder / "missing.json").write_text("\n".join([*good[:5], '{"Item":{"other":{"S":"x"}}}', *good[6:]]))
    done = importing(client, "missing.json", "missing-key")
    assert done["ImportStatus"] == "FAILED" and done["FailureCode"] == "ItemValidationError" and counts(done) == (10, 9, 1), done
    assert done["FailureMessage"] == "Some of the items failed validation checks and were not imported. Please check CloudWatch error logs for more details."
    assert client.describe_table(TableName="missing-key")["Table"]["TableStatus"] == "ACTIVE" and len(items(client, "missing-key")) == 9
    (entry,) = log(server, done)
    assert entry["itemS3Pointer"] == {"bucket": "bucket", "key": "missing.json", "itemIndex": 5} and entry["importArn"] == done["ImportArn"]
    assert "pk" in entry["errorMessages"][0]
    (folder / "garbage.json").write_text("\n".join([*good[:5], "garbage", *good[6:]]))
    assert counts(importing(client, "garbage.json", "garbage-line")) == (6, 5, 1)
    (folder / "plain.json").write_text("\n".join(good))
    done = importing(client, "plain.json", "no-gzip", compression="GZIP")
    assert counts(done) == (1, 0, 1) and "GZIP" in log(server, done)[0]["errorMessages"][0]
    (folder / "cut.gz").write_bytes(gzip.compress("\n".join(good).encode())[:-20])
    done = importing(client, "cut.gz", "cut-gzip", compression="GZIP")
    assert done["FailureCode"] == "ItemValidationError" and done["ErrorCount"] == 1
    (folder / "data").mkdir()
    (folder / "data/1.json").write_text(good[0])
    (folder / "data.bak").write_text("no")
    assert counts(importing(client, "data", "raw-prefix")) == (2, 1, 1)
    assert counts(importing(client, "data/1.json", "single-object")) == (1, 1, 0)
    done = importing(client, "nothing/", "empty-prefix")
    assert done["ImportStatus"] == "COMPLETED" and counts(done) == (0, 0, 0) and items(client, "empty-prefix") == {}
    done = importing(client, "", "no-bucket", bucket="missing")
    assert done["ImportStatus"] == "FAILED" and done["FailureCode"] == "S3NoSuchBucket" and "TableArn" in done, done
    assert "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket; Request ID: " in done["FailureMessage"]
    raises("ResourceNotFoundException", client.describe_table, TableName="no-bucket")
    message = raises("ResourceInUseException", importing, client=client, prefix="data", name="raw-prefix")
    assert message == "Table already exists: raw-prefix"
    arn = table(client)
    done = ended_export(client, client.export_table_to_point_in_time(TableArn=arn, S3Bucket="missing")["ExportDescription"]["ExportArn"])
    assert done["ExportStatus"] == "FAILED" and done["FailureCode"] == "S3NoSuchBucket" and "ExportManifest" not in done
    done = export(client, arn)
    root = done["ExportManifest"].rsplit("/", 1)[0]
    assert counts(importing(client, root + "/", "whole-export", compression="GZIP")) == (54, 50, 4), "the manifests are no items"
    assert counts(importing(client, root + "/data/", "not-unpacked")) == (4, 0, 4)
    for name in ("../x", "a/../../x"):
        done = export(client, arn, S3Prefix=name)
        assert done["FailureCode"] == "S3AccessDenied", done
    server.stop()


def without_s3_there_is_no_bucket():
    server = Server("--log-level", "warn")
    client = server.client()
    done = importing(client, "")
    assert done["FailureCode"] == "S3NoSuchBucket"
    server.kill()
    assert b"--s3" in server.process.stderr.read()


def tokens_make_one_of_many():
    server, client, folder = serve()
    arn = table(client)
    first = export(client, arn, ClientToken="token")
    assert export(client, arn, ClientToken="token")["ExportArn"] == first["ExportArn"]
    assert raises("ExportConflictException", export, client=client, arn=arn, ClientToken="token", S3Prefix="x") == \
        "Export conflict: Duplicate request detected with conflicting parameters"
    assert export(client, arn)["ExportArn"] != export(client, arn)["ExportArn"]
    (folder / "x.json").write_text('{"Item":{"pk":{"S":"a"}}}')
    first = importing(client, "x.json", ClientToken="token")
    raises("ResourceInUseException", importing, client=client, prefix="x.json", ClientToken="token")
    raises("ImportConflictException", importing, client=client, prefix="x.json", name="another", ClientToken="token")
    client.delete_table(TableName="target")
    assert importing(client, "x.json", ClientToken="token")["ImportArn"] == first["ImportArn"]
    assert client.list_imports(TableArn=first["TableArn"])["ImportSummaryList"][0]["ImportArn"] == first["ImportArn"]
    raises("ResourceNotFoundException", client.describe_table, TableName="target")
    urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock", b'{"advance": "9h"}', method="POST")).read()
    assert importing(client, "x.json", ClientToken="token")["ImportArn"] != first["ImportArn"], "a token lasts 8 hours"
    server.stop()


def survives_kills():
    """An export and an import are killed again and again; what comes out is what went in."""
    server, client, folder = serve(disk=True)
    arn = table(client, n=100, size=200_000)
    before = items(client, "source")
    made = export(client, arn, wait=False)
    kills = 0
    while client.describe_export(ExportArn=made["ExportArn"])["ExportDescription"]["ExportStatus"] == "IN_PROGRESS" and kills < 6:
        kills += 1
        server.kill()
        server.start()
        client = server.client()
    done = ended_export(client, made["ExportArn"])
    assert done["ExportStatus"] == "COMPLETED" and read_export(folder, done) == before
    each = 3_000 if DATABASE else 30_000  # where they take longer
    lines = b"".join(b'{"Item":{"pk":{"S":"%d"},"v":{"N":"%d"}}}\n' % (n, n) for n in range(each))
    (folder / "many").mkdir()
    for k in range(3):
        (folder / f"many/{k}.gz").write_bytes(gzip.compress(lines.replace(b'"S":"', b'"S":"%d-' % k)))
    (folder / "many/2z.gz").write_bytes(gzip.compress(b'{"Item":{"no":{"S":"key"}}}\n'))
    made = importing(client, "many/", compression="GZIP", wait=False)
    statuses, kills = set(), 0
    while client.describe_import(ImportArn=made["ImportArn"])["ImportTableDescription"]["ImportStatus"] == "IN_PROGRESS" and kills < 6:
        tables = client.list_tables()["TableNames"]
        statuses |= {client.describe_table(TableName="target")["Table"]["TableStatus"]} if "target" in tables else set()
        kills += 1
        server.kill()
        server.start()
        client = server.client()
    done = ended_import(client, made["ImportArn"])
    assert counts(done) == (3 * each + 1, 3 * each, 1) and done["FailureCode"] == "ItemValidationError", done
    assert len(log(server, done)) == 1
    found = items(client, "target")
    assert len(found) == 3 * each and all(found[f"{k}-{n}"]["v"] == {"N": str(n)} for k in range(3) for n in range(0, each, 97))
    assert statuses <= {"CREATING"}, "half a table is not ACTIVE"
    server.kill()
    server.start()
    assert len(items(server.client(), "target")) == 3 * each
    server.stop()


OWNER = "111122223333"  # of the buckets of Endpoint


class Endpoint(Listener):
    """S3 as far as exports and imports need it. It checks every signature as AWS does."""

    protocol = "HTTP/1.1"
    auth = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials("AKEY", "secret"), "s3", "eu-north-1")

    def __init__(self):
        self.objects, self.headers, self.failures = {}, {}, 0
        super().__init__()

    def respond(self, request, body):
        status, answer = self.answer(request, body)
        part = {"Content-Range": f"bytes {self.part[0]}-{self.part[1]}/{self.part[2]}"} if status == 206 else {}
        return status, part, answer if status < 300 else f"<Error><Code>{answer}</Code><Message>{answer} it is</Message></Error>".encode()

    def answer(self, request, body):
        url = urllib.parse.urlsplit(request.path)
        bucket, _, name = urllib.parse.unquote(url.path[1:]).partition("/")
        if self.failures > 0:
            self.failures -= 1
            return 503, "SlowDown"
        assert not self.auth or request.headers["x-amz-content-sha256"] == hashlib.sha256(body).hexdigest()
        if self.auth and not is_signed(request, body, self.auth):
            return 403, "SignatureDoesNotMatch"
        if request.headers.get("x-amz-expected-bucket-owner", OWNER) != OWNER:
            return 403, "AccessDenied"
        if bucket != "bucket":
            return 404, "NoSuchBucket"
        if request.command == "PUT":
            self.objects[name], self.headers[name] = body, dict(request.headers)
            return 200, b""
        if not name:
            return 200, self.list(dict(urllib.parse.parse_qsl(url.query)))
        if name not in self.objects:
            return 404, "NoSuchKey"
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["Range"]).groups())
        self.part = first, last, len(self.objects[name])
        return 206, self.objects[name][first:last + 1]

    def list(self, query):
        names = sorted(n for n in self.objects if n.startswith(query["prefix"]) and n > query.get("continuation-token", ""))
        some, more = names[:2], len(names) > 2
        escape = lambda n: n.replace("&", "&amp;").replace("<", "&lt;")
        xml = "".join(f"<Contents><Key>{escape(n)}</Key><Size>{len(self.objects[n])}</Size></Contents>" for n in some)
        token = f"<NextContinuationToken>{escape(some[-1])}</NextContinuationToken>" if more else ""
        return f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{xml}</ListBucketResult>".encode()


def asks_an_endpoint():
    endpoint = Endpoint()
    server = Server("--log-level", "error", "--s3", endpoint.url, "--s3-region", "eu-north-1", environment={"DYNALITH_S3_CREDENTIALS": "AKEY:secret"})
    client = server.client()
    arn = table(client, n=75, size=30_000)
    before = items(client, "source")
    endpoint.failures = 2
    done = export(client, arn, S3Prefix="a b&<c>/é", S3SseAlgorithm="KMS", S3SseKmsKeyId="alias/key")
    assert done["ExportStatus"] == "COMPLETED" and done["ItemCount"] == 75, done
    head = endpoint.headers[done["ExportManifest"]]
    assert head["x-amz-server-side-encryption"] == "aws:kms" and head["x-amz-server-side-encryption-aws-kms-key-id"] == "alias/key"
    prefix = done["ExportManifest"].replace("manifest-summary.json", "data/")
    made = importing(client, prefix, compression="GZIP")
    assert made["ImportStatus"] == "COMPLETED" and items(client, "target") == before, made
    done = importing(client, "", "no-bucket", bucket="missing")
    assert done["FailureCode"] == "S3NoSuchBucket" and done["FailureMessage"].startswith("NoSuchBucket it is (Service: Amazon S3; Status Code: 404; ")
    server.stop()
    wrong = Server("--log-level", "error", "--s3", endpoint.url, environment={"DYNALITH_S3_CREDENTIALS": "AKEY:wrong"})
    done = importing(wrong.client(), "")
    assert done["FailureCode"] == "S3SignatureDoesNotMatch", done
    wrong.stop()


def a_bucket_has_the_owner_that_is_named():
    for credentials in "AKEY:secret", "none":
        endpoint = Endpoint()
        endpoint.auth = endpoint.auth if credentials != "none" else None
        server = Server("--log-level", "error", "--s3", endpoint.url, "--s3-region", "eu-north-1", environment={"DYNALITH_S3_CREDENTIALS": credentials})
        client = server.client()
        arn = table(client, n=10)
        done = export(client, arn, S3BucketOwner="999988887777", S3SseAlgorithm="AES256")
        assert (done["ExportStatus"], done["FailureCode"]) == ("FAILED", "S3AccessDenied") and not endpoint.objects, done
        done = export(client, arn, S3BucketOwner=OWNER, S3SseAlgorithm="AES256")
        assert done["ExportStatus"] == "COMPLETED" and done["S3BucketOwner"] == OWNER, done
        assert endpoint.headers[done["ExportManifest"]]["x-amz-server-side-encryption"] == "AES256"
        prefix = done["ExportManifest"].replace("manifest-summary.json", "data/")
        for owner, status in ("999988887777", "FAILED"), (OWNER, "COMPLETED"):
            made = importing(client, prefix, "target-" + status, compression="GZIP", owner=owner)
            assert made["ImportStatus"] == status, made
        server.stop()


# AWS: Developer Guide, "Amazon S3 input formats for bulk put items": per-item condition expressions; the model: condition-check failures are no errors, and
# are reported with the attempted and the existing item
CONDITIONS = [
    {"Item": {"pk": {"S": "new"}, "v": {"N": "1"}}, "ConditionExpression": "attribute_not_exists(pk)"},
    {"Item": {"pk": {"S": "old"}, "v": {"N": "2"}}, "ConditionExpression": "attribute_not_exists(pk)"},
    {"Item": {"pk": {"S": "older"}, "v": {"N": "3"}}, "ConditionExpression": "#v < :v",
     "ExpressionAttributeNames": {"#v": "v"}, "ExpressionAttributeValues": {":v": {"N": "3"}}},
    {"Item": {"pk": {"S": "none"}, "v": {"N": "4"}}, "ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": {"N": "4"}}},
    {"Item": {"pk": {"S": "new"}, "v": {"N": "5"}}, "ConditionExpression": "attribute_not_exists(pk)"},
    {"Item": {"pk": {"S": "new"}, "v": {"N": "6"}}, "ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": {"N": "1"}}},
    {"Item": {"pk": {"S": "unused"}}, "ConditionExpression": "attribute_not_exists(pk)", "ExpressionAttributeValues": {":v": {"N": "1"}}},
    {"Item": {"pk": {"S": "valued"}}, "ExpressionAttributeValues": {":v": {"N": "1"}}},
    {"Item": {"pk": {"S": "plain"}}},
]
CONDITIONS_ION = """
{Item: {pk: "new", v: 1.}, ConditionExpression: "attribute_not_exists(pk)"}
{Item: {pk: "old", v: 2.}, ConditionExpression: "attribute_not_exists(pk)"}
{Item: {pk: "older", v: 3.}, ConditionExpression: "#v < :v", ExpressionAttributeNames: {'#v': "v"}, ExpressionAttributeValues: {':v': 3.}}
{Item: {pk: "none", v: 4.}, ConditionExpression: "v = :v", ExpressionAttributeValues: {':v': 4.}}
{Item: {pk: "new", v: 5.}, ConditionExpression: "attribute_not_exists(pk)"}
{Item: {pk: "new", v: 6.}, ConditionExpression: "v = :v", ExpressionAttributeValues: {':v': 1.}}
{Item: {pk: "unused"}, ConditionExpression: "attribute_not_exists(pk)", ExpressionAttributeValues: {':v': 1.}}
{Item: {pk: "valued"}, ExpressionAttributeNames: ["v"]}
{Item: {pk: "plain"}}
"""


def puts_in_bulk_by_conditions():
    server, client, folder = serve()
    for form, text in ("DYNAMODB_JSON", "".join(json.dumps(record) + "\n" for record in CONDITIONS)), ("ION", CONDITIONS_ION):
        name = "table-" + form
        client.create_table(TableName=name, **PK)
        for key in "old", "older":
            client.put_item(TableName=name, Item={"pk": {"S": key}, "v": {"N": "2"}})
        (folder / name).write_text(text)
        made = client.start_bulk_put_items(
            TableName=name, InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": name, "InputFormat": form},
            OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "out-" + form, "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]})["BulkOperationDescription"]
        client.get_waiter("bulk_operation_completed").wait(BulkOperationArn=made["BulkOperationArn"], WaiterConfig=WAIT)
        done = client.describe_bulk_operation(BulkOperationArn=made["BulkOperationArn"])["BulkOperationDescription"]
        assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS" and (done["ProcessedItemCount"], done["FailedItemCount"]) == (9, 2), done
        assert items(client, name) == {"new": {"pk": {"S": "new"}, "v": {"N": "6"}}, "old": {"pk": {"S": "old"}, "v": {"N": "2"}},
                                       "older": {"pk": {"S": "older"}, "v": {"N": "3"}}, "plain": {"pk": {"S": "plain"}}}
        read = lambda kind: [json.loads(line) for file in (folder / ("out-" + form)).rglob(kind + "/*.json") for line in file.read_text().splitlines()]
        assert sorted(e["itemS3Pointer"]["itemIndex"] for e in read("error")) == [6, 7]
        unmet = {e["itemS3Pointer"]["itemIndex"]: (e["item"]["v"]["N"], e.get("existingItem", {}).get("v", {}).get("N")) for e in read("condition-check-failure")}
        assert unmet == {1: ("2", "2"), 3: ("4", None), 4: ("5", "1")}, unmet
        # a condition that is false makes no error
        (folder / name).write_text(text.strip().splitlines()[1] + "\n")
        made = client.start_bulk_put_items(
            TableName=name, InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": name, "InputFormat": form},
            OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "none", "OutputType": ["ERROR"]})["BulkOperationDescription"]
        client.get_waiter("bulk_operation_completed").wait(BulkOperationArn=made["BulkOperationArn"], WaiterConfig=WAIT)
        done = client.describe_bulk_operation(BulkOperationArn=made["BulkOperationArn"])["BulkOperationDescription"]
        assert done["BulkOperationStatus"] == "COMPLETED" and (done["ProcessedItemCount"], done["FailedItemCount"]) == (1, 0), done
        assert not (folder / "none").exists()
    server.stop()


def bulk_puts_are_counted_by_index():
    """AWS: API Reference, BulkOperationUsage: the sum is without the vectors' bytes; indexes that no item is in are left out."""
    server, client, folder = serve()
    both = lambda hash, *range: [{"AttributeName": hash, "KeyType": "HASH"}, *({"AttributeName": r, "KeyType": "RANGE"} for r in range)]
    client.create_table(
        TableName="indexed", BillingMode="PAY_PER_REQUEST", KeySchema=both("pk", "sk"),
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk", "g", "none")],
        LocalSecondaryIndexes=[{"IndexName": "local", "KeySchema": both("pk", "g"), "Projection": {"ProjectionType": "KEYS_ONLY"}}],
        GlobalSecondaryIndexes=[{"IndexName": "global", "KeySchema": both("g"), "Projection": {"ProjectionType": "ALL"}},
                                {"IndexName": "empty", "KeySchema": both("none"), "Projection": {"ProjectionType": "ALL"}}],
        VectorIndexes=[{"IndexName": "vectors", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 2, "DistanceFunction": "COSINE",
                        "Projection": {"ProjectionType": "KEYS_ONLY"}}])
    (folder / "in.json").write_text("".join(json.dumps({"Item": {
        "pk": {"S": "a"}, "sk": {"S": f"{n:04}"}, "g": {"S": "g"}, "v": {"L": [{"N": "1"}, {"N": "2"}]}}}) + "\n" for n in range(100)))
    made = client.start_bulk_put_items(
        TableName="indexed", InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "in.json", "InputFormat": "DYNAMODB_JSON"},
        OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "out", "OutputType": ["ERROR"]})["BulkOperationDescription"]
    client.get_waiter("bulk_operation_completed").wait(BulkOperationArn=made["BulkOperationArn"], WaiterConfig=WAIT)
    done = client.describe_bulk_operation(BulkOperationArn=made["BulkOperationArn"])["BulkOperationDescription"]
    (usage,) = done["BulkOperationUsage"]
    assert done["BulkOperationStatus"] == "COMPLETED", done
    table, local, index = usage["Table"]["BulkPutBytes"], usage["LocalSecondaryIndexes"], usage["GlobalSecondaryIndexes"]
    assert set(local) == {"local"} and set(index) == {"global"} and set(usage["VectorIndexes"]) == {"vectors"}, usage
    assert 0 < local["local"]["BulkPutBytes"] < table and usage["VectorIndexes"]["vectors"]["BulkPutVectorBytes"] >= 100 * 8, usage
    assert usage["BulkPutBytes"] == table + local["local"]["BulkPutBytes"] + index["global"]["BulkPutBytes"], usage
    server.stop()


def puts_in_bulk():
    server, client, folder = serve()
    client.create_table(TableName="target", **PK)
    client.put_item(TableName="target", Item={"pk": {"S": "5"}, "old": {"S": "x"}})
    client.put_item(TableName="target", Item={"pk": {"S": "stays"}})
    (folder / "in.json").write_text("".join(json.dumps({"Item": {"pk": {"S": str(n)}, "v": {"N": str(n)}}}) + "\n" for n in range(2500)) +
                                     '{"Item":{"no":{"S":"key"}}}\n{"Item":{"pk":{"S":"stays"},"v":{"N":"1"}},"ConditionExpression":"attribute_not_exists(("}\n')
    start = lambda **more: client.start_bulk_put_items(
        **{"TableName": "target", **more}, InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "in.json", "InputFormat": "DYNAMODB_JSON"},
        OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "out", "OutputType": ["ERROR"]})["BulkOperationDescription"]
    made = start(ClientToken="token")
    assert made["BulkOperationStatus"] == "IN_PROGRESS"
    client.get_waiter("bulk_operation_completed").wait(BulkOperationArn=made["BulkOperationArn"], WaiterConfig=WAIT)
    done = client.describe_bulk_operation(BulkOperationArn=made["BulkOperationArn"])["BulkOperationDescription"]
    assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS" and (done["ProcessedItemCount"], done["FailedItemCount"]) == (2502, 2), done
    assert done["TotalInputBytes"] == done["ProcessedInputBytes"] == (folder / "in.json").stat().st_size
    found = items(client, "target")
    assert len(found) == 2501 and found["5"] == {"pk": {"S": "5"}, "v": {"N": "5"}}
    assert done["BulkOperationUsage"][0]["BulkPutBytes"] > 2500
    assert found["stays"] == {"pk": {"S": "stays"}}
    assert set(done["BulkOperationUsage"][0]) == {"TableName", "BulkPutBytes", "Table"}, done["BulkOperationUsage"]
    (output,) = (folder / "out").rglob("*.json")
    assert [json.loads(line)["itemS3Pointer"]["itemIndex"] for line in output.read_text().splitlines()] == [2500, 2501]
    assert start(ClientToken="token")["BulkOperationArn"] == made["BulkOperationArn"]
    raises("IdempotentParameterMismatchException", start, ClientToken="token", MaxWriteRequestUnits=2000)
    # AWS: Developer Guide, "Bulk put items considerations"
    client.create_table(TableName="global", **PK, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    client.get_waiter("table_exists").wait(TableName="global")
    client.update_table(TableName="global", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    until(lambda: [r["ReplicaStatus"] for r in client.describe_table(TableName="global")["Table"].get("Replicas", [])] == ["ACTIVE"], "the table has a replica")
    raises("ValidationException", start, TableName="global")
    # slow enough to be caught on the way
    (folder / "in.json").write_text("".join(json.dumps({"Item": {"pk": {"S": str(n)}, "v": {"S": "x" * 300_000}}}) + "\n" for n in range(200)))
    slow = start(MaxWriteRequestUnits=1024)
    assert client.cancel_bulk_operation(BulkOperationArn=slow["BulkOperationArn"])["BulkOperationStatus"] == "CANCELLING"
    describe = lambda: client.describe_bulk_operation(BulkOperationArn=slow["BulkOperationArn"])["BulkOperationDescription"]
    until(lambda: describe()["BulkOperationStatus"] == "CANCELLED", "the operation is cancelled")
    assert describe()["FailureMessage"] and len(items(client, "target")) == 2501
    raises("ResourceNotFoundException", client.cancel_bulk_operation, BulkOperationArn=slow["BulkOperationArn"])
    assert [o["BulkOperationStatus"] for o in client.list_bulk_operations()["BulkOperationsSummaryList"]] == ["CANCELLED", "COMPLETED_WITH_ERRORS"]
    server.stop()


if __name__ == "__main__":
    run("transfer", [exports_and_imports_again, exports_one_moment, exports_the_past, filters_an_export, imports_each_form, indexes_of_an_import_are_active, objects_need_no_line_feed, keys_of_csv_have_their_types, counts_what_is_no_item,
                     without_s3_there_is_no_bucket, tokens_make_one_of_many, survives_kills, asks_an_endpoint, a_bucket_has_the_owner_that_is_named, puts_in_bulk, bulk_puts_are_counted_by_index, puts_in_bulk_by_conditions])
