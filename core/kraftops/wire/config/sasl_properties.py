"""SASL login from client properties."""

from kraftops.errors import DecodeError
from kraftops.java.properties import Property
from kraftops.wire.config.client_keys import HONOURED
from kraftops.wire.config.client_properties import ClientProperties
from kraftops.wire.config.jaas import Login, parse_login
from kraftops.wire.config.settings import Sasl, Tls
from kraftops.wire.config.tls_properties import tls_settings

LOGIN_MODULES = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
    "GSSAPI": "Krb5LoginModule",
    "AWS_MSK_IAM": "IAMLoginModule",
}
"""The login module in `sasl.jaas.config`, by mechanism."""
_NO_MECHANISM = (
    f"sasl.mechanism is missing, which means GSSAPI; it can be {', '.join(LOGIN_MODULES)}"
)


def sasl_settings(properties: ClientProperties) -> Sasl:
    """Check mechanism (GSSAPI by default, as Kafka's) and login; both must fit.

    Raises:
        ConfigError: a value is missing, invalid or unsupported; the message holds no secret.
    """
    mechanism = properties.value("sasl.mechanism") or "GSSAPI"
    if mechanism not in LOGIN_MODULES:
        raise properties.unsupported("sasl.mechanism", f"these can: {', '.join(LOGIN_MODULES)}")
    protocol = properties.value("security.protocol").upper()
    if mechanism == "AWS_MSK_IAM" and protocol != "SASL_SSL":
        raise properties.error("security.protocol", "AWS_MSK_IAM needs security.protocol SASL_SSL")
    login = _login(properties, mechanism)
    _check_options(properties, mechanism, login)
    return Sasl(
        mechanism=mechanism,
        login=login,
        protocol=protocol,
        source=properties.path,
        token_tls=_token_tls(properties, login) if mechanism == "OAUTHBEARER" else None,
        service_name=properties.value("sasl.kerberos.service.name")
        or login.options.get("serviceName", ""),
        token_url=properties.value("sasl.oauthbearer.token.endpoint.url"),
        client_id=properties.value("sasl.oauthbearer.client.credentials.client.id"),
        client_secret=properties.raw_value("sasl.oauthbearer.client.credentials.client.secret")
        or "",
        scope=properties.value("sasl.oauthbearer.scope"),
    )


def _login(properties: ClientProperties, mechanism: str) -> Login:
    """Parse `sasl.jaas.config`; its module must be that of the mechanism."""
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


def _token_tls(properties: ClientProperties, login: Login) -> Tls | None:
    """Choose stores for the token endpoint; None trusts what the system trusts.

    Those of the login module's options win over those of the file.

    Raises:
        ConfigError: a key or value cannot be honoured.
    """
    own = {
        key: Property(key, value, 0)
        for key, value in login.options.items()
        if key.startswith("ssl.")
    }
    for key in own:
        if key not in HONOURED:
            raise properties.error("sasl.jaas.config", f"sasl.jaas.config: {key} is not honoured")
    entries = {key: prop for key, prop in properties.entries.items() if key.startswith("ssl.")}
    entries |= own
    if not entries:
        return None
    return tls_settings(ClientProperties(properties.path, entries))


def _check_options(properties: ClientProperties, mechanism: str, login: Login) -> None:
    """Refuse a login without user or password, and options that have no meaning here."""
    if mechanism == "PLAIN" or mechanism.startswith("SCRAM"):
        for name in ("username", "password"):
            if not login.options.get(name):
                reason = f"sasl.jaas.config has no {name}"
                how = f"{mechanism} logs in with username and password"
                raise properties.error("sasl.jaas.config", reason, how)
    if mechanism == "AWS_MSK_IAM" and login.options:
        name = next(iter(login.options))
        raise properties.error(
            "sasl.jaas.config",
            f"sasl.jaas.config: {name} cannot be honoured here",
            "the environment has it: AWS_PROFILE, AWS_ROLE_ARN, AWS_DEFAULT_REGION",
        )
    for name in ("tokenauth", "useKeyTab"):
        if login.options.get(name, "").lower() == "true":
            hint = "kinit -kt takes a ticket that is used" if name == "useKeyTab" else None
            reason = f"sasl.jaas.config: {name} cannot be honoured here"
            raise properties.error("sasl.jaas.config", reason, hint)
