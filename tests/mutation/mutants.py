"""Mutants of a C file, all of them in one compiled file.

Each mutant is a small change to one place of a function: its number is compared with the chosen one when the place is reached, so a run of a
test program needs no compiling. The changed text keeps the lines of the original.

    negate      if (x)        -> if (!x), and of while, for, do and ?:
    relation    <, ==, ...    -> <=, !=, ...
    constant    3             -> 4; true -> false
    call        f(x);         -> nothing
    return      return x;     -> return 0; and a return of 0 at the start of each function
    logic       &&            -> ||, and the reverse
    assignment  x = y;        -> nothing; x = f(y) in a declaration -> x = 0
    arithmetic  +             -> -, and the reverse; *, /, %, ++, --, &, |, <<, >>
"""
import dataclasses
import re

import tree_sitter
import tree_sitter_c

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "<<": ">>", ">>": "<<"}
COMPOUND = {"+=": "-=", "-=": "+=", "*=": "+=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<="}
STEPS = {"++": "--", "--": "++"}
PLAIN = re.compile(r"[-\d]\w*|OK|NULL|true|false|STR_ABSENT|VALUE_NONE")
CONDITIONAL = ("if_statement", "while_statement", "do_statement", "for_statement", "conditional_expression")


@dataclasses.dataclass
class Mutant:
    number: int
    file: str
    line: int
    function: str
    operator: str
    text: str  # the place as it is written, on one line
    to: str    # what it becomes
    occurrence: int = 0  # among those of the function that are alike

    def key(self):
        return self.file, self.function, self.operator, self.text, self.occurrence

    def __str__(self):
        return f"{self.file}:{self.line}: {self.function}: {self.operator}: {self.text} -> {self.to}"


