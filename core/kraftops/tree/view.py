"""Views: an image in the form of Kafka's shell or of ours."""

from collections.abc import Callable, Mapping
from enum import Flag, auto
from typing import NamedTuple

from kraftops.image.state.image import MetadataImage


class Form(Flag):
    """The form of the tree: the nodes of Kafka's shell, or ours."""

    KAFKA = auto()
    OURS = auto()
    BOTH = KAFKA | OURS


class View(NamedTuple):
    """An image and the options of its tree."""

    image: MetadataImage
    form: Form
    show_secrets: bool
    version: str
    """The value of `/local/version`."""
    directory_paths: Callable[[], Mapping[bytes, str]] = dict
    """Returns the paths of log directories by their ids, as far as they are known."""
