"""The house rules, held by tests: who imports whom, where time and chance come from, what an error handler may catch."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import earnest
from earnest import protocols

SOURCE: Final = Path(earnest.__file__).resolve().parent

ALLOWED: Final[dict[str, set[str]]] = {
    # pure, at the bottom
    "errors": set(),
    "files": set(),
    "installed": set(),
    "core": {"errors", "installed"},
    "protocols": {"core", "errors"},
    # services: they know protocols, not drivers
    "recall": {"core", "protocols", "errors"},
    "ledger": {"core", "protocols", "errors"},
    "encoding": {"core", "protocols", "errors", "installed"},
    "forgetting": {"core", "protocols", "errors", "ledger"},
    "graph": {"core", "protocols", "errors", "ledger", "recall", "encoding", "forgetting"},
    "conversation": {"core", "protocols", "errors", "recall", "encoding"},
    "rules": {"core", "protocols", "errors", "files", "ledger"},
    # the one way out of the process, for drivers of services
    "wire": {"core", "errors"},
    "rendering": {"core", "errors", "files"},
    "moving": {"core", "protocols", "errors", "encoding", "files"},
    # drivers: none knows another
    "llms": {"core", "protocols", "errors", "wire"},
    "stores.sqlite": {"core", "protocols", "errors", "files"},
    "environments": {"core", "protocols", "errors"},
    "embedders": {"core", "protocols", "errors", "installed", "wire"},
    "rerankers": {"core", "protocols", "errors", "installed", "wire"},
    "meters": {"core", "protocols", "errors"},
    "system": {"core", "protocols", "errors"},
    # the façade, in its parts; `memory` and `opening` alone compose drivers
    "verbs": {
        "core",
        "protocols",
        "errors",
        "recall",
        "ledger",
        "encoding",
        "conversation",
        "forgetting",
        "graph",
        "rules",
        "rendering",
        "moving",
        "files",
        "installed",
        "version",
    },
    "opening": {"core", "errors", "protocols", "stores.sqlite", "embedders", "llms", "recall", "rerankers"},
    "memory": {"core", "protocols", "errors", "recall", "ledger", "verbs", "opening", "stores.sqlite", "system"},
    # for users' tests
    "testing": {"core", "protocols", "errors", "environments", "installed"},
    # edges: nothing below imports them
    "benching": {"core", "errors", "environments", "memory", "recall"},
    "survival": {"core", "errors", "environments", "memory"},
    "aio": {"core", "errors", "ledger", "memory", "protocols", "recall", "verbs"},
    "mcp": {"core", "errors", "memory", "version"},
    "http": {"core", "dashboard", "encoding", "errors", "files", "graph", "mcp", "memory", "opening", "protocols", "version"},
    "dashboard": set(),
    "integrations": {"ci", "core", "errors", "memory", "places", "system", "version"},
    "places": set(),
    "ci": {"core", "errors", "files", "memory", "meters"},
    "cli": {
        "benching",
        "ci",
        "core",
        "encoding",
        "environments",
        "errors",
        "http",
        "installed",
        "integrations",
        "mcp",
        "memory",
        "meters",
        "opening",
        "places",
        "protocols",
        "survival",
        "system",
        "version",
    },
    # names only, looked up when they are first used
    "__init__": {"aio", "core", "memory", "survival", "version"},
    "__main__": {"cli"},
    "version": set(),
}
"""What each part may import beside itself."""

EDGES: Final = {"aio", "benching", "ci", "cli", "survival", "mcp", "http", "dashboard", "integrations"}
THIRD_PARTY: Final = {
    "encoding/pdf.py": {"pypdf"},
    "core/stems.py": {"snowballstemmer"},
    "core/segmenting.py": {"rjieba"},
    "core/onethread.py": {"numpy"},
    "core/vectors.py": {"numpy"},
    "embedders": {"numpy"},
    "embedders/transformers.py": {"sentence_transformers"},
    "rerankers/crossencoder.py": {"sentence_transformers"},
    "http": {"pydantic", "starlette"},
    "http/serving.py": {"pydantic", "starlette", "uvicorn"},
    "http/tracing.py": {"opentelemetry"},
    "mcp/server.py": {"anyio", "mcp", "mcp_types"},
    "mcp/stdio.py": {"anyio", "mcp", "mcp_types", "pydantic"},
    "mcp/web.py": {"mcp", "starlette", "uvicorn"},
    "stores/sqlite": {"apsw"},
    "moving/tables.py": {"apsw"},
    "testing/evm.py": {"eth_tester"},
    "integrations/pytest_plugin.py": {"pytest"},
    "stores/sqlite/ann.py": {"faiss", "numpy"},
    "stores/sqlite/shelf.py": {"numpy"},
    "stores/sqlite/vectors.py": {"numpy"},
}
"""Packages outside the standard library, and who alone imports them."""

EXPORTED: Final = [
    "ALL", "Answer", "AsyncMemory", "Entry", "Hit", "Memory", "Outcome", "Settlement", "SurvivalConfig", "SurvivalLoop", "Task", "Ticket",
    "__version__",
]  # fmt: skip
"""What `from earnest import …` offers, as API.md has it."""


@cache
def files() -> dict[str, ast.Module]:
    """Every source file by its path in the package."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in sorted(SOURCE.rglob("*.py"))
    }


