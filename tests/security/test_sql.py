"""SQL is put together from fixed texts alone; what comes from outside is bound. And hostile texts are only ever texts."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from earnest.core.filters import ALL
from earnest.errors import InvalidInput
from earnest.memory import Memory

STORES: Final = Path(__file__).resolve().parents[2] / "src" / "earnest" / "stores"

ALLOWED: Final[dict[tuple[str, str, str], str]] = {
    ("writing.py", "change_entry", "columns"): "names of columns, refused before unless they are in _COLUMNS",
    ("reading.py", "page", "conditions(chosen)"): "its parts are looked at where they are made",
    ("keywords.py", "candidates", "conditions(chosen, indexed=True)"): "its parts are looked at where they are made",
    ("keywords.py", "executed", "conditions(replace(chosen, standings=('dead',)))"): "its parts are looked at where they are made",
    ("keywords.py", "_among_dead", "conditions(replace(chosen, standings=('dead',)))"): "its parts are looked at where they are made",
    ("shelf.py", "", "kind"): "the kinds of entries, fixed names of the core",
    ("surveying.py", "ranked", "conditions(chosen)"): "its parts are looked at where they are made",
    ("rules.py", "change_rule", "columns"): "names of columns, refused before unless they are in _COLUMNS",
    ("moving.py", "tables", "name"): "names of the tables that the file has, identifiers alone",
    ("moving.py", "_order", "table"): "names of the tables that the file has, identifiers alone",
    ("moving.py", "dump", "sql"): "names of the tables and columns that the file has, identifiers alone",
    ("moving.py", "_fill", "table"): "names of the tables that the file has, identifiers alone",
    ("moving.py", "_insert", "sql"): "names of tables and columns, refused before unless the file has them",
    ("turns.py", "placed", "conditions(chosen)"): "its parts are looked at where they are made",
    ("turns.py", "placed", "_near('<', 'DESC', reach)"): "fixed texts with a whole number",
    ("turns.py", "placed", "_near('>', 'ASC', reach)"): "fixed texts with a whole number",
    ("turns.py", "within", "conditions(chosen)"): "its parts are looked at where they are made",
    ("vectors.py", "nearest", "conditions(chosen, indexed=True)"): "its parts are looked at where they are made",
    ("vectors.py", "_listed", "conditions(chosen)"): "its parts are looked at where they are made",
}
"""Expressions that the analysis cannot follow and that are fixed all the same: (file, function, expression) and why."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One file, and which of its expressions are fixed texts whatever a caller passes in."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.tree = name, ast.parse(source)
        self.imported = {
            alias.asname or alias.name for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        self.functions = [node for node in ast.walk(self.tree) if isinstance(node, Function)]
        self.around: dict[ast.AST, Function] = {}
        for function in self.functions:  # outer ones come first, so that the innermost is what stays
            self.around.update((inner, function) for inner in ast.walk(function) if inner is not function)
        self.used: set[tuple[str, str, str]] = set()

    def within(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        return self.around.get(node)

    def values_of(self, name: str, scope: Function | None) -> list[ast.expr] | None:
        """Everything that a name is bound to in a function (or the module); None if it is a parameter or comes from nowhere."""
        found: list[ast.expr] = []
        for node in ast.walk(scope or self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    found += self._bound(target, node.value, name)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
                found += [] if node.value is None else self._bound(node.target, node.value, name)
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name) and node.target.id == name:
                found.append(node.iter)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in (f"{name}.append", f"{name}.extend", f"{name}.insert"):
                found += node.args
        return found or None

    @staticmethod
    def _bound(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
        if isinstance(target, ast.Name):
            return [value] if target.id == name else []
        if isinstance(target, ast.Tuple):
            for place, part in enumerate(target.elts):
                if isinstance(part, ast.Name) and part.id == name:
                    same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
                    return [value.elts[place]] if isinstance(value, ast.Tuple) and same else [value]
        return []

    def fixed(self, node: ast.expr, scope: Function | None, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is a text (or a list of texts) that no caller has an influence on."""
        key = (self.name, scope.name if scope else "", ast.unparse(node))
        if key in ALLOWED:
            self.used.add(key)
            return True

        def all_fixed(parts: list[ast.expr]) -> bool:
            return all(self.fixed(part, scope, seen) for part in parts)

        match node:
            case ast.Constant(value=str()):
                return True
            case ast.JoinedStr(values=parts):
                return all_fixed(parts)
            case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value="d")])):
                return True  # whole numbers alone
            case ast.FormattedValue(value=value, format_spec=None) | ast.Starred(value=value) | ast.Subscript(value=value):
                return self.fixed(value, scope, seen)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return all_fixed([left, right])
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                return all_fixed(parts)
            case ast.IfExp(body=body, orelse=other):
                return all_fixed([body, other])
            case ast.Call(func=ast.Attribute(value=value, attr="join" | "replace"), args=parts):
                return all_fixed([value, *parts])
            case ast.GeneratorExp(elt=element) | ast.ListComp(elt=element):
                return self.fixed(element, scope, seen)
            case ast.Name(id=name):
                if name in seen:
                    return True  # built on itself: the other parts decide
                return self._fixed_name(name, scope, seen | {name})
        return False

    def _fixed_name(self, name: str, scope: Function | None, seen: frozenset[str]) -> bool:
        if scope is not None:
            parameters = [a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]]
            if name in parameters:
                return self._fixed_parameter(name, parameters.index(name), scope)
            if (scope.args.kwarg and scope.args.kwarg.arg == name) or (scope.args.vararg and scope.args.vararg.arg == name):
                return False
            values = self.values_of(name, scope)
            if values is not None:
                return all(self.fixed(value, scope, seen) for value in values)
        if scope is not None and (outer := self.within(scope)) is not None:
            return self._fixed_name(name, outer, seen)
        values = self.values_of(name, None)
        if values is not None and name.isupper():
            return all(self.fixed(value, None, seen) for value in values)
        return name.isupper() and name in self.imported  # a constant of another module of the store, looked at there

    def _fixed_parameter(self, name: str, place: int, function: Function) -> bool:
        """A parameter is fixed if every call in the module passes something fixed."""
        names = (function.name, f"self.{function.name}")
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in names]
        for call in calls:
            at = place - (1 if isinstance(call.func, ast.Attribute) else 0)
            given = [k.value for k in call.keywords if k.arg == name] or call.args[at : at + 1]
            if not given or not self.fixed(given[0], self.within(call)):
                return False
        return bool(calls)

    def statements(self) -> Iterator[ast.Call]:
        """Every call that hands SQL to the engine."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("execute"):
                yield node

    def offences(self) -> list[str]:
        """Calls whose SQL may hold something from outside."""
        made = []
        for call in self.statements():
            if not call.args or not self.fixed(call.args[0], self.within(call)):
                made.append(f"{self.name}:{call.lineno}: {ast.unparse(call)[:100]}")
        return made


def modules() -> list[Module]:
    return [Module(path.name, path.read_text(encoding="utf-8")) for path in sorted(STORES.rglob("*.py"))]


def test_every_statement_is_made_of_fixed_texts() -> None:
    looked_at = modules()
    assert [offence for module in looked_at for offence in module.offences()] == []
    assert sum(len([*module.statements()]) for module in looked_at) > 80, "the test no longer finds the statements"
    used = {key for module in looked_at for key in module.used}
    assert used == set(ALLOWED), "an exception that nothing needs any more"


def test_the_parts_of_conditions_are_fixed() -> None:
    [filtering] = [module for module in modules() if module.name == "filtering.py"]
    [conditions] = [function for function in filtering.functions if function.name == "conditions"]
    parts = filtering.values_of("where", conditions)
    assert parts is not None and len(parts) > 5
    assert [ast.unparse(part) for part in parts if not filtering.fixed(part, filtering.within(part))] == []
    assert len([call for call in ast.walk(conditions) if isinstance(call, ast.Call) and ast.unparse(call.func) == "among"]) > 5


def test_only_known_columns_are_changed(tmp_path: Path) -> None:
    from earnest.stores.sqlite.writing import _COLUMNS

    assert all(name.isidentifier() and name.islower() for name in _COLUMNS)
    with Memory.open(tmp_path / "m.db") as memory:
        memory.add("Some words.")
        with pytest.raises(TypeError, match="not columns"), memory._store.write(memory._author()) as tx:
            tx.change_entry(1, **{"pinned = 1, balance": 5})
        assert memory.check().ok


@pytest.mark.parametrize(
    "code",
    [
        "def f(db, name): db.execute(f'SELECT {name}')",
        "def f(db, name): db.execute('SELECT ' + name)",
        "def f(db, name): db.execute('SELECT %s' % name)",
        "def f(db, name): db.execute('SELECT {}'.format(name))",
        "def f(db, names): db.execute(' '.join(names))",
        "def f(db, name):\n sql = 'SELECT 1'\n sql += name\n db.execute(sql)",
        "def f(db, name):\n where = []\n where.append(f'x = {name}')\n db.execute(' AND '.join(where))",
        "def f(db, sql): db.execute(sql)\ndef g(db, said): f(db, said)",
        "def f(db, **columns): db.execute(''.join(f'{name} = ?' for name in columns))",
        "def f(db, rows):\n for name in rows: db.executemany(f'DROP TABLE {name}', [])",
        "def f(db, n): db.execute(f'LIMIT {n:>5}')",
        "SQL = input()\ndef f(db): db.execute(SQL)",
    ],
)
def test_the_analysis_has_teeth(code: str) -> None:
    assert Module("made_up.py", code).offences()


@pytest.mark.parametrize(
    "code",
    [
        "def f(db, n): db.execute('SELECT ?', (n,))",
        "A = 'SELECT 1'\ndef f(db, n): db.execute(A + ' LIMIT ?', (n,))",
        "def f(db, n): db.execute(f'PRAGMA user_version = {n:d}')",
        "def f(db):\n for part in ('a', 'b'): db.execute(f'DROP TABLE x_{part}')",
        "def f(db, sql): db.execute(sql)\ndef g(db): f(db, 'SELECT 1')",
    ],
)
def test_the_analysis_lets_fixed_texts_through(code: str) -> None:
    assert Module("made_up.py", code).offences() == []


# hostile texts

HOSTILE: Final = [
    "'; DROP TABLE entries; --",
    '" OR "1"="1',
    "x' UNION SELECT text FROM entries WHERE '1'='1",
    "%",
    "_",
    "a%b_c",
    "*",
    "[a-z]*",
    "?1",
    ":name",
    "@var",
    "$1",
    "\\",
    "/* comment */",
    "NEAR(secret words, 5)",
    "secret OR words",
    "secret AND NOT words",
    "text : secret",
    "{text cue} : secret",
    "facets : §s1",
    "§s1 §ksemantic",
    "^secret",
    "secre*",
    '"secret" + words',
    "((((((((secret",
    '"unbalanced',
    "NOT",
    "AND OR NOT NEAR",
    "-secret",
    "terms MATCH 'secret'",
    "rank",
    "nul \x00 inside",
    "lone \ud800 surrogate",
    "pair \udc00\ud800 reversed",
    "\ufeffmark of order",
    "\u202eright to left\u202c",
    "شلونك مرحبا",
    "zero\u200bwidth\u200djoiner",
    "\u0301\u0302\u0303 combining",
    "🏴‍☠️👩‍👩‍👧‍👦",
    "\r\n\t\v\f\x1b[31mred\x1b[0m",
    "<script>alert(1)</script>",
    "{{7*7}} ${7*7} %s %n {0}",
    "../../etc/passwd",
    "'" * 500,
    '"' * 500,
    "(" * 500,
    "word " * 18_000,
    "x" * 90_000,
    "日本語" * 20_000,
    "￾￿ noncharacters",
    "\U0010ffff",
]


def labels(texts: list[str]) -> list[str]:
    """Those that may be the name of something."""
    return [text for text in texts if len(text) <= 500]


def attempt(memory: Memory, call: Any) -> Any:
    """What a verb says, or None if it refuses the value as one that cannot be used. Nothing else may happen."""
    try:
        return call()
    except InvalidInput as error:
        assert (len(str(error)) < 500 and str(error).isprintable()) or "\n" not in str(error)
        str(error).encode("utf-8")
        return None


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db") as opened:
        opened.add("The secret words of the default scope.", sources=["plain"], tags=["plain"])
        opened.add("The secret words of another scope.", scope="other", sources=["other"], tags=["other"])
        yield opened


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:24]) for text in HOSTILE])
def test_hostile_text_in_every_place(text: str, memory: Memory) -> None:
    """As a query, a text, a cue, a label, a remark: it is kept or refused, and matches nothing but itself."""
    before = {entry.id for entry in memory.list(scope=ALL)}
    for verb in (memory.search, memory.answer, memory.decide):
        attempt(memory, lambda verb=verb: verb(text))
    for field in ("scope", "source", "tags", "kind"):
        where: dict[str, Any] = {field: text}
        hits = attempt(memory, lambda where=where: memory.search("secret words", **where))
        listed = attempt(memory, lambda where=where: memory.list(**where))
        assert not hits and not listed, f"{field}={text[:40]!r} matched what does not have it"
    for named in (("", text), (text,)):
        listed = attempt(memory, lambda named=named: memory.list(scope=[*named]))
        assert listed is None or {entry.scope for entry in listed} <= {""}
    made = attempt(memory, lambda: memory.add(text, cue=text[:4_000], scope=text, sources=[text], tags=[text], metadata={text: text}))
    plain = attempt(memory, lambda: memory.add(text, metadata={"note": text}))
    for entry in (made, plain):
        if entry is not None:
            assert memory.get(entry.id) == entry
            memory.obituary(entry.id)
            assert entry.id in {hit.id for hit in memory.list(scope=entry.scope)}
            found = memory.search(text[:2_000], scope=entry.scope, k=50)
            assert all(hit.entry.scope == entry.scope for hit in found)
    if made is not None:
        assert [entry.id for entry in memory.list(scope=made.scope)] == [made.id]
        assert {entry.id for entry in memory.list(scope=ALL, source=text)} == {made.id}
        assert {entry.id for entry in memory.list(scope=ALL, tags=[text])} == {made.id}
    ticket = memory.decide("the secret words of the default scope")
    assert ticket.id is not None
    attempt(memory, lambda: memory.settle(text, delta=1.0))
    attempt(memory, lambda: memory.settle(ticket.id or "", delta=1.0, meter=text, detail=text, key=text))
    attempt(memory, lambda: memory.abandon(ticket.id or "", reason=text))
    attempt(memory, lambda: memory.tick(slot=text))
    attempt(memory, lambda: memory.configure(**{text: 1}))
    attempt(memory, lambda: memory.configure(rule=text))
    for call in (lambda: memory.get(text), lambda: memory.forget(text), lambda: memory.obituary(text), lambda: memory.list(after=text)):
        with pytest.raises((KeyError, InvalidInput)) as caught:
            call()
        str(caught.value).encode("utf-8")
    assert not attempt(memory, lambda: memory.events(kind=text))
    assert not attempt(memory, lambda: memory.pending(after=text))
    assert memory.stats().alive == len(memory.list(scope=ALL))
    assert before <= {entry.id for entry in memory.list(scope=ALL)}
    checked = memory.check()
    assert checked.ok, checked.problems


