"""Names of the tree and their values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.metadata_state import Entity, Resource
from kraftops.tree.names import (
    entity_name,
    entity_of,
    kafka_entity_name,
    resource_name,
    resource_of,
)

NAMES = st.text(st.sampled_from("ab_()\\<> \n/default\u00e4"), max_size=8)
KINDS = st.sampled_from(["client-id", "ip", "user", "planet"])


def entities(names: st.SearchStrategy[str | None]) -> st.SearchStrategy[Entity]:
    """Return a strategy of entities with these names."""
    return st.dictionaries(KINDS, names).map(lambda parts: tuple(sorted(parts.items())))


@given(entities(NAMES | st.none()))
def test_our_names_of_entities_are_read_back(entity: Entity) -> None:
    assert entity_of(entity_name(entity)) == entity


@given(st.lists(entities(NAMES | st.none()), max_size=5, unique=True))
def test_no_two_entities_have_one_name(chosen: list[Entity]) -> None:
    assert len(set(map(entity_name, chosen))) == len(chosen)


@given(entities(NAMES).filter(bool))
def test_kafkas_names_of_entities_without_defaults_are_read_back(entity: Entity) -> None:
    assert entity_of(kafka_entity_name(entity)) == entity


@pytest.mark.parametrize(
    ("entity", "ours", "kafkas"),
    [
        ((("user", "u"),), "user(u)", "user(u)"),
        ((("client-id", "c"), ("user", "u")), "clientId(c)_user(u)", "clientId(c)_user(u)"),
        ((("client-id", None), ("user", "u")), "clientId<default>_user(u)", "user(u)"),
        ((("ip", None),), "ip<default>", ""),
        ((("user", None),), "user<default>", ""),
        ((("user", ""),), "user()", "user()"),
        ((("user", "a(b)\\"),), "user(a\\(b\\)\\\\)", "user(a\\(b\\)\\\\)"),
        ((("planet", "x"),), "planet(x)", "planet(x)"),
        ((), "<empty>", ""),
    ],
)
def test_names_of_entities(entity: Entity, ours: str, kafkas: str) -> None:
    assert (entity_name(entity), kafka_entity_name(entity)) == (ours, kafkas)


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("user(b)_clientId(a)", (("client-id", "a"), ("user", "b"))),
        ("user(b)_clientId<default>", (("client-id", None), ("user", "b"))),
        ("", None),
        ("user", None),
        ("user(b", None),
        ("user(b)x", None),
    ],
)
def test_names_of_entities_are_read_in_any_order(text: str, entity: Entity | None) -> None:
    assert entity_of(text) == entity


@given(st.tuples(st.sampled_from([2, 4, 8, 16, 32, 0, 77, -1, -128]), NAMES))
def test_names_of_resources_are_read_back(resource: Resource) -> None:
    assert resource_of(resource_name(resource)) == resource


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        ((2, "orders"), "TOPIC:orders"),
        ((4, ""), "BROKER"),
        ((4, "1:2"), "BROKER:1:2"),
        ((5, "x"), "UNKNOWN(5):x"),
    ],
)
def test_names_of_resources(resource: Resource, name: str) -> None:
    assert resource_name(resource) == name


@pytest.mark.parametrize("text", ["", "topic:a", "UNKNOWN", "UNKNOWN()", "UNKNOWN(1234567)"])
def test_what_is_no_resource(text: str) -> None:
    assert resource_of(text) is None
