"""A console with streams in memory."""

import io
import os
from collections.abc import Mapping

from kraftops_shell.session.console import Console


class Streams:
    """A console with streams in memory."""

    def __init__(
        self,
        *,
        is_terminal: bool = True,
        color: str = "auto",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.out = io.StringIO()
        self.errors: list[str] = []
        self.console = Console(
            write=self.out.write,
            flush=lambda: None,
            error=self.errors.append,
            read=lambda: "",
            encode=str.encode,
            environment={"TERM": "xterm", "PATH": os.environ["PATH"], **(environment or {})},
            is_input_terminal=is_terminal,
            is_output_terminal=is_terminal,
            color=color,
        )