def test_no_operator_of_the_index_works(memory: Memory) -> None:
    memory.add("Alpha stands alone.")
    memory.add("Beta stands beside gamma.")
    beta_alone = [hit.entry.text for hit in memory.search("beta")]
    assert beta_alone == ["Beta stands beside gamma."]
    for query in ("bet*", "be*", "^be", "b?ta", "bet%", "text:be", "{text}:be"):
        assert not memory.search(query), query
    # As words they are words: none of them takes an entry away.
    for query in ("beta NOT gamma", "beta AND NOT gamma", "beta -gamma", 'beta NOT "gamma"', "NEAR(beta alpha, 0)"):
        assert "Beta stands beside gamma." in [hit.entry.text for hit in memory.search(query)], query
    for first, second in itertools.permutations(("beta", "AND", "alpha"), 2):
        memory.search(f"{first} {second}")
    other = memory.list(scope="other")[0].id
    for query in ("facets:§s2 secret", "secret OR facets:§s2", '" OR facets : "§s2', "§s2", "secret) OR (facets:§s2"):
        assert other not in {hit.entry.id for hit in memory.search(query, k=100)}, query


def test_values_of_the_wrong_kind_are_refused(memory: Memory) -> None:
    wrong: list[Any] = [b"bytes", 5, 1.5, True, ["list"], {"a": 1}, object(), float("nan")]
    for value in wrong:
        for call in (
            lambda v: memory.search(v),
            lambda v: memory.add(v),
            lambda v: memory.add("Some words.", scope=v),
            lambda v: memory.add("Some words.", kind=v),
            lambda v: memory.settle(v, delta=1.0),
            lambda v: memory.get(v),
            lambda v: memory.list(standing=v),
        ):
            with pytest.raises(InvalidInput):
                call(value)
    assert memory.check().ok and len(memory.list()) == 1
