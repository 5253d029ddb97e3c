"""shapes.def against the API model that botocore ships: each difference is meant and stands in MEANT with its reason."""
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import botocore

from harness import ROOT, run

MODELS = [pathlib.Path(botocore.__file__).parent / f"data/{service}/service-2.json.gz"
          for service in ("dynamodb/2012-08-10", "dynamodbstreams/2012-08-10", "application-autoscaling/2016-02-06")]
ARN = "one check of names and ARNs; the recorded message of a wrong name gives 3 to 255 and the pattern, of an ARN its own text"
SEARCH = "SearchVectors is a service of its own, which checks its members itself; recorded answers of October 2026"
REFUSED = "the structure is refused as a whole: DynamoDB has no such policies, and there is no CloudWatch here"
CONTROLS = "it leaves out control characters only, which JSON has to escape"
RULE = "the service has a rule of its own for it, with another text than the model's constraint"

# (shape or shape.member, what differs): why. Every row must be met.
MEANT = {
    ("TableArn", "limits"): ARN,
    ("TableArn", "pattern"): ARN,
    ("CreateTableInput.AttributeDefinitions", "required"): "recorded answer of 8 October 2026: a table for vectors only is no exception",
    ("CreateTableInput.KeySchema", "required"): "the same",
    ("CreateTableInput.TableThroughputMode", "unknown"): "measured over raw signed JSON on 21 August 2026, newer than the model",
    ("UpdateTableInput.TableThroughputMode", "unknown"): "the same",
    ("CreateReplicationGroupMemberAction.RegionName", "required"): RULE,
    ("AutoScalingRoleArn", "pattern"): CONTROLS,
    ("AutoScalingPolicyName", "pattern"): CONTROLS,
    ("ResourceIdMaxLen1600", "pattern"): CONTROLS,
    ("XmlString", "pattern"): CONTROLS,
    ("PolicyName", "pattern"): CONTROLS,
    ("AmazonResourceName", "pattern"): "another ARN is of no resource",
    **{(f"StepScalingPolicyConfiguration.{name}", "absent"): REFUSED
       for name in ("AdjustmentType", "Cooldown", "MetricAggregationType", "MinAdjustmentMagnitude", "StepAdjustments")},
    **{(f"PredictiveScalingPolicyConfiguration.{name}", "absent"): REFUSED
       for name in ("MaxCapacityBreachBehavior", "MaxCapacityBuffer", "MetricSpecifications", "Mode", "SchedulingBufferTime")},
    **{(f"CustomizedMetricSpecification.{name}", "absent"): REFUSED for name in ("Dimensions", "MetricName", "Metrics", "Namespace", "Statistic", "Unit")},
    ("KMSMasterKeyId", "limits"): "recorded answer of 9 October 2026: at least one character",
    ("TableClass", "enum"): RULE,
    ("KeyList", "limits"): RULE,
    ("Tag.Key", "required"): RULE,
    ("Tag.Value", "required"): RULE,
    ("TagKeyString", "limits"): RULE,
    ("TagValueString", "limits"): RULE,
    ("TagResourceInput.ResourceArn", "required"): RULE,
    ("TagResourceInput.Tags", "required"): RULE,
    ("UntagResourceInput.ResourceArn", "required"): RULE,
    ("UntagResourceInput.TagKeys", "required"): RULE,
    ("ListTagsOfResourceInput.ResourceArn", "required"): RULE,
    ("ResourceArnString", "limits"): RULE,
    ("SearchString", "limits"): SEARCH,
    ("SearchString", "pattern"): SEARCH,
    ("SearchString", "enum"): SEARCH,
    ("TopKInteger", "limits"): SEARCH,
    ("SearchVectorList", "limits"): RULE,
}


