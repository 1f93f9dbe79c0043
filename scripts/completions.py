"""Static completions for bash, zsh and fish: a TAB starts no process."""

from collections.abc import Iterator

import click

from command_tree import Kind, Tool, Values, names, summary, value_is_optional, values

_MADE_BY = "Made by scripts/generate.py: change the commands, not this file."

_BASH_PATHS = r"""
# Offer paths that begin with $1: directories, and files with names that match $2.
_kraftops_paths() {
    local typed=${cur#"$1"} before=${1//[\\\'\"]/} files=$2 path
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
        if [[ -d ${path/#'~/'/"$HOME/"} ]]; then
            COMPREPLY+=("$before$path${before:+/}") # readline sees directories only by themselves
            compopt -o nospace 2>/dev/null
        elif [[ $path =~ $files ]]; then
            COMPREPLY+=("$before$path")
        fi
    done < <(compgen -f -- "$typed")
}
"""
_BASH_WORDS = r"""
    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} tool='' words i
    COMPREPLY=()
    # Readline makes --option=value three words.
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $option == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi"""
_BASH_TOOL = r"""    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$tool ${COMP_WORDS[i]}" in
            %s) tool+=" ${COMP_WORDS[i]}" ;;
        esac
    done"""
_FISH_PATHS = r"""
# Offer directories, and files with names that match $argv[1]; with $argv[2], also after a comma.
function __kraftops_paths
    set -l path (commandline -ct | string replace -r -- '^--?[^=]*=' '')
    set -l before ''
    if set -q argv[2]
        set before (string replace -r -- '[^,]*$' '' $path)
        set path (string replace -r -- '^.*,' '' $path)
    end
    for found in (complete -C "'' $path" | string replace -r -- '\t.*' '')
        string match -qr -- "(/|$argv[1])\$" $found; and echo $before$found
    end
end
"""


def bash(program: Tool) -> str:
    """Return the completions of a program for bash."""
    function = _function(program)
    lines = [f"# {_MADE_BY}", _BASH_PATHS, f"{function}() {{{_BASH_WORDS}"]
    if program.completed:
        lines.append(_BASH_TOOL % "|".join(map(_bash_tool, list(program.walk_completed())[1:])))
    lines.append("    case $tool in")
    for tool in program.walk_completed():
        lines += [f"        {_bash_tool(tool)})", *_bash_values(tool), "            ;;"]
    lines += [
        "    esac",
        '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")',
        "}",
        f"complete -F {function} {program.words[0]}",
    ]
    return "\n".join(lines) + "\n"


def _bash_tool(tool: Tool) -> str:
    return _quoted("".join(f" {word}" for word in tool.words[1:]))


def _bash_values(tool: Tool) -> Iterator[str]:
    """Yield the lines that set the offered words, or return with paths or nothing."""
    yield f"            words={_quoted(' '.join(n for o in tool.options for n in names(o)))}"
    yield "            case $option in"
    for option in tool.options:
        if not option.is_flag:
            action = _bash_action(values(option))
            if value_is_optional(option):
                action = _unless_option(action)
            yield f"                {'|'.join(names(option))}) {action} ;;"
    if (others := _positional(tool)) != Values():
        action = _bash_action(others)
        if tool.completed and tool.takes_paths:
            below = _quoted(" ".join(sub.words[-1] for sub in tool.completed))
            action = (
                f"[[ $option == {tool.words[-1]} ]] &&"
                f' mapfile -t COMPREPLY < <(compgen -W {below} -- "$cur"); {action}'
            )
        yield f"                *) {_unless_option(action)} ;;"
    yield "            esac"


def _bash_action(offered: Values) -> str:
    if offered.kind is Kind.NOTHING:
        return "return"
    if offered.kind is Kind.WORDS:
        return f"words={_quoted(' '.join(offered.words))}"
    before = '"${cur%"${cur##*,}"}"' if offered.is_list else "''"
    return f"_kraftops_paths {before} {_quoted(_regex(offered) + '$')}; return"


def _unless_option(action: str) -> str:
    return f"if [[ $cur != -* ]]; then {action}; fi"


def zsh(program: Tool) -> str:
    """Return the completions of a program for zsh."""
    lines = [f"#compdef {program.words[0]}", f"# {_MADE_BY}"]
    for tool in program.walk_completed():
        lines += ["", f"{_function(tool)}() {{", *_zsh_body(tool), "}"]
    # zsh loads this file as the body of the function that it defines.
    return "\n".join([*lines, "", f'{_function(program)} "$@"']) + "\n"


