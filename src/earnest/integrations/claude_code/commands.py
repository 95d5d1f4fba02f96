"""Which shell commands run tests, and whether their exit status is the tests' own."""

from __future__ import annotations

import re
import shlex
from typing import Final

RUNNERS: Final = (
    r"(?:python[\d.]*|py|uv run|poetry run|pdm run|hatch run|pipenv run|rye run)?\s*(?:-m\s+)?(?:pytest|py\.test)\b",
    r"python[\d.]*\s+-m\s+unittest\b", r"(?:python[\d.]*\s+)?manage\.py\s+test\b", r"(?:uv run |poetry run )?(?:tox|nox)\b", r"hatch\s+(?:run\s+)?test\b",
    r"(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|t)\b(?::\w+)?", r"(?:npx|pnpm exec|yarn|bunx)\s+(?:jest|vitest|mocha|ava|tap|playwright\s+test)\b", r"(?:jest|vitest|mocha)\b",
    r"node\s+(?:\S+\s+)*--test\b", r"deno\s+test\b", r"bun\s+test\b", r"go\s+test\b", r"gotestsum\b", r"cargo\s+(?:\+\S+\s+)?(?:test|nextest\s+run|t)\b",
    r"(?:make|gmake|just|task|ninja)\s+(?:\S+\s+)*(?:test|tests|check)\b", r"(?:\./)?(?:mvnw|mvn)\b.*\b(?:test|verify)\b", r"(?:\./)?(?:gradlew|gradle)\b.*\b(?:test|check)\b",
    r"ctest\b", r"meson\s+test\b", r"bazel(?:isk)?\s+test\b", r"dotnet\s+test\b", r"(?:bundle\s+exec\s+)?(?:rspec|rake\s+(?:test|spec)|rails\s+test)\b", r"bin/rails\s+test\b",
    r"(?:vendor/bin/)?phpunit\b", r"composer\s+test\b", r"mix\s+test\b", r"swift\s+test\b", r"xcodebuild\b.*\btest\b", r"sbt\b.*\btest\b", r"lein\s+test\b", r"stack\s+test\b", r"cabal\s+test\b",
    r"(?:bash\s+|sh\s+)?(?:\./)?(?:scripts?|bin|ci|tools)/(?:run[-_]?)?tests?(?:\.sh)?\b", r"(?:bash\s+|sh\s+)?\./(?:run[-_]?)?tests?(?:\.sh)?\b", r"(?:prove|bats|zig\s+build\s+test|dart\s+test|flutter\s+test)\b",
)  # fmt: skip
"""Commands that run a project's tests, as their makers document them."""

_RUNS: Final = re.compile(r"(?:\S*/)?(?:" + "|".join(RUNNERS) + ")")
_SETTING: Final = re.compile(r"[A-Za-z_]\w*=\S*$")
_PREFIXES: Final = frozenset(("env", "time", "nice", "command", "exec", "sudo", "nohup", "stdbuf", "timeout"))
_NOT_A_RUN: Final = re.compile(
    r"(?:^|\s)(?:--help|-h|--version|--collect-only|--co|--list(?:Tests)?|-list|--dry-run|--no-run|--init)(?:\s|=|$)"
)
_OUTPUT: Final = re.compile(r"\d*(?:>>?|<)&?\d*$")


def test_command(command: str, more: str = "") -> str | None:
    """The test command whose exit status a shell command ends with, without what sets it up; None if there is none.

    `cd app && pytest -q` ends with that of pytest. `pytest | tail` does not, nor does `pytest || true`, nor `pytest; echo done`.

    Args:
        command: As it was given to the shell.
        more: A regular expression of further test commands, of the operator.
    """
    last = _last(command)
    if last is None:
        return None
    words = list(last)
    while words and (_SETTING.match(words[0]) or words[0] in _PREFIXES or (words[0][:1] in "-0123456789" and words[0][:1])):
        words.pop(0)
    said = " ".join(words)
    if not said or _NOT_A_RUN.search(said):
        return None
    if _RUNS.match(said) or (more and re.match(more, said)):
        return said
    return None


def _last(command: str) -> list[str] | None:
    """The words of the command that gives the exit status; None where it is not that of one command alone."""
    lexer = shlex.shlex(command.replace("\\\n", " ").replace("\n", " ; ").strip(" ;"), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    words: list[str] = []
    skip = False
    for place, token in enumerate(tokens):
        if skip:
            skip = False
        elif token in ("&&", ";"):
            words = []
        elif set(token) <= set("<>&") and set(token) & set("<>"):
            # A redirection: its target is no word of the command. `2>&1` comes as `2`, `>&`, `1`.
            skip = True
            if words and words[-1].isdigit() and place:
                words.pop()
        elif set(token) <= set("();|&"):
            return None
        else:
            words.append(token)
    return words