def table():
    """The rows of shapes.def by model name."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "protocol/wire/shapes.def").read_text(), flags=re.S)
    number = {"NO_MIN": None, "NO_MAX": None}
    shapes, names = {}, {"attribute_value": "AttributeValue", "parameter": "AttributeValue"}
    for row in re.split(r"^(?=[A-Z_]+\()", text, flags=re.M)[1:]:
        kind, body = re.match(r"([A-Z_]+)\((.*)\)", row, flags=re.S).groups()
        fields = [f.strip() for f in re.match(r"[^\n]*", body).group().split(",")]
        ident, name = fields[0], fields[1].strip('"')
        names[ident] = name
        limit = lambda i: number[fields[i]] if fields[i] in number else int(fields[i].rstrip("L"))
        if kind in ("STRING", "NAME"):
            pattern = re.search(r'"([^"]*)"\s*$', body)
            shapes[name] = {"type": "string", "limits": (limit(2), limit(3)), "pattern": pattern.group(1).replace("\\\\", "\\") if body.rstrip().endswith('"') and fields[4] != "NULL" else None}
        elif kind in ("ENUMERATION", "LATE_ENUMERATION"):
            shapes[name] = {"type": "string", "enum": re.findall(r'ENUMERATOR\(\w+,\s*\w+,\s*"([^"]*)"\)', body)}
        elif kind == "SUBSET":
            names[ident] = fields[2].strip('"')
        elif kind in ("INTEGER", "LONG"):
            shapes[name] = {"type": kind.lower(), "limits": (limit(2), limit(3))}
        elif kind in ("BOOLEAN", "WORDED_BOOLEAN"):
            shapes[name] = {"type": "boolean"}
        elif kind == "DOUBLE":
            shapes[name] = {"type": "double"}
        elif kind == "TIMESTAMP":
            shapes[name] = {"type": "timestamp"}
        elif kind in ("ITEM_MAP", "EXPRESSION_VALUES", "START_KEY"):
            shapes[name] = {"type": "map", "limits": (None, None), "value": "AttributeValue"}
        elif kind == "LIST":
            shapes[name] = {"type": "list", "limits": (limit(4), limit(5)), "element": names[fields[3]]}
        elif kind == "MAP":
            shapes[name] = {"type": "map", "limits": (limit(5), limit(6)), "key": names[fields[3]], "value": names[fields[4]]}
        elif kind in ("STRUCTURE", "INPUT"):
            members = re.findall(r'MEMBER\(\w+,\s*"(\w+)",\s*\w+,\s*.*?,\s*(\w+),\s*(REQUIRED|OPTIONAL)\)', body)
            shapes[name] = {"type": "structure", "members": {n: names[s] for n, s, _ in members},
                            "required": {n for n, _, need in members if need == "REQUIRED"}}
    return shapes


def differences(ours, model):
    """(shape, what, ours, theirs), walking the model from the inputs that are here."""
    found, seen = [], set()

    def note(name, what, one, other):
        if one != other:
            found.append((name, what, one, other))

    def compare(our_name, model_name):
        if (our_name, model_name) in seen or our_name == "AttributeValue":
            return
        seen.add((our_name, model_name))
        one, other = ours[our_name], model[model_name]
        note(our_name, "type", one["type"], other["type"])
        limits = (other.get("min"), other.get("max"))
        if "enum" in one or "enum" in other:
            note(our_name, "enum", sorted(one.get("enum", [])), sorted(other.get("enum", [])))
        elif "limits" in one:
            note(our_name, "limits", one["limits"], limits)
            note(our_name, "pattern", one.get("pattern"), other.get("pattern"))
        if one["type"] == "list" and other["type"] == "list":
            compare(one["element"], other["member"]["shape"])
        if one["type"] == "map" and other["type"] == "map":
            compare(one["value"], other["value"]["shape"])
        if one["type"] == "structure" and other["type"] == "structure":
            for member, shape in other["members"].items():
                place = f"{our_name}.{member}"
                if member not in one["members"]:
                    note(place, "absent", True, False)
                    continue
                note(place, "required", member in one["required"], member in other.get("required", []))
                compare(one["members"][member], shape["shape"])
            for member in one["members"]:
                note(f"{our_name}.{member}", "unknown", member not in other["members"], False)

    for name in ours:
        if name in model and name.endswith(("Input", "Request")):
            compare(name, name)
    return found


def every_difference_from_the_model_is_meant():
    found = [d for model in MODELS for d in differences(table(), json.loads(gzip.decompress(model.read_bytes()))["shapes"])]
    unexplained = [d for d in found if (d[0], d[1]) not in MEANT]
    assert not unexplained, "not meant:\n" + "\n".join(map(str, unexplained))
    unmet = set(MEANT) - {(d[0], d[1]) for d in found}
    assert not unmet, f"meant, but there is no such difference: {unmet}"


LEGACY = "every global table of the legacy version is answered as absent, as AWS does"

# Members that nothing behind the wire reads, and why nothing is lost by that.
UNREAD = {
    "DisassociateReplicationGroupMemberAction.DisassociationMode": "it has one value",
    "StartBulkPutItemsInput.PerformanceTier": "kept with the request and shown; all bulk operations are as fast as they can be",
    "CreateGlobalTableInput.ReplicationGroup": "AWS: it creates no global tables any more",
    "ListGlobalTablesInput.ExclusiveStartGlobalTableName": "the list is empty",
    "GlobalTableGlobalSecondaryIndexSettingsUpdate.ProvisionedWriteCapacityUnits": LEGACY,
    "ReplicaGlobalSecondaryIndexSettingsUpdate.ProvisionedReadCapacityUnits": LEGACY,
}


def every_member_is_read():
    """A member that the wire takes is carried out or refused: something outside of the wire reads its field. Fields are compared by name, so one that shares its name with a field that is read may be missed."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "protocol/wire/shapes.def").read_text(), flags=re.S)
    names = dict(re.findall(r'^(?:STRUCTURE|INPUT)\((\w+), "(\w+)"', text, flags=re.M))
    files = [f for room in ("protocol", "server") for f in (ROOT / room).rglob("*.[ch]") if "wire" not in f.parts]
    read = set(re.findall(r"(?:->|\.)(\w+)\b", "\n".join(f.read_text() for f in files)))
    unread = {f"{names[structure]}.{name}" for structure, name, field in re.findall(r'MEMBER\((\w+), "([^"]+)", (\w+),', text) if field not in read}
    assert unread == set(UNREAD), f"taken and dropped: {sorted(unread - set(UNREAD))}; read by now: {sorted(set(UNREAD) - unread)}"