def part_of(name: str) -> str:
    """The part that a module belongs to: `earnest.stores.sqlite.store` to `stores.sqlite`."""
    steps = [step for step in name.removeprefix("earnest").split(".") if step]
    if not steps:
        return "__init__"
    if steps[0] == "stores":
        return ".".join(steps[:2])
    return "version" if steps[0] == "_version" else steps[0]


def module_of(file: str) -> str:
    return "earnest." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__").removesuffix("__init__")


def imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Everything that is imported, also inside functions and for types alone, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"line {node.lineno}: imports are absolute"
            yield node.module, node.lineno
            if node.module == "earnest":
                yield from ((f"earnest.{alias.name}", node.lineno) for alias in node.names if alias.name != "__version__")


@pytest.mark.parametrize("file", files())
def test_imports_point_down_the_page(file: str) -> None:
    mine = part_of(module_of(file))
    if mine == "stores":
        return
    assert mine in ALLOWED, f"{mine} is a new part: say in ALLOWED what it may import"
    wrong = []
    for name, line in imports(files()[file]):
        if name.split(".")[0] != "earnest":
            continue
        other = part_of(name)
        if name == "earnest" or other == mine or other in ALLOWED[mine] or (other == "stores" and mine in ("memory", "opening")):
            continue
        wrong.append(f"line {line}: {mine} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("file", files())
def test_nothing_imports_an_edge(file: str) -> None:
    mine = part_of(module_of(file))
    if mine in EDGES or mine in ("__init__", "__main__"):
        return
    assert [f"line {line}: {name}" for name, line in imports(files()[file]) if part_of(name) in EDGES and name.startswith("earnest")] == []


def test_the_table_allows_nothing_upwards() -> None:
    drivers = {"stores.sqlite", "environments", "embedders", "system"}
    for part, may in ALLOWED.items():
        if part in drivers | {"core", "errors", "protocols", "recall", "ledger", "encoding", "verbs"}:
            assert not may & (drivers | EDGES | {"memory", "opening", "testing"}), part
        if part not in ("memory", "opening"):
            assert "stores.sqlite" not in may, part
        assert "testing" not in may, part


@pytest.mark.parametrize("file", files())
def test_packages_from_outside_have_one_place(file: str) -> None:
    allowed = {name for place, names in THIRD_PARTY.items() if file.startswith(place) for name in names}
    outside = {name.split(".")[0] for name, _ in imports(files()[file])} - set(sys.stdlib_module_names) - {"earnest", "__future__"}
    assert outside <= allowed


@pytest.mark.parametrize("file", [file for file in files() if file.endswith("__init__.py") and file != "__init__.py"])
def test_an_init_file_holds_imports_alone(file: str) -> None:
    for place, node in enumerate(files()[file].body):
        docstring = place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        names = isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]
        assert docstring or names or isinstance(node, ast.Import | ast.ImportFrom), f"line {node.lineno}: {ast.unparse(node)[:60]}"


FOREIGN: Final = {"embedders/foreign.py", "llms/foreign.py", "rerankers/foreign.py"}
"""Where users' own code is called, which may raise anything: all of it becomes a typed error there."""


