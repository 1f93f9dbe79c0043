"""SCRAM users that are given when a cluster is formatted."""

import hashlib
from base64 import b64decode, b64encode

import pytest

from kraftops.errors import UsageError
from kraftops.storage.bootstrap.scram import parse_credential

SECRET = "hunter2"
SALT = "W22ZaJ0SNY7soEsUEjb6gQ=="


def refusal(argument: str) -> UsageError:
    with pytest.raises(UsageError) as refused:
        parse_credential(argument)
    return refused.value


def test_keys_equal_the_example_of_the_standard() -> None:
    """RFC 7677, section 3."""
    found = parse_credential(f"SCRAM-SHA-256=[name=user,password=pencil,salt={SALT}]")

    assert (found.name, found.mechanism, found.iterations) == ("user", 1, 4096)
    assert found.salt == b64decode(SALT)
    assert found.stored_key == b64decode("WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=")
    assert found.server_key == b64decode("wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=")


def test_salted_password_gives_the_keys_of_the_password() -> None:
    salted = hashlib.pbkdf2_hmac("sha512", b"pencil", b64decode(SALT), 8192)
    common = f"SCRAM-SHA-512=[name=user,iterations=8192,salt={SALT}"

    by_password = parse_credential(f"{common},password=pencil]")
    by_salted = parse_credential(f"{common},saltedpassword={b64encode(salted).decode()}]")
    both = parse_credential(f"{common},saltedpassword=AAAA,password=pencil]")

    assert by_password == by_salted == both
    assert by_password.mechanism == 2
    assert len(by_password.stored_key) == len(by_password.server_key) == 64


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        pytest.param(f"SCRAM-SHA-256=[name=a,password={SECRET}]", "a", id="plain"),
        pytest.param(f"  SCRAM-SHA-256=[name=a,password={SECRET}]\n", "a", id="blanks around"),
        pytest.param(f'SCRAM-SHA-256=[name="al ice",password={SECRET}]', "al ice", id="quotes"),
        pytest.param(f'SCRAM-SHA-256=[name=",password={SECRET}]', '"', id="one quote"),
        pytest.param(f'SCRAM-SHA-256=[name=""a"",password={SECRET}]', '"a"', id="two quotes"),
        pytest.param(f"SCRAM-SHA-256=[name=,password={SECRET}]", "", id="no name"),
        pytest.param(f"SCRAM-SHA-256=[name=a=b,password={SECRET}]", "a=b", id="equals sign"),
        pytest.param(f"SCRAM-SHA-256=[name=a,name=b,password={SECRET}]", "b", id="the last counts"),
        pytest.param(f"SCRAM-SHA-256=[name=a,password={SECRET},,]", "a", id="commas at the end"),
        pytest.param(f"SCRAM-SHA-256=[name=zoë,password={SECRET}]", "zoë", id="beyond ASCII"),
    ],
)
def test_argument_is_read(argument: str, name: str) -> None:
    assert parse_credential(argument).name == name


def test_salt_is_made_up_anew_where_none_is_given() -> None:
    """Digits of base 36, as Kafka's are."""
    argument = f"SCRAM-SHA-256=[name=a,password={SECRET}]"

    salts = {parse_credential(argument).salt for _ in range(10)}

    assert len(salts) == 10
    assert all(len(salt) == 25 and salt.isalnum() and salt.islower() for salt in salts)


def test_text_of_a_credential_has_no_keys() -> None:
    found = parse_credential(f"SCRAM-SHA-256=[name=user,password=pencil,salt={SALT}]")

    assert repr(found) == "Credential(name='user', mechanism=1, iterations=4096)"


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("password=p", "You must supply 'name' to add-scram"),
        (" name=a,password=p", "You must supply 'name' to add-scram"),
        ("name=a", "You must supply one of 'password' or 'saltedpassword' to add-scram"),
        (
            "name=a,saltedpassword=AAAA",
            "You must supply 'salt' with 'saltedpassword' to add-scram",
        ),
        ("name=a,password=p,salt=%", "Failed to decode given salt: %"),
        (
            "name=a,salt=AAAA,saltedpassword=%",
            "Failed to decode given saltedPassword: <redacted>",
        ),
        ("name=a,password=p,iterations=many", "Failed to parse iterations count: many"),
        ("name=a,password=p,iterations=", "Failed to parse iterations count: "),
        ("name=a,password=p,iterations=4294967296", "Failed to parse iterations count: 4294967296"),
        (
            "name=a,password=p,iterations=4095",
            "The 'iterations' value must be >= 4096 for add-scram using SCRAM_SHA_256",
        ),
        (
            "name=a,password=p,iterations=16385",
            "The 'iterations' value must be <= 16384 for add-scram using SCRAM_SHA_256",
        ),
        ("z=1,name=a,b=1,password=p", "Unknown SCRAM configurations: b, z"),
        (
            "name=a, password=p",
            "You must supply one of 'password' or 'saltedpassword' to add-scram",
        ),
        ("name=a,password=", "Empty key"),
        ("name=a,salt=AAAA,saltedpassword=", "Empty key"),
        ("", "No equals sign found in SCRAM component: "),
    ],
)
def test_malformed_credential_is_refused_as_by_kafka(inside: str, message: str) -> None:
    assert refusal(f"SCRAM-SHA-256=[{inside}]").message == message


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("SCRAM-SHA-256", "Failed to find equals sign in SCRAM argument 'SCRAM-SHA-256'"),
        ("scram-sha-256=[]", "The add-scram mechanism scram-sha-256 is not supported."),
        ("PLAIN=[name=a]", "The add-scram mechanism PLAIN is not supported."),
        ("SCRAM-SHA-256=name=a]", "Expected configuration string to start with ["),
        ("SCRAM-SHA-256=[name=a", "Expected configuration string to end with ]"),
        ("SCRAM-SHA-256=", "Expected configuration string to start with ["),
    ],
)
def test_malformed_argument_is_refused(argument: str, message: str) -> None:
    assert refusal(argument).message == message


@pytest.mark.parametrize(
    "argument",
    [
        f"{SECRET}",
        f"SCRAM-SHA-256:[name=a,password:{SECRET}]",
        f"SCRAM-SHA-256[name:a,password:{SECRET}]",
        f"SCRAM-SHA-256=[name=a,password=a,{SECRET}]",
        f"SCRAM-SHA-256=[name=a,password=a,{SECRET}=b]",
        f"SCRAM-SHA-256=[name=a,password:{SECRET}]",
        f"SCRAM-SHA-256=[{SECRET}]",
        f"SCRAM-SHA-256=[name=a,Password={SECRET}]",
        f"SCRAM-SHA-256=[name=a,salt=AAAA,saltedpassword={SECRET}%]",
        f"SCRAM-SHA-256=[name=a,iterations=1,password={SECRET}]",
        f"SCRAM-SHA-256=[name=a,iterations=x,password={SECRET}]",
        f"SCRAM-SHA-256=[name=a,password={SECRET}",
        f"SCRAM-SHA-256=name=a,password={SECRET}",
        f"name=a,password={SECRET}",
        f"password={SECRET}",
    ],
)
def test_refusal_shows_nothing_of_a_password(argument: str) -> None:
    error = refusal(argument)

    assert SECRET not in error.message
    assert SECRET not in (error.hint or "")
