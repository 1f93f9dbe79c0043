"""Types of option values."""

import click
import pytest

from kraftops_cli.syntax.values import JavaInteger, Number, Seconds, Size


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("+7", 7), ("-0", 0), ("60", 60)])
def test_number_within_its_maximum(text: str, number: int) -> None:
    assert Number(60).convert(text, None, None) == number


@pytest.mark.parametrize("text", ["61", "-1", "", "1.0", "٣", "1_0", "9" * 30])
def test_other_number_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a number from 0 to 60"):
        Number(60).convert(text, None, None)


@pytest.mark.parametrize("text", ["63m", "1025t", "9999999999g", "m", "-64m"])
def test_size_that_no_machine_has_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size from 64m to 1024t"):
        Size(64 << 20).convert(text, None, None)


@pytest.mark.parametrize(("text", "size"), [("64m", 64 << 20), ("1024t", 1024 << 40)])
def test_least_and_largest_size(text: str, size: int) -> None:
    assert Size(64 << 20).convert(text, None, None) == size


@pytest.mark.parametrize(
    ("text", "number"), [("-2147483648", -(1 << 31)), ("+2147483647", 0x7FFFFFFF)]
)
def test_java_integer_has_32_bits(text: str, number: int) -> None:
    assert JavaInteger().convert(text, None, None) == number


@pytest.mark.parametrize("text", ["2147483648", "x", ""])
def test_java_integer_is_refused_in_words_of_argparse4j(text: str) -> None:
    option = click.Option(["-i", "--id"])

    with pytest.raises(click.UsageError) as refused:
        JavaInteger().convert(text, option, None)

    expected = (
        f"""argument --id/-i: could not convert '{text}' to Integer (For input string: "{text}")"""
    )
    assert refused.value.message == expected


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e20", "soon"])
def test_seconds_are_positive_and_finite(text: str) -> None:
    assert Seconds().convert("0.5", None, None) == 0.5
    with pytest.raises(click.BadParameter, match="is not a number of seconds"):
        Seconds().convert(text, None, None)
