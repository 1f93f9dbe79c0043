"""The data source `kraftops` for Spark, which imports modules with names that begin so."""

from kraftops.spark.datasource import KraftopsDataSource as DefaultSource

__all__ = ["DefaultSource"]
