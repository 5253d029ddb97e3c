"""A second evaluator of IAM policies, as plain as can be: no compiled form, regular expressions and Python's own dates, numbers and addresses.

decide(case) takes a case as tests/iam/decisions.json has them and returns "allow" or the end of AWS's message.
"""
import base64
import datetime
import decimal
import ipaddress
import re

BECAUSE = {"identity": "identity-based policy", "resource": "resource-based policy", "boundary": "permissions boundary", "session": "session policy"}


def values(thing):
    return thing if isinstance(thing, list) else [thing]


def text(value):
    return {True: "true", False: "false"}.get(value) if isinstance(value, bool) else str(value)


def lookup(context, name):
    for key, value in context.items():
        if key.lower() == name.lower():
            return value
    return None


class Unknown(Exception):
    pass


def regex(pattern, context, version, wild):
    """The pattern as a regular expression of one line."""
    out, rest = "", pattern
    while rest:
        variable = re.match(r"\$\{([^}]*)\}", rest) if version == "2012-10-17" else None
        if variable:
            rest = rest[variable.end():]
            inner = variable.group(1)
            if inner in ("*", "?", "$"):
                out += re.escape(inner)
                continue
            name, _, other = inner.partition(",")
            found, other = lookup(context, name.strip()), other.strip()
            if isinstance(found, str):
                out += re.escape(found)
            elif len(other) >= 2 and other[0] == other[-1] == "'":
                out += re.escape(other[1:-1])
            else:
                raise Unknown(name)
            continue
        out += {"*": ".*", "?": "."}.get(rest[0], re.escape(rest[0])) if wild else re.escape(rest[0])
        rest = rest[1:]
    return out


def matches(expression, subject, flags=0):
    return re.fullmatch(expression, subject, flags | re.S) is not None


def matches_arn(pattern, subject, context, version):
    expression = regex(pattern, context, version, True)
    parts = expression.split(":", 5)
    subjects = subject.split(":", len(parts) - 1)
    return len(subjects) == len(parts) and all(matches(a, b) for a, b in zip(parts, subjects))


def date(value):
    if re.fullmatch(r"-?\d{1,12}", value) and not re.fullmatch(r"\d{4}", value):
        return datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=int(value))
    found = re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d))?", value)
    year, month, day, clock, zone = found.groups()
    clock = clock or "00:00:00"
    clock += ":00" if clock.count(":") == 1 else ""
    return datetime.datetime.fromisoformat(f"{year}-{month or '01'}-{day or '01'}T{clock}{(zone or 'Z').replace('Z', '+00:00')}")


def number(value):
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value):
        raise ValueError(value)
    return decimal.Decimal(value)


ORDERS = {"Equals": lambda a, b: a == b, "NotEquals": lambda a, b: a == b, "LessThan": lambda a, b: a < b, "LessThanEquals": lambda a, b: a <= b,
          "GreaterThan": lambda a, b: a > b, "GreaterThanEquals": lambda a, b: a >= b}


def fits(operator, wanted, value, context, version):
    """One value of the policy against one of the request; of an operator that is turned round, as if it were not."""
    try:
        if operator.startswith("Numeric"):
            return ORDERS[operator[7:]](number(value), number(wanted))
        if operator.startswith("Date"):
            return ORDERS[operator[4:]](date(value), date(wanted))
        if operator in ("IpAddress", "NotIpAddress"):
            return ipaddress.ip_address(value) in ipaddress.ip_network(wanted, strict=False)
        if operator == "BinaryEquals":
            return base64.b64decode(value, validate=True) == base64.b64decode(wanted, validate=True)
        if operator.startswith("Arn"):
            return matches_arn(wanted, value, context, version)
        if operator == "Bool" or operator.endswith("IgnoreCase"):
            return matches(regex(wanted, context, version, False), value, re.I)
        return matches(regex(wanted, context, version, operator.endswith("Like")), value)
    except (Unknown, ValueError, ArithmeticError, AttributeError):
        return False


