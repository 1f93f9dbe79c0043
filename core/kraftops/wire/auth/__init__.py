"""Log in: TLS stores, SASL mechanisms, OAuth tokens."""
