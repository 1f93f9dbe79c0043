"""Exit codes of all tools, as their help and manuals have them."""

EXIT_CODES = {
    0: "done.",
    1: "it could not be done: bad arguments or configuration, nothing readable, no permission.",
    2: "done, and there are findings.",
    3: (
        "refused: a person must decide, by an option or an answer (1 for format and "
        "unregister in Kafka's form)."
    ),
    4: "what was named does not exist (1 in Kafka's form).",
    5: "nobody answers, or not in time: try again (1 in Kafka's form).",
    6: "a change was sent, and it is not known whether it was made.",
    130: "interrupted.",
    141: "the reader of the output has gone.",
}
"""Meanings by exit code. Kafka's form is that of its own names and commands without JSON."""


def exit_status(codes: dict[int, str] | None = None) -> dict[str, str]:
    """Return the section about exit codes, with further words of a tool on some of its *codes*."""
    words = {**EXIT_CODES, **(codes or {})}
    return {"Exit status": "\n".join(f"{code}: {words[code]}" for code in EXIT_CODES)}
