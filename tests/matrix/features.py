"""The features that a request can meet, as factors with their levels, the rows that cover them, and what golden data expects otherwise with one on."""
import itertools
import json
import random
import re

# By factor: its levels, the quiet one first. What each does to a server stands in run.
FACTORS = {
    "iam": ("off", "report", "enforce", "nobody"),  # nobody: enforced, and no policy allows anything
    "insight": ("off", "examples"),
    "record": ("off", "open", "masked"),
    "throughput": ("off", "enforce"),
    "conflicts": ("none", "real"),
    "faults": ("none", "every-second"),
    "lag": ("none", "some"),
    "namespaces": ("account", "key", "shared"),
    "explain": ("off", "on"),
}


def whole():
    """Each combination, in an order that a bounded time takes evenly from."""
    rows = [dict(zip(FACTORS, levels)) for levels in itertools.product(*FACTORS.values())]
    random.Random(1).shuffle(rows)
    return rows


def pairwise():
    """Rows in which each two levels of two factors meet at least once: greedily, the row first that has most pairs which no row had."""
    pairs_of = lambda row: {((a, row[a]), (b, row[b])) for a, b in itertools.combinations(FACTORS, 2)}
    candidates = whole()
    left, rows = set().union(*map(pairs_of, candidates)), []
    while left:
        row = max(candidates, key=lambda row: len(left & pairs_of(row)))
        rows.append(row)
        left -= pairs_of(row)
    return rows


def words(row):
    return " ".join(f"{factor}={level}" for factor, level in row.items() if level != FACTORS[factor][0]) or "all off"


# Steps of golden data that are answered otherwise with a level on, though not by a failure: the factor, the level, the file or None for all, what the step has in it, why.
OTHERWISE = [
    ("iam", "nobody", None, r"", "nobody may do anything"),
    *(("iam", level, None, r"arn:aws:dynamodb:us-east-1:(1{12}|2{12}):", "IAM has words of its own about what another account has, which no report opens")
      for level in ("enforce", "report")),
    ("throughput", "enforce", "throughput.json", r'"(thrift|ondemand|hotkey|hot)"', "the buckets of its tables have been filling since they were made"),
    *(("namespaces", "shared", file, pattern, "all accounts and regions are one") for file, pattern in (
        ("table_arns.json", r"golden-arn|\$\{arn\}"), ("global_tables.json", r""), ("disassociate.json", r""), ("replica_scaling.json", r""), ("scaling.json", r""), (None, r"1{12}|2{12}|eu-west-1|us-west-2|xx-fake-1"), ("coverage.json", r'"ListTables"'))),
    ("lag", "some", "throughput.json", r'"Scan", "in": {"TableName": "thrift"', "the clock stands still there, so reads see the table as it was before"),
]


def is_otherwise(row, file, step):
    text = json.dumps(step)
    return any(row[factor] == level and name in (None, file) and re.search(pattern, text) for factor, level, name, pattern, _ in OTHERWISE)


if __name__ == "__main__":
    for row in pairwise():
        print(json.dumps(row))
