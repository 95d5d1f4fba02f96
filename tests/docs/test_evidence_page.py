"""docs/evidence.md names every constant of the rule, with the value that the code has and the reason that the code gives."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from dataclasses import fields
from pathlib import Path

from earnest.core.evidence import RULE, EvidenceRule

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"


def reasons() -> dict[str, str]:
    """The string below each field of the class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(EvidenceRule))).body[0]
    assert isinstance(body, ast.ClassDef)
    made = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            assert isinstance(text.value, ast.Constant)
            made[field.target.id] = " ".join(str(text.value.value).split()).replace("``", "`")
    return made


def shown(value: float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "0.8 · ln 9" if value == 0.8 * math.log(9.0) else f"{value:g}"


def table() -> str:
    said = reasons()
    return "\n".join(f"| `{field.name}` | {shown(getattr(RULE, field.name))} | {said[field.name]} |" for field in fields(EvidenceRule))


def test_the_page_has_every_constant_as_the_code_has_it() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