def model_diff_tells_what_is_new():
    """scripts/model-diff, as for a model of tomorrow."""
    with tempfile.TemporaryDirectory() as folder:
        for path in MODELS:
            model = json.loads(gzip.decompress(path.read_bytes()))
            if "dynamodb/" in str(path):
                shapes = model["shapes"]
                model["operations"]["PaintItem"] = {"name": "PaintItem", "input": {"shape": "GetItemInput"}}
                del model["operations"]["ListTables"]
                shapes["PutItemInput"]["members"]["Colour"] = {"shape": "String"}
                shapes["ReturnValue"]["enum"].append("ALL_COLOURS")
                shapes["ListTablesInputLimit"]["max"] = 101
                shapes["GetItemOutput"]["members"]["Colour"] = {"shape": "String"}
            copy = pathlib.Path(folder, "data", path.relative_to(path.parents[2]))
            copy.parent.mkdir(parents=True)
            copy.write_bytes(gzip.compress(json.dumps(model).encode()))
        text = subprocess.run([sys.executable, ROOT / "scripts/model-diff", pathlib.Path(folder, "data")], capture_output=True, text=True, check=True).stdout
    rows = {tuple(re.split(r" {2,}", line)[:2]): line for line in text.splitlines()}
    for row in (("new operation", "PaintItem"), ("operation is gone", "ListTables"), ("new member", "PutItemInput.Colour"), ("enumeration", "ReturnValue"),
                ("not in answers", "GetItemOutput.Colour")):
        assert row in rows, (row, text)
    assert "PutItem 400 " in rows["new member", "PutItemInput.Colour"] and "THE SAME WITHOUT IT" in rows["new member", "PutItemInput.Colour"], text


if __name__ == "__main__":
    run("shapes", [every_difference_from_the_model_is_meant, every_member_is_read, model_diff_tells_what_is_new])
