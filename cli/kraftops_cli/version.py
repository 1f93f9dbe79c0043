"""Version numbers, as constants: asking the package's metadata would cost every start 25 ms."""

VERSION = "0.1.0"
KAFKA_VERSION = "4.3.1"
