"""Settings and aliases of a session."""

from dataclasses import dataclass, field

from kraftops_shell.grammar.arguments import BadLineError

CHOICES = {
    "editing-mode": ("emacs", "vi"),
    "menu": ("on", "off"),
    "suggestions": ("on", "off"),
    "mouse": ("off", "on"),
}
"""The values of each setting; the first is the usual one."""


@dataclass
class Settings:
    """The settings of a session: chosen values, and lines by the names of aliases."""

    chosen: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    editing_mode: str = "emacs"
    """The mode where none is chosen."""

    def value(self, name: str) -> str:
        usual = self.editing_mode if name == "editing-mode" else CHOICES[name][0]
        return self.chosen.get(name, usual)


def check_setting(name: str, value: str) -> None:
    """Check the name and the value of a setting.

    Raises:
        BadLineError: there is no such setting, or it does not have this value.
    """
    if name not in CHOICES:
        raise BadLineError(f"there is no setting {name} (there are {', '.join(CHOICES)})")
    if value not in CHOICES[name]:
        raise BadLineError(f"{name} is {' or '.join(sorted(CHOICES[name]))}, not {value}")
