"""Expressions of GitHub Actions, `${{ ... }}`, as far as the recipes use them."""

import re

TOKEN = re.compile(r"\s*(\|\||&&|==|!=|!|\(|\)|,|'(?:[^']|'')*'|[A-Za-z_][\w.-]*)")


def substitute(text, context, functions):
    """Puts values in the place of expressions. Text that is one expression keeps its value, as `if` needs it."""
    def one(found):
        return shown(evaluate(found.group(1), context, functions))
    return re.sub(r"\$\{\{(.*?)\}\}", one, text, flags=re.S)


def evaluate(text, context, functions):
    """The value of an expression."""
    tokens = [token for token in TOKEN.findall(text)]
    if "".join(tokens).replace(" ", "") != re.sub(r"\s(?=(?:[^']*'[^']*')*[^']*$)", "", text).replace(" ", ""):
        raise ValueError(f"not understood: {text!r}")
    value, rest = either(tokens, context, functions)
    if rest:
        raise ValueError(f"not understood: {text!r}")
    return value


def shown(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def either(tokens, context, functions):
    value, tokens = both(tokens, context, functions)
    while tokens and tokens[0] == "||":
        other, tokens = both(tokens[1:], context, functions)
        value = value or other
    return value, tokens


def both(tokens, context, functions):
    value, tokens = equal(tokens, context, functions)
    while tokens and tokens[0] == "&&":
        other, tokens = equal(tokens[1:], context, functions)
        value = other if value else value
    return value, tokens


def equal(tokens, context, functions):
    value, tokens = unary(tokens, context, functions)
    while tokens and tokens[0] in ("==", "!="):
        operator = tokens[0]
        other, tokens = unary(tokens[1:], context, functions)
        value = (shown(value) == shown(other)) == (operator == "==")
    return value, tokens


def unary(tokens, context, functions):
    head, rest = tokens[0], tokens[1:]
    if head == "!":
        value, rest = unary(rest, context, functions)
        return not value, rest
    if head == "(":
        value, rest = either(rest, context, functions)
        assert rest[0] == ")", tokens
        return value, rest[1:]
    if head.startswith("'"):
        return head[1:-1].replace("''", "'"), rest
    if rest and rest[0] == "(":
        arguments, rest = [], rest[1:]
        while rest[0] != ")":
            value, rest = either(rest, context, functions)
            arguments.append(value)
            rest = rest[1:] if rest[0] == "," else rest
        return functions[head](*arguments), rest[1:]
    if head in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[head], rest
    value = context
    for name in head.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value, rest
