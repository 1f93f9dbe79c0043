"""SASL login from client properties."""

from __future__ import annotations

from kraftops.errors import DecodeError
from kraftops.wire.config.client_properties import ClientProperties
from kraftops.wire.config.jaas import Login, parse_login
from kraftops.wire.config.settings import Sasl

LOGIN_MODULES = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
    "GSSAPI": "Krb5LoginModule",
}
"""The login module in `sasl.jaas.config`, by mechanism."""
_NO_MECHANISM = (
    f"sasl.mechanism is missing, which means GSSAPI; it can be {', '.join(LOGIN_MODULES)}"
)


def sasl_settings(properties: ClientProperties) -> Sasl:
    """Return the mechanism and the login.

    Raises:
        ConfigError: a value is missing, invalid or unsupported; the message holds no secret.
    """
    mechanism = properties.value("sasl.mechanism") or "GSSAPI"
    if mechanism not in LOGIN_MODULES:
        raise properties.unsupported("sasl.mechanism", f"these can: {', '.join(LOGIN_MODULES)}")
    login = _login(properties, mechanism)
    _check_options(properties, mechanism, login)
    return Sasl(
        mechanism=mechanism,
        login=login,
        service_name=properties.value("sasl.kerberos.service.name")
        or login.options.get("serviceName", ""),
        token_url=properties.value("sasl.oauthbearer.token.endpoint.url"),
        client_id=properties.value("sasl.oauthbearer.client.credentials.client.id"),
        client_secret=properties.raw_value("sasl.oauthbearer.client.credentials.client.secret")
        or "",
        scope=properties.value("sasl.oauthbearer.scope"),
    )


def _login(properties: ClientProperties, mechanism: str) -> Login:
    """Return the login of `sasl.jaas.config`, with the mechanism's login module."""
    module = LOGIN_MODULES[mechanism]
    is_named = bool(properties.value("sasl.mechanism"))
    text = properties.value("sasl.jaas.config")
    if not text:
        raise properties.error(
            "security.protocol",
            "sasl.jaas.config is missing, which security.protocol asks for",
            f"{module} is the login module of {mechanism}" if is_named else _NO_MECHANISM,
        )
    try:
        login = parse_login(text)
    except DecodeError as error:
        raise properties.error("sasl.jaas.config", f"sasl.jaas.config: {error.message}") from error
    named = login.module.rpartition(".")[2]
    if named != module:
        raise properties.error(
            "sasl.jaas.config",
            f"sasl.jaas.config names {named}, which is not for the mechanism {mechanism}",
            f"{module} is; sasl.mechanism sets the mechanism" if is_named else _NO_MECHANISM,
        )
    return login


def _check_options(properties: ClientProperties, mechanism: str, login: Login) -> None:
    """Refuse a login without user or password, and options that have no meaning here."""
    if mechanism == "PLAIN" or mechanism.startswith("SCRAM"):
        for name in ("username", "password"):
            if not login.options.get(name):
                reason = f"sasl.jaas.config has no {name}"
                how = f"{mechanism} logs in with username and password"
                raise properties.error("sasl.jaas.config", reason, how)
    for name in ("tokenauth", "useKeyTab"):
        if login.options.get(name, "").lower() == "true":
            hint = "kinit -kt takes a ticket that is used" if name == "useKeyTab" else None
            reason = f"sasl.jaas.config: {name} cannot be honoured here"
            raise properties.error("sasl.jaas.config", reason, hint)
