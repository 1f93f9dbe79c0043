"""Import of kafka-python's codec alone."""

import subprocess
import sys


def test_replaced_package_can_be_found() -> None:
    """PySpark looks whether it is installed."""
    code = (
        "from kraftops_cli.live.kafka_package import skip_kafka_clients; skip_kafka_clients();"
        "from importlib.util import find_spec; print(find_spec('kafka').name)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "kafka\n"