def handlers(tree: ast.Module) -> Iterator[ast.ExceptHandler]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler))


@pytest.mark.parametrize("file", files())
def test_no_handler_swallows_what_it_does_not_know(file: str) -> None:
    if file == "cli/main.py":
        return
    for handler in handlers(files()[file]):
        caught = {"*"} if handler.type is None else {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
        if caught & {"*", "Exception", "BaseException"}:
            last = handler.body[-1]
            if file in FOREIGN and caught == {"Exception"} and isinstance(last, ast.Raise) and last.cause is not None:
                # Nothing is swallowed: what a user's own code raised becomes a typed error, with the first one as its cause.
                continue
            assert isinstance(last, ast.Raise) and last.exc is None and caught == {"BaseException"}, (
                f"line {handler.lineno}: catches {caught} and does not raise it again"
            )


CHANCE: Final = {"random", "secrets", "uuid"}
CLOCKS: Final = {
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns", "time.localtime", "time.gmtime",
    "os.urandom",
}  # fmt: skip


@pytest.mark.parametrize("file", files())
def test_time_and_chance_come_in_from_outside(file: str) -> None:
    if file == "system.py" or file.startswith("testing/"):
        return
    tree = files()[file]
    if not file.startswith("environments/"):
        found = {name for name, _ in imports(tree)} & CHANCE
        # The demo draws worlds with a seed of its own; everything else is given an `Rng`.
        assert not found, f"imports {found}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert not any(called == clock or called.endswith("." + clock) for clock in CLOCKS), f"line {node.lineno}: {called}"
        if called.startswith("random."):
            assert called == "random.Random" and node.args, f"line {node.lineno}: {called} is chance without a seed"


def documented(tree: ast.Module) -> Iterator[tuple[str, int, str | None, str]]:
    """Every public class, function and method: its name, line, docstring, and the docstring of its class."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node.lineno, ast.get_docstring(node), ""
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and not inner.name.startswith("_"):
                        yield inner.name, inner.lineno, ast.get_docstring(inner), ast.get_docstring(node) or ""


@pytest.mark.parametrize("file", files())
def test_everything_public_says_what_it_does(file: str) -> None:
    contract = {name for kind in (protocols.Reading, protocols.Writing, protocols.Store) for name in dir(kind)}
    tree = files()[file]
    assert file == "__main__.py" or ast.get_docstring(tree), "the file does not say what it is for"
    silent = []
    for name, line, said, of_class in documented(tree):
        # What a driver does is said once, in the protocol that its class names.
        told_elsewhere = "implements `earnest.protocols." in of_class and name in contract
        if not said and not told_elsewhere:
            silent.append(f"line {line}: {name}")
    assert silent == []


@pytest.mark.parametrize("file", files())
def test_nothing_is_left_for_later(file: str) -> None:
    text = (SOURCE / file).read_text(encoding="utf-8")
    assert not re.findall(r"\b(?:TODO|FIXME|XXX|HACK)\b|NotImplementedError", text)
    assert file == "_version.py" or file.endswith("__init__.py") or "from __future__ import annotations" in text


def test_the_package_exports_a_small_set() -> None:
    assert earnest.__all__ == sorted(earnest.__all__) == EXPORTED
    assert dir(earnest) == EXPORTED
    for name in EXPORTED:
        assert getattr(earnest, name) is not None
    with pytest.raises(AttributeError, match="nobody"):
        _ = earnest.nobody


def test_every_module_can_be_imported() -> None:
    for module in pkgutil.walk_packages([str(SOURCE)], "earnest."):
        if module.name != "earnest.__main__":
            importlib.import_module(module.name)


LIGHT: Final = """
import sys
import earnest
loaded = sorted(name for name in sys.modules if name.split(".")[0] in ("apsw", "snowballstemmer", "sqlite3"))
loaded += sorted(name for name in sys.modules if name.startswith("earnest.") and name != "earnest._version")
assert not loaded, loaded
assert earnest.Memory.__name__ == "Memory"
import apsw
print("fine")
"""


def test_import_earnest_loads_next_to_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "fine\n", done.stderr