class File:
    """`text` is the source with all its mutants; `skip` has the numbers of those left out, because they do not compile."""

    def __init__(self, name, source, first_number, skip=frozenset()):
        self.name, self.source, self.next, self.skip = name, source, first_number, skip
        self.mutants = []
        tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language())).parse(source)
        self.function = self.type = ""
        self.text = self.render(tree.root_node)

    # A new mutant's condition, or None where it does not compile.
    def mutant(self, node, operator, to, text=None):
        number = self.next
        self.next += 1
        if number in self.skip:
            return None
        text = text or shorten(self.plain(node))
        found = Mutant(number, self.name, node.start_point[0] + 1, self.function, operator, text, to)
        found.occurrence = sum(m.key()[:4] == found.key()[:4] for m in self.mutants)
        self.mutants.append(found)
        return f"MUTANT({number})"

    def plain(self, node):
        return self.source[node.start_byte:node.end_byte].decode()

    # The node's text with the mutants inside it.
    def inside(self, node):
        out, at = [], node.start_byte
        for child in node.children:
            out.append(self.source[at:child.start_byte].decode())
            out.append(self.render(child))
            at = child.end_byte
        out.append(self.source[at:node.end_byte].decode())
        return "".join(out)

    def render(self, node):
        if node.type == "function_definition":
            return self.render_function(node)
        if not self.function or is_constant(node, self.source):
            return self.inside(node) if not self.function else self.plain(node)
        method = getattr(self, "render_" + node.type, None)
        text = method(node) if method else self.inside(node)
        if is_condition(node):
            text = self.negated(node, text)
        return text

    def render_function(self, node):
        declarator = node.child_by_field_name("declarator")
        stars = ""
        while declarator.type == "pointer_declarator":
            stars += "*"
            declarator = declarator.child_by_field_name("declarator")
        kind = self.plain(node.child_by_field_name("type")) + stars
        self.type = "" if kind == "void" else kind
        body = node.child_by_field_name("body")
        head = self.source[node.start_byte:body.start_byte].decode()
        self.function = self.plain(declarator.child_by_field_name("declarator"))
        first = body.named_children[0] if body.named_children else None
        early = None
        if first is not None and first.type != "return_statement":
            early = self.mutant(node, "return", "return 0 at the start", "(the whole function)")
        text = self.inside(body)
        if early:
            text = "{ if (" + early + ") return " + self.zero() + ";" + text[1:]
        self.function = ""
        return head + text

    def zero(self):
        return f"({self.type}){{0}}" if self.type else ""

    def negated(self, node, text):
        inner = node.named_children[0] if node.type == "parenthesized_expression" else node
        if inner.type == "binary_expression" and self.plain(inner.child_by_field_name("operator")) in ("==", "!="):
            return text  # done by "relation"
        m = self.mutant(inner, "negate", "!(...)")
        return f"((!!({text})) ^ {m})" if m else text

    def render_binary_expression(self, node):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self.plain(node.child_by_field_name("operator"))
        a, b = self.render(left), self.render(right)
        between = re.sub(r"[^\n]", "", self.source[left.end_byte:right.start_byte].decode())
        kind = "logic" if operator in ("&&", "||") else "relation" if operator in RELATIONS else "arithmetic"
        to = {"&&": "||", "||": "&&", **RELATIONS, **ARITHMETIC}.get(operator)
        m = self.mutant(node, kind, to) if to else None
        if not m:
            return f"{a} {between}{operator} {b}"
        if kind == "logic":
            return f"((((!!({a})) ^ {m}) {between}{operator} ((!!({b})) ^ {m})) ^ {m})"
        n = self.mutants[-1].number
        if operator in ("==", "!="):
            return f"((({a}) {between}{operator} ({b})) ^ {m})"
        changed = f"(b_{n} == 0 ? 0 : a_{n} / b_{n})" if to == "/" else f"a_{n} {to} b_{n}"
        return f"({{ __auto_type a_{n} = ({a}); {between}__auto_type b_{n} = ({b}); {m} ? {changed} : a_{n} {operator} b_{n}; }})"

    def render_number_literal(self, node):
        text = self.plain(node)
        if "." in text:
            return text
        m = self.mutant(node, "constant", "one more", shorten(self.plain(statement_of(node))) + " @" + text)
        return f"({text} + {m})" if m else text

    def render_true(self, node):
        return self.boolean(node)

    def render_false(self, node):
        return self.boolean(node)

    def boolean(self, node):
        text = self.plain(node)
        m = self.mutant(node, "constant", "false" if text == "true" else "true", shorten(self.plain(statement_of(node))) + " @" + text)
        return f"({text} ^ {m})" if m else text

    def render_return_statement(self, node):
        if not node.named_children:
            return self.plain(node)
        value = node.named_children[0]
        text = self.inside(node)
        if PLAIN.fullmatch(self.plain(value)):
            return text
        m = self.mutant(node, "return", "return 0")
        return f"{{ if ({m}) return {self.zero()}; {text} }}" if m else text

    def render_expression_statement(self, node):
        inner = node.named_children[0] if node.named_children else None
        text = self.inside(node)
        if inner is None or node.parent.type == "for_statement":
            return text
        if inner.type == "cast_expression":  # (void)f(x), and no (void)x
            inner = inner.child_by_field_name("value")
        if inner.type == "call_expression":
            m = self.mutant(node, "call", "nothing")
        elif inner.type in ("assignment_expression", "update_expression"):
            m = self.mutant(node, "assignment", "nothing")
        else:
            return text
        return f"{{ if (!{m}) {text} }}" if m else text

    def render_assignment_expression(self, node):
        operator = self.plain(node.child_by_field_name("operator"))
        left, right = self.inside(node.child_by_field_name("left")), self.render(node.child_by_field_name("right"))
        if operator not in COMPOUND:
            return f"{left} {operator} {right}"
        m = self.mutant(node, "arithmetic", COMPOUND[operator])
        return f"({m} ? ({left} {COMPOUND[operator]} {right}) : ({left} {operator} {right}))" if m else f"{left} {operator} {right}"

    def render_update_expression(self, node):
        operator = self.plain(node.child_by_field_name("operator"))
        m = self.mutant(node, "arithmetic", STEPS[operator])
        text = self.plain(node)
        return f"({m} ? ({text.replace(operator, STEPS[operator])}) : ({text}))" if m else text

    def render_init_declarator(self, node):
        declarator, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        text = self.render(value)
        head = self.source[node.start_byte:value.start_byte].decode()
        if value.type == "call_expression":
            name = self.plain(declarator).lstrip("* ")
            m = self.mutant(node, "assignment", "0")
            if m:
                text = f"{m} ? (__typeof__({name})){{0}} : ({text})"
        return head + text


def shorten(text):
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= 150 else text[:147] + "..."


# The statement or declaration around a node, or the head of one.
def statement_of(node):
    while not re.search("_statement$|^declaration$|^function_definition$", node.parent.type):
        node = node.parent
    return node if node.parent.type in CONDITIONAL or node.type == "compound_statement" else node.parent


def is_condition(node):
    parent = node.parent
    return parent is not None and parent.type in CONDITIONAL and parent.child_by_field_name("condition") == node


# What must stay as it is: constant expressions, and macros' arguments that are no expressions.
def is_constant(node, source):
    parent = node.parent
    if node.type in ("array_declarator", "field_designator", "subscript_designator", "type_descriptor", "sizeof_expression", "ERROR", "offsetof_expression"):
        return True
    if node.type == "declaration":
        return any(c.type == "storage_class_specifier" for c in node.children)
    return parent is not None and parent.type == "case_statement" and parent.child_by_field_name("value") == node
