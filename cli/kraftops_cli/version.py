"""Version numbers, as constants: to read the package's metadata takes 25 ms at every start."""

VERSION = "0.2.0"
KAFKA_VERSION = "4.3.1"
