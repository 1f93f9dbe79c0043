"""Source of generated functions."""

from kraftops.schema.codegen.source import Source, fixed_runs, struct_of
from kraftops.schema.message import parse

MESSAGE = parse(
    """
Example 0 0 0+
  a int32
  b int64
  name string
  c bool
"""
)["Example"]


def test_neighbours_of_fixed_width_are_one_run() -> None:
    runs = fixed_runs(list(MESSAGE.fields))

    assert [[field.name for field in run] for run in runs] == [["a", "b"], ["name"], ["c"]]
    assert struct_of(runs[0]).format == ">iq"


def test_lines_become_a_function_with_its_names() -> None:
    source = Source({"given": 1})
    fresh = source.name("value", 2)
    other = source.name("value")
    source.add(0, "def add(x):")
    source.add(1, f"{other} = given + {fresh}", f"return x + {other}")

    add = source.function("add")

    assert fresh != other
    assert add(10) == 13
