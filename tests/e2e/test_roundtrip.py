"""Many items through an import, an export and back again, item for item: by our own tools, and by a reader written from AWS's description of the format.

DYNALITH_TRANSFER_ITEMS says how many; `make transfer-test` takes 1,000,000 and says how many a second went through.
"""
import gzip
import hashlib
import json
import os
import pathlib
import time

ASKED = os.environ.get("DYNALITH_TRANSFER_ITEMS")  # before the harness takes it away from the servers
ITEMS = int(ASKED or 20000)
FILES = 8
SECONDS = 1800  # of one import or export, at most

from harness import Server, run, stat_of  # noqa: E402
from test_transfer import PK, counts, ended_export, ended_import  # noqa: E402


def item(n):
    """An object of DynamoDB's JSON, as text whose members and sets have one order."""
    return (f'{{"b":{{"B":"AP8="}},"l":{{"L":[{{"N":"{n}.5"}},{{"NULL":true}},{{"M":{{"é\\"":{{"S":"{n % 7}"}}}}}}]}},"pk":{{"S":"key#{n}"}},'
            f'"ss":{{"SS":["a","b{n % 3}"]}},"v":{{"N":"{n * 100}"}}}}')


def digest(text):
    return hashlib.blake2b(text.encode(), digest_size=12).digest()


def canonical(value):
    (kind, content), = value.items()
    if kind in ("SS", "NS", "BS"):
        return {kind: sorted(content)}
    if kind == "M":
        return {kind: {name: canonical(v) for name, v in sorted(content.items())}}
    return {kind: [canonical(v) for v in content]} if kind == "L" else value


def text_of(one):
    return json.dumps({name: canonical(one[name]) for name in sorted(one)}, ensure_ascii=False, separators=(",", ":"))


def fill(folder):
    """The items in gzipped files, and a digest of each by its key."""
    folder.mkdir(parents=True)
    digests = {}
    for k in range(FILES):
        with gzip.open(folder / f"{k}.json.gz", "wt", compresslevel=1, encoding="utf-8") as file:
            for n in range(k, ITEMS, FILES):
                text = item(n)
                digests[f"key#{n}"] = digest(text)
                file.write('{"Item":' + text + "}\n")
    return digests


def read(folder, done):
    """The same of an export: the manifests say where the data files are. AWS: Developer Guide, "DynamoDB table export output format"."""
    summary = json.loads((folder / done["ExportManifest"]).read_text())
    found = {}
    for line in (folder / summary["manifestFilesS3Key"]).read_text().splitlines():
        file, n = json.loads(line), 0
        with gzip.open(folder / file["dataFileS3Key"], "rt", encoding="utf-8") as lines:
            for n, text in enumerate(lines, 1):
                one = json.loads(text)["Item"]
                assert one["pk"]["S"] not in found, "an item twice"
                found[one["pk"]["S"]] = digest(text_of(one))
        assert n == file["itemCount"], file
    assert len(found) == summary["itemCount"] == done["ItemCount"]
    return found


class Watch:
    """Says how long something took, and how much CPU time of the server, where the number of items was asked for."""

    def __init__(self, server):
        self.server, self.began, self.cpu = server, time.monotonic(), self.cpu_seconds(server)

    @staticmethod
    def cpu_seconds(server):
        fields = stat_of(server.process.pid)
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def tell(self, what):
        seconds, cpu = time.monotonic() - self.began, self.cpu_seconds(self.server) - self.cpu
        if ASKED:
            print(f"{what}: {ITEMS / seconds:,.0f} items a second ({seconds:.1f} s, {cpu:.1f} s of CPU time)", flush=True)


def brought_in(server, name, prefix):
    client, watch = server.client(), Watch(server)
    made = client.import_table(S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": prefix}, InputFormat="DYNAMODB_JSON", InputCompressionType="GZIP",
                               TableCreationParameters={"TableName": name, **PK})["ImportTableDescription"]
    done = ended_import(client, made["ImportArn"], SECONDS)
    watch.tell(f"import of {prefix}")
    assert done["ImportStatus"] == "COMPLETED" and counts(done) == (ITEMS, ITEMS, 0), done
    table = client.describe_table(TableName=name)["Table"]
    assert (table["TableStatus"], table["ItemCount"]) == ("ACTIVE", ITEMS)
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    return table["TableArn"]


def sent_out(server, arn, prefix):
    client, watch = server.client(), Watch(server)
    made = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="bucket", S3Prefix=prefix)["ExportDescription"]
    done = ended_export(client, made["ExportArn"], SECONDS)
    watch.tell(f"export to {prefix}")
    assert done["ExportStatus"] == "COMPLETED", done
    return done


def items_come_back_one_by_one():
    server = Server("--log-level", "error", "--s3", "s3", disk=True)
    client, folder = server.client(), pathlib.Path(server.folder, "s3", "bucket")
    then = fill(folder / "first")
    first = sent_out(server, brought_in(server, "one", "first/"), "second")
    assert read(folder, first) == then
    id = first["ExportArn"].rsplit("/", 1)[1]
    second = sent_out(server, brought_in(server, "two", f"second/AWSDynamoDB/{id}/data/"), "third")
    assert read(folder, second) == then
    if ITEMS <= 50_000:
        scanned = {i["pk"]["S"]: (i["v"], i["b"]) for page in client.get_paginator("scan").paginate(TableName="two") for i in page["Items"]}
        assert scanned == {f"key#{n}": ({"N": str(n * 100)}, {"B": b"\0\xff"}) for n in range(ITEMS)}
    server.stop()


run("roundtrip", [items_come_back_one_by_one])
