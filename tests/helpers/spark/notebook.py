"""Analyse the metadata log of a cluster in Spark SQL: python notebook.py METADATA_LOG…"""

import os
import sys

from pyspark.sql import SparkSession

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers run the python3 of PATH
spark = SparkSession.builder.master("local[2,4]").getOrCreate()
logs = spark.read.format("kraftops").option("decoder", "metadata")
logs.option("columns", "timestamp,kind,type,topicId,partitionId")  # others are not decoded
logs.load(sys.argv[1:]).createOrReplaceTempView("log")

print("records per type and day")
spark.sql("""
    SELECT date(timestamp) AS day, type, count(*) AS records
    FROM log WHERE kind = 'metadata' GROUP BY ALL ORDER BY day, records DESC, type
""").show(100, truncate=False)

print("partition changes per hour")
spark.sql("""
    SELECT date_trunc('HOUR', timestamp) AS hour, count(*) AS changes,
           count(DISTINCT topicId, partitionId) AS partitions
    FROM log WHERE type = 'PARTITION_CHANGE_RECORD' GROUP BY ALL ORDER BY hour
""").show(100, truncate=False)

print("leader elections per broker")
changes = logs.option("record", "PARTITION_CHANGE_RECORD").option("columns", "value")
changes.load(sys.argv[1:]).createOrReplaceTempView("changes")
spark.sql("""
    SELECT value.leader AS broker, count(*) AS elections
    FROM changes WHERE value.leader >= 0 GROUP BY ALL ORDER BY elections DESC, broker
""").show(100, truncate=False)
spark.stop()
