"""Environment variables of all tools, as their manuals have them."""

from collections.abc import Mapping

from kraftops.memory import VARIABLE

COMMON = {
    VARIABLE: "the memory budget, as --max-memory gives it.",
    "KRAFTOPS_ENGINE": "native or reference, the engine that reads records. Default: native, if it"
    " is built.",
    "KRAFTOPS_DEBUG": "if it is set, an error shows its stack trace.",
    "NO_COLOR": "if it is set, output has no colours, unless --color is given.",
    "TMPDIR": "where compressed archives are inflated, to a file without a name. Default: /tmp.",
}
"""Variables of all commands, which a manual has after those of its own command."""
AUTHORIZER = {"TZ": "the time zone of the log that --authorizer-log names."}
SPARK = {
    "SPARK_REMOTE": "the URL of a server of Spark Connect, as --master gives it.",
    "SPARK_HOME": "the installation of Spark; SPARK_CONF_DIR is its configuration.",
    "JAVA_HOME": "the Java that runs Spark. Default: that of PATH.",
    "PYSPARK_PYTHON": "the Python of the workers of a cluster.",
}
"""Variables of commands that can run on Spark."""


def environment(variables: Mapping[str, str] = COMMON) -> dict[str, str]:
    """Return the section about environment variables: those of a tool, or of all."""
    return {"Environment": "\n".join(f"{name}: {text}" for name, text in variables.items())}
