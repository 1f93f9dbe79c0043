# Made by scripts/generate.py: change the commands, not this file.

# Offer directories, and files with names that match $argv[1]; with $argv[2], also after a comma.
function __kraftops_paths
    set -l path (commandline -ct | string replace -r -- '^--?[^=]*=' '')
    set -l before ''
    if set -q argv[2]
        set before (string replace -r -- '[^,]*$' '' $path)
        set path (string replace -r -- '^.*,' '' $path)
    end
    for found in (complete -C "'' $path" | string replace -r -- '\t.*' '')
        string match -qr -- "(/|$argv[1])\$" $found; and echo $before$found
    end
end

complete -c kafka-dump-log -f
complete -c kafka-dump-log -l files -x -a '(__kraftops_paths \'(\\\\.log|\\\\.checkpoint|\\\\.index|\\\\.timeindex|\\\\.txnindex|\\\\.snapshot)(\\\\.deleted|\\\\.swap|\\\\.cleaned|\\\\.part)?\' ,)' -d 'Files, directories or patterns, separated by commas; - is standard input'
complete -c kafka-dump-log -l print-data-log -d 'Print keys and values of records as text'
complete -c kafka-dump-log -l deep-iteration -d 'Print a line for each record'
complete -c kafka-dump-log -l skip-record-metadata -d 'Leave out offsets, times and sizes of records'
complete -c kafka-dump-log -l max-bytes -x -d 'Read only the first N bytes of each log'
complete -c kafka-dump-log -l max-message-size -x -d 'Look for the batch of an index entry in N bytes'
complete -c kafka-dump-log -l verify-index-only -d 'Check indexes against their log; print no entries'
complete -c kafka-dump-log -l index-sanity-check -d 'Check of indexes only what a server checks when it starts'
complete -c kafka-dump-log -l key-decoder-class -x -a 'org.apache.kafka.tools.api.StringDecoder org.apache.kafka.tools.api.IntegerDecoder org.apache.kafka.tools.api.LongDecoder org.apache.kafka.tools.api.DefaultDecoder' -d 'Decode keys by one of Kafka\'s decoders; implies --print-data-log'
complete -c kafka-dump-log -l value-decoder-class -x -a 'org.apache.kafka.tools.api.StringDecoder org.apache.kafka.tools.api.IntegerDecoder org.apache.kafka.tools.api.LongDecoder org.apache.kafka.tools.api.DefaultDecoder' -d 'Decode values by one of Kafka\'s decoders; implies --print-data-log'
complete -c kafka-dump-log -l offsets-decoder -d 'Decode __consumer_offsets'
complete -c kafka-dump-log -l transaction-log-decoder -d 'Decode __transaction_state'
complete -c kafka-dump-log -l cluster-metadata-decoder -d 'Decode __cluster_metadata'
complete -c kafka-dump-log -l remote-log-metadata-decoder -d 'Decode __remote_log_metadata'
complete -c kafka-dump-log -l share-group-state-decoder -d 'Decode __share_group_state'
complete -c kafka-dump-log -l dialect -x -a 'kafka kip-631 kip-631-draft' -d 'The form of metadata records: Kafka\'s, or a text of KIP-631; implies their decoder'
complete -c kafka-dump-log -l raw -d 'Choose no decoder by the topic that a directory is named after'
complete -c kafka-dump-log -l from-start -d 'Of a metadata log\'s directory, read all segments and no snapshot'
complete -c kafka-dump-log -l remote-log-metadata -x -d 'Logs of __remote_log_metadata, or directories with them, that tell of tiered segments'
complete -c kafka-dump-log -l controllers -s C -x -d 'Read the metadata log of these controllers\' cluster'
complete -c kafka-dump-log -l command-config -x -a '(__kraftops_paths \'.\')' -d 'With --controllers: client properties, for login and TLS'
complete -c kafka-dump-log -l config -x -a '(__kraftops_paths \'.\')' -d 'Read from the controllers of this server.properties, with its login'
complete -c kafka-dump-log -l timeout -x -d 'With --controllers: longest wait for an answer'
complete -c kafka-dump-log -l expect-cluster-id -x -d 'With --controllers: refuse a cluster with another id'
complete -c kafka-dump-log -l type -x -d 'Only records of these types, as PARTITION_CHANGE_RECORD or partitionchange'
complete -c kafka-dump-log -l topic -x -d 'Only records about this topic, and the logs of the topic; in the metadata log a name is looked up'
complete -c kafka-dump-log -l key -x -d 'Only records with this key, or with it in a field of the key: a member, or a transactional id'
complete -c kafka-dump-log -l group -x -d 'Only records about this group, in the logs of the coordinators of groups'
complete -c kafka-dump-log -l offset -x -d 'Only these offsets, both included'
complete -c kafka-dump-log -l since -x -d 'Only records from this time on: ISO 8601 (UTC), a time of day, as 14:02 or \'yesterday 14:02\', on the last day of the log, or a duration before now, as 2h'
complete -c kafka-dump-log -l until -x -d 'Only records before this time'
complete -c kafka-dump-log -l where -x -a 'file position baseOffset topic partition offset timestamp timestampType crcValid leaderEpoch producerId producerEpoch sequence transactional control codec keySize valueSize headers kind type version key value topicId partitionId brokerId keyEncoding valueEncoding error key.group key.groupId key.memberId key.partition key.regularExpression key.topic key.topicId key.transactionalId value.activeTasks value.activeTasksPendingRevocation value.addingReplicas value.assignedPartitions value.assignmentEpoch value.assignmentTimestamp value.brokerEpoch value.brokerId value.classicMemberMetadata value.clientHost value.clientId value.clientTags value.clientTransactionVersion value.commitTimestamp value.controllerId value.coordinatorEpoch value.cordonedLogDirs value.createTimestamp value.currentStateTimestamp value.customMetadata value.deletingTopics value.deliveryCompleteCount value.directories value.eligibleLeaderReplicas value.endOffset value.endPoints value.entity value.epoch value.eventTimestampMs value.expirationTimestamp value.expireTimestamp value.featureLevel value.features value.fenced value.generation value.grantingVoters value.host value.id value.inControlledShutdown value.incarnationId value.initializedTopics value.initializingTopics value.instanceId value.isMigratingZkBroker value.isr value.issueTimestamp value.iterations value.kRaftVersion value.key value.lastAssignmentConfigs value.lastContainedLogTimestamp value.lastKnownElr value.leader value.leaderEpoch value.leaderId value.leaderRecoveryState value.logDirs value.maxTimestamp value.maxTimestampMs value.mechanism value.memberEpoch value.members value.metadata value.metadataHash value.name value.nextProducerEpoch value.nextProducerId value.offset value.operation value.owner value.partitionEpoch value.partitionId value.partitionsPendingRevocation value.patternType value.permissionType value.previousMemberEpoch value.previousProducerId value.principal value.processId value.producerEpoch value.producerId value.protocol value.protocolType value.rack value.rackId value.reason value.rebalanceTimeoutMs value.remoteLogSegmentId value.remoteLogSegmentState value.remotePartitionDeleteState value.remove value.removingReplicas value.renewers value.replicas value.requester value.resourceName value.resourceType value.salt value.segmentId value.segmentLeaderEpochs value.segmentSizeInBytes value.serverAssignor value.serverKey value.snapshotEpoch value.standbyTasks value.standbyTasksPendingRevocation value.startOffset value.state value.stateBatches value.stateEpoch value.storedKey value.subscribedTopicNames value.subscribedTopicRegex value.subtopologies value.timestamp value.tokenId value.topicId value.topicIdPartition value.topicName value.topicPartitions value.topics value.topologyEpoch value.transactionLastUpdateTimestampMs value.transactionPartitions value.transactionStartTimestampMs value.transactionStatus value.transactionTimeoutMs value.txnIndexEmpty value.userEndpoint value.validatedTopologyEpoch value.value value.version value.voters value.warmupTasks value.warmupTasksPendingRevocation value.writeTimestamp value.zkMigrationReady value.zkMigrationState' -d 'Only records of which this is true, as "value.leader = 3 and offset > 100"'
complete -c kafka-dump-log -l limit -x -d 'Stop after N records'
complete -c kafka-dump-log -l tail -x -d 'Only the last N records'
complete -c kafka-dump-log -l format -x -a 'text json csv parquet' -d 'Kafka\'s text, or rows: JSON, one object a line; CSV; Parquet (needs --output)'
complete -c kafka-dump-log -l csv-safe -d 'CSV for spreadsheets: an apostrophe before texts that begin with = + - @ tab or CR'
complete -c kafka-dump-log -l output -x -d 'Write to this file, whole or not at all'
complete -c kafka-dump-log -l overwrite -d 'Replace the output if it exists, as a whole'
complete -c kafka-dump-log -l show-secrets -d 'Show credentials and secret configuration values in rows'
complete -c kafka-dump-log -l summary -d 'Count instead of printing; --format json is for programs'
complete -c kafka-dump-log -l log -x -d 'With --summary: everything about this log, instead of a line for each'
complete -c kafka-dump-log -l sort -x -a 'topic segments records bytes offset time damage' -d 'With --summary: the order of logs, the largest first but for topics'
complete -c kafka-dump-log -l top -x -d 'With --summary: only the first N logs'
complete -c kafka-dump-log -l follow -d 'Continue with appended batches, until Ctrl-C; with --tail 0 only these'
complete -c kafka-dump-log -l salvage -d 'After damage, search for the next whole batch'
complete -c kafka-dump-log -l skip-invalid -d 'Leave out batches whose CRC does not match their bytes'
complete -c kafka-dump-log -l check -d 'Exit with 2 if anything is damaged, with a line for each; check directories as a whole'
complete -c kafka-dump-log -l jobs -x -d 'Threads'
complete -c kafka-dump-log -l max-memory -x -d 'Memory beside the image, as 512m or 2g; a quarter for a batch'
complete -c kafka-dump-log -l color -x -a 'auto always never' -d 'Use colours: always, never, or only on a terminal'
complete -c kafka-dump-log -l no-escape -d 'Write control characters of data to a terminal as they are'
complete -c kafka-dump-log -l spark -d 'Run on Spark, for logs too large for one machine'
complete -c kafka-dump-log -l master -x -d 'Spark\'s master: spark://HOST:PORT, yarn, k8s://…; Spark Connect: sc://HOST:PORT'
complete -c kafka-dump-log -l conf -x -d 'Configuration of Spark, as spark.executor.memory=4g; may be repeated'
complete -c kafka-dump-log -l shared-paths -d 'With a cluster: every node sees the files under the same paths'
complete -c kafka-dump-log -l verbose -d 'Show the log of Spark'
complete -c kafka-dump-log -l single-file -d 'With --spark: join the parts into one file'
complete -c kafka-dump-log -l partition-by -x -a 'type date topic' -d 'With --spark: write rows into a directory for each type, date (UTC) or topic'
complete -c kafka-dump-log -l sink -x -a 'delta iceberg' -d 'With --spark: write --output as a table of Delta or Iceberg, all rows at once'
complete -c kafka-dump-log -l sql -x -d 'With --spark: answer SQL on the table `log`; the screen shows 1,000 rows'
complete -c kafka-dump-log -l explain -d 'With --spark: show the plan only'
complete -c kafka-dump-log -l version -d 'Print the version of Kafka that this tool stands for'
complete -c kafka-dump-log -s h -l help -d 'Show this message and exit'