def _zsh_body(tool: Tool) -> Iterator[str]:
    specs = [spec for option in tool.options for spec in _zsh_option(option)]
    for number, argument in enumerate([] if tool.completed else tool.arguments, 1):
        place = "*" if argument.nargs < 0 else number
        specs.append(f"{place}:{argument.name}:{_zsh_action(values(argument))}")
    if not tool.completed:
        yield "    _arguments \\"
        yield " \\\n".join(f"        {_quoted(spec)}" for spec in specs)
        return
    specs += ["1:command:->command", "*::argument:->argument"]
    yield "    local curcontext=$curcontext state state_descr line result=1"
    yield "    local -A opt_args"
    yield "    local -a commands=("
    for sub in tool.completed:
        yield f"        {_quoted(f'{sub.words[-1]}:{summary(sub.command.help)}')}"
    yield "    )"
    yield "    _arguments -C \\"
    yield " \\\n".join(f"        {_quoted(spec)}" for spec in specs) + " && result=0"
    yield "    case $state in"
    paths = "_files && result=0" if tool.takes_paths else ""
    yield "        command)"
    yield "            _describe command commands && result=0"
    if paths:
        yield f"            {paths}"
    yield "            ;;"
    yield "        argument)"
    yield "            case $line[1] in"
    for sub in tool.completed:
        yield f"                {sub.words[-1]}) {_function(sub)} && result=0 ;;"
    if paths:
        yield f"                *) {paths} ;;"
    yield "            esac"
    yield "            ;;"
    yield "    esac"
    yield "    return result"


def _zsh_option(option: click.Option) -> Iterator[str]:
    about = summary(option.help)
    for sign in "\\[]:":
        about = about.replace(sign, "\\" + sign)
    others = f"({' '.join(names(option))})" if len(names(option)) > 1 else ""
    value = ""
    if not option.is_flag:
        colons = "::" if value_is_optional(option) else ":"
        value = f"{colons}{str(option.name).replace('_', ' ')}:{_zsh_action(values(option))}"
    for name in names(option):
        yield f"{'*' if option.multiple else others}{name}{'=' if value else ''}[{about}]{value}"


def _zsh_action(offered: Values) -> str:
    if offered.kind is Kind.NOTHING:
        return " "
    if offered.kind is Kind.WORDS:
        return f"({' '.join(offered.words)})"
    if offered.kind is Kind.DIRECTORIES:
        return "_files -/"
    if not offered.suffixes:
        return "_files"
    second = _alternatives(("", *offered.second_suffixes))
    files = f'_files -g "*({_alternatives(offered.suffixes)})({second})"'
    return f'{{ compset -P "*,"; {files} }}' if offered.is_list else files


def fish(program: Tool) -> str:
    """Return the completions of a program for fish."""
    lines = [f"# {_MADE_BY}", _FISH_PATHS, f"complete -c {program.words[0]} -f"]
    for tool in program.walk_completed():
        lines += _fish_tool(tool)
    return "\n".join(lines) + "\n"


def _fish_tool(tool: Tool) -> Iterator[str]:
    seen = [f"__fish_seen_subcommand_from {word}" for word in tool.words[1:]]
    if tool.completed:
        below = " ".join(sub.words[-1] for sub in tool.completed)
        seen.append(f"not __fish_seen_subcommand_from {below}")
    start = f"complete -c {tool.words[0]}"
    if seen:
        start += f" -n {_fish_quoted('; and '.join(seen))}"
    for sub in tool.completed:
        yield f"{start} -a {sub.words[-1]} -d {_fish_quoted(summary(sub.command.help))}"
    for argument in tool.arguments:
        yield start + _fish_values(values(argument))
    for option in tool.options:
        spelled = "".join(f" {_fish_style(name)} {name.lstrip('-')}" for name in names(option))
        value = "" if option.is_flag else " -x" + _fish_values(values(option))
        yield f"{start}{spelled}{value} -d {_fish_quoted(summary(option.help))}"


def _fish_style(name: str) -> str:
    if name.startswith("--"):
        return "-l"
    return "-s" if len(name) == 2 else "-o"


def _fish_values(offered: Values) -> str:
    if offered.kind is Kind.NOTHING:
        return ""
    if offered.kind is Kind.WORDS:
        return f" -a {_fish_quoted(' '.join(offered.words))}"
    comma = " ," if offered.is_list else ""
    return f" -a {_fish_quoted(f'(__kraftops_paths {_fish_quoted(_regex(offered))}{comma})')}"


def _positional(tool: Tool) -> Values:
    """Return the completion of a word that is not an option: a command, or the first argument."""
    if tool.completed and not tool.takes_paths:
        return Values(Kind.WORDS, words=tuple(sub.words[-1] for sub in tool.completed))
    return values(tool.arguments[0]) if tool.arguments else Values()


def _regex(offered: Values) -> str:
    """Return the suffixes of the files that are offered beside directories."""
    if offered.kind is Kind.DIRECTORIES:
        return "/"
    if not offered.suffixes:
        return "."
    second = f"({_alternatives(offered.second_suffixes)})?" if offered.second_suffixes else ""
    return f"({_alternatives(offered.suffixes)}){second}".replace(".", r"\.")


def _alternatives(suffixes: tuple[str, ...]) -> str:
    return "|".join(suffixes)


def _function(tool: Tool) -> str:
    return "_" + "_".join(tool.words).replace("-", "_")


def _quoted(text: str) -> str:
    """Quote for bash and zsh."""
    return "'" + text.replace("'", r"'\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", r"\\").replace("'", r"\'") + "'"
