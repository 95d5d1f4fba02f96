"""Completion scripts, made from the tables of commands."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from earnest.cli.render import Screen
from earnest.cli.tables import COMMANDS, EVERYWHERE, Command, Option


def completion(args: Namespace, screen: Screen) -> int:
    """`earnest completion`."""
    script = {"bash": bash, "zsh": zsh, "fish": fish}[args.shell]()
    if screen.as_json:
        screen.json({"shell": args.shell, "script": script})
    else:
        screen.stream.write(script)
    return 0


def _options(command: Command) -> list[Option]:
    return [option for option in (*command.options, *EVERYWHERE) if option.names[0].startswith("-")]


def _arguments(command: Command) -> list[Option]:
    return [option for option in command.options if not option.names[0].startswith("-")]


def _takes_value(option: Option) -> bool:
    return option.type not in ("true", "false")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def bash() -> str:
    """The script for bash."""
    everywhere = " ".join(name for option in EVERYWHERE for name in option.names)
    valued = "|".join(name for option in EVERYWHERE if _takes_value(option) for name in option.names)
    lines = [
        '# Completion for earnest in bash. Load it with: eval "$(earnest completion bash)"',
        "_earnest() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" cmd="" i=1',
        "    while (( i < COMP_CWORD )); do",
        '        case "${COMP_WORDS[i]}" in',
        f"            {valued}) (( i++ )) ;;",
        "            -*) ;;",
        '            *) cmd="${COMP_WORDS[i]}"; break ;;',
        "        esac",
        "        (( i++ ))",
        "    done",
        "    local words=''",
        '    case "$cmd:$prev" in',
    ]
    lines += [f"        *:{name}) COMPREPLY=(); compopt -o default 2>/dev/null; return ;;" for name in _filenames(EVERYWHERE)]
    for command in COMMANDS:
        for option in _options(command):
            if option.choices:
                patterns = "|".join(f"{command.name}:{name}" for name in option.names)
                lines.append(f"        {patterns}) words={_quoted(' '.join(option.choices))} ;;")
            elif option.files and option not in EVERYWHERE:
                patterns = "|".join(f"{command.name}:{name}" for name in option.names)
                lines.append(f"        {patterns}) COMPREPLY=(); compopt -o default 2>/dev/null; return ;;")
            elif _takes_value(option) and option not in EVERYWHERE:
                patterns = "|".join(f"{command.name}:{name}" for name in option.names)
                lines.append(f"        {patterns}) return ;;")
    lines += [
        f"        *:{'|*:'.join(valued.split('|'))}) return ;;",
        "        *)",
        '            case "$cmd" in',
        f"                '') words={_quoted(' '.join([*(c.name for c in COMMANDS), everywhere, '--help', '--version']))} ;;",
    ]
    for command in COMMANDS:
        names = [name for option in _options(command) for name in option.names]
        choices = [choice for argument in _arguments(command) for choice in argument.choices]
        files = "compopt -o default 2>/dev/null; " if any(argument.files for argument in _arguments(command)) else ""
        first = ""
        if choices or files:
            # An option begins with a dash; what does not is one of the choices, or a file where no choice fits.
            offered = f'($(compgen -W {_quoted(" ".join(choices))} -- "$cur"))' if choices else "()"
            first = f' [[ "$cur" != -* ]] && {{ COMPREPLY={offered}; {files}return; }} ;'
        lines.append(f"                {command.name}){first} words={_quoted(' '.join([*names, '--help']))} ;;")
    lines += [
        "            esac ;;",
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -F _earnest earnest",
    ]
    return "\n".join(lines) + "\n"


def _filenames(options: Sequence[Option]) -> list[str]:
    return [name for option in options if option.files for name in option.names]


def _zsh_spec(option: Option) -> list[str]:
    made = []
    for name in option.names:
        told = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
        value = ""
        if _takes_value(option):
            action = f"({' '.join(option.choices)})" if option.choices else "_files" if option.files else " "
            value = f":{(option.metavar or 'value').lower()}:{action}"
        made.append(_quoted(f"{'*' if option.repeat else ''}{name}[{told}]{value}"))
    return made


def zsh() -> str:
    """The script for zsh."""
    lines = [
        "#compdef earnest",
        '# Completion for earnest in zsh. Load it with: eval "$(earnest completion zsh)"',
        "_earnest() {",
        "    local context state state_descr line",
        "    typeset -A opt_args",
        f"    _arguments -C {' '.join(spec for option in EVERYWHERE for spec in _zsh_spec(option))} \\",
        "        '(- *)--help[help]' '(- *)--version[which Earnest this is]' '1: :->command' '*:: :->rest'",
        '    case "$state" in',
        "        command)",
        "            local -a commands=(",
        *(f"                {_quoted(command.name + ':' + command.summary.replace(':', ' -'))}" for command in COMMANDS),
        "            )",
        "            _describe command commands ;;",
        "        rest)",
        '            case "$line[1]" in',
    ]
    for command in COMMANDS:
        specs = [spec for option in _options(command) for spec in _zsh_spec(option)]
        for argument in _arguments(command):
            star = "*" if argument.nargs == "+" else ""
            action = f"({' '.join(argument.choices)})" if argument.choices else "_files" if argument.files else " "
            specs.append(_quoted(f"{star}:{(argument.metavar or argument.names[0]).lower()}:{action}"))
        lines.append(f"                {command.name}) _arguments {' '.join([*specs, _quoted('--help[help]')])} ;;")
    lines += ["            esac ;;", "    esac", "}", "compdef _earnest earnest"]
    return "\n".join(lines) + "\n"


def fish() -> str:
    """The script for fish."""
    names = " ".join(command.name for command in COMMANDS)
    lines = [
        "# Completion for earnest in fish. Load it with: earnest completion fish | source",
        "complete -c earnest -f",
    ]
    first = f"-n 'not __fish_seen_subcommand_from {names}'"
    lines += [f"complete -c earnest {first} -a {c.name} -d {_quoted(c.summary)}" for c in COMMANDS]
    lines += [f"complete -c earnest {_fish_option(option)}" for option in EVERYWHERE]
    lines.append("complete -c earnest -l help -d help")
    for command in COMMANDS:
        where = f"-n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"complete -c earnest {where} {_fish_option(option)}" for option in _options(command) if option not in EVERYWHERE]
        for argument in _arguments(command):
            if argument.choices:
                lines.append(f"complete -c earnest {where} -a {_quoted(' '.join(argument.choices))}")
            elif argument.files:
                lines.append(f"complete -c earnest {where} -F")
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = ""
    if _takes_value(option):
        value = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r -F" if option.files else " -x"
    return f"{names}{value} -d {_quoted(option.help)}"
