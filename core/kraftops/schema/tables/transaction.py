"""Records of `__transaction_state` (KIP-98; Kafka's `transaction-coordinator` module)."""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
TransactionLogKey 0 0 none
  transactionalId string

TransactionLogValue 0 0-1 1+
  producerId int64
  previousProducerId int64 1+ #0 =-1
  nextProducerId int64 1+ #1 =-1
  producerEpoch int16
  nextProducerEpoch int16 1+ #3 =-1
  transactionTimeoutMs int32
  transactionStatus int8
  transactionPartitions []PartitionsSchema?
    topic string
    partitionIds []int32
  transactionLastUpdateTimestampMs int64
  transactionStartTimestampMs int64
  clientTransactionVersion int16 1+ #2
"""
)