def holds(operator, key, wanted, context, version):
    quantifier, _, operator = operator.rpartition(":")
    found = lookup(context, key)
    present = values(found) if found is not None else []
    wanted = [text(value) for value in values(wanted)]
    if operator == "Null":
        return any(value.lower() == ("false" if present else "true") for value in wanted)
    optional = operator.endswith("IfExists")
    operator = operator[:-8] if optional else operator
    turned = "Not" in operator
    each = [any(fits(operator, value, one, context, version) for value in wanted) != turned for one in present]
    if not present:
        return quantifier == "ForAllValues" or (not quantifier and (optional or turned))
    return any(each) if quantifier == "ForAnyValue" else all(each)


def applies(statement, version, case):
    context = case.get("context", {})
    action, resource = case.get("action", "dynamodb:GetItem"), case.get("resource", "arn:aws:dynamodb:us-east-1:123456789012:table/T")
    actions = any(matches(regex(one, {}, "", True), action, re.I) for one in values(statement.get("Action", statement.get("NotAction"))))
    if actions == ("NotAction" in statement):
        return False

    def is_resource(one):
        try:
            return matches_arn(one, resource, context, version)
        except Unknown:
            return False
    if any(is_resource(one) for one in values(statement.get("Resource", statement.get("NotResource")))) == ("NotResource" in statement):
        return False
    return all(holds(operator, key, wanted, context, version) for operator, block in statement.get("Condition", {}).items() for key, wanted in block.items())


def names(principal, arn):
    """3: itself, 2: as a role or one of all, 1: its account, 0: not."""
    account, session = arn.split(":")[4], re.fullmatch(r"arn:(aws[^:]*):sts::(\d+):assumed-role/([^/]+)/.+", arn)
    person = ":user/" in arn or arn.endswith(":root")
    if principal == "*":
        return 3 if person else 2
    if principal == account or principal == f"arn:aws:iam::{account}:root":
        return 1
    if principal == arn:
        return 2 if ":role/" in arn else 3
    if session and re.fullmatch(rf"arn:{session[1]}:iam::{session[2]}:role/(.+/)?{re.escape(session[3])}", principal):
        return 2
    return 0


def consult(policy, case, arn):
    """(whether it denies, how closely it allows or 0)"""
    denies, closest = False, 0
    for statement in values(policy["Statement"]):
        naming = 3
        if "Principal" in statement or "NotPrincipal" in statement:
            principal = statement.get("Principal", statement.get("NotPrincipal"))
            listed = values(principal.get("AWS", [])) if isinstance(principal, dict) else [principal]
            naming = max([names(one, arn) for one in listed], default=0)
            if "NotPrincipal" in statement:
                naming = 0 if naming else 3 if ":user/" in arn or arn.endswith(":root") else 2
                if statement["Effect"].lower() == "deny" and case.get("boundary"):
                    naming = 3
        if not naming or not applies(statement, policy.get("Version"), case):
            continue
        if statement["Effect"].lower() == "deny":
            denies = True
        else:
            closest = max(closest, naming)
    return denies, closest


def decide(case):
    arn = case.get("principal", "arn:aws:iam::123456789012:user/x")
    said = {}
    for kind in ("identity", "policy", "boundary", "session"):
        policies = [one for one in values(case.get(kind)) if one]
        found = [consult(policy, case, arn) for policy in policies]
        said[kind] = (any(denies for denies, _ in found), max((allows for _, allows in found), default=0), bool(policies))
    said["resource"] = said.pop("policy")
    for kind, name in BECAUSE.items():
        if said[kind][0]:
            return f"with an explicit deny in a{'n' if kind == 'identity' else ''} {name}"

    def implicit(kind):
        return f"because no {BECAUSE[kind]} allows the {case.get('action', 'dynamodb:GetItem')} action"
    same = arn.split(":")[4] == case.get("account", "123456789012")
    by_identity, by_resource = said["identity"][1] or arn.endswith(":root"), said["resource"][1]
    if same and by_resource == 3:
        return "allow"
    if not by_identity and (not same or by_resource < 2):
        return implicit("identity")
    for kind in ("boundary", "session"):
        present, allows = said[kind][2], said[kind][1]
        if not present and kind == "session" and ":federated-user/" in arn:
            present, allows = True, False
        if present and not allows:
            return implicit(kind)
    return "allow" if same or by_resource else implicit("resource")
