# Made by scripts/generate.py: change the commands, not this file.

# Offer directories, and files whose names match $argv[1]; with $argv[2], after a comma too.
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

complete -c kraftops -f
complete -c kraftops -n 'not __fish_seen_subcommand_from dump-log storage' -a dump-log -d 'Print log segments, snapshots and indexes: batches, records and what is in them'
complete -c kraftops -n 'not __fish_seen_subcommand_from dump-log storage' -a storage -d 'Format and inspect the log directories of KRaft nodes'
complete -c kraftops -n 'not __fish_seen_subcommand_from dump-log storage' -l version -d 'Show the version and exit'
complete -c kraftops -n 'not __fish_seen_subcommand_from dump-log storage' -s h -l help -d 'Show this message and exit'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l files -x -a '(__kraftops_paths \'(\\\\.log|\\\\.checkpoint|\\\\.index|\\\\.timeindex|\\\\.txnindex|\\\\.snapshot)(\\\\.deleted|\\\\.swap|\\\\.cleaned|\\\\.part)?\' ,)' -d 'Files to print, separated by commas'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l print-data-log -d 'Print keys and values of records as text'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l deep-iteration -d 'Print a line for each record'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l skip-record-metadata -d 'Leave out offsets, times and sizes of records'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l max-bytes -x -d 'Read only the first N bytes of each log'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l max-message-size -x -d 'Look for the batch of an index entry in N bytes'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l verify-index-only -d 'Check indexes against their log; print no entries'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l index-sanity-check -d 'Check of indexes only what a server checks when it starts'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l key-decoder-class -x -a 'org.apache.kafka.tools.api.StringDecoder org.apache.kafka.tools.api.IntegerDecoder org.apache.kafka.tools.api.LongDecoder org.apache.kafka.tools.api.DefaultDecoder' -d 'Decode keys by one of Kafka\'s decoders; implies --print-data-log'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l value-decoder-class -x -a 'org.apache.kafka.tools.api.StringDecoder org.apache.kafka.tools.api.IntegerDecoder org.apache.kafka.tools.api.LongDecoder org.apache.kafka.tools.api.DefaultDecoder' -d 'Decode values by one of Kafka\'s decoders; implies --print-data-log'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l offsets-decoder -d 'Decode __consumer_offsets'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l transaction-log-decoder -d 'Decode __transaction_state'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l cluster-metadata-decoder -d 'Decode __cluster_metadata'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l remote-log-metadata-decoder -d 'Decode __remote_log_metadata'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l share-group-state-decoder -d 'Decode __share_group_state'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l dialect -x -a 'kafka kip-631 kip-631-draft' -d 'The form of metadata records: Kafka\'s, or a text of KIP-631; implies their decoder'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l max-inflated-bytes -x -d 'Refuse a batch that inflates beyond N bytes'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -l version -d 'Print the version of Kafka that this tool stands for'
complete -c kraftops -n '__fish_seen_subcommand_from dump-log' -s h -l help -d 'Show this message and exit'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid' -a info -d 'Show what the log directories of a node hold, also beside a running server'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid' -a format -d 'Format the log directories of a node: all that are not formatted, or none'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid' -a version-mapping -d 'Show the metadata version of a release, and the level of each feature that goes with it'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid' -a feature-dependencies -d 'Show which levels of other features a feature level needs'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid' -a random-uuid -d 'Print a new random UUID: 22 characters of URL-safe base64 that begin with no dash'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid' -s h -l help -d 'Show this message and exit'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from info' -l config -s c -x -a '(__kraftops_paths \'.\')' -d 'The configuration file of the node'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from info' -l override -x -d 'A configuration key that replaces the file\'s; may be given more than once'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from info' -l format -x -a 'text json table' -d 'The form of the output; text is Kafka\'s, the others show all that is known'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from info' -s h -l help -d 'Show this message and exit'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l config -s c -x -a '(__kraftops_paths \'.\')' -d 'The configuration file of the node'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l cluster-id -s t -x -d 'The cluster id, the same on all nodes; random-uuid makes one'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l add-scram -s S -x -d 'A SCRAM user, as SCRAM-SHA-256=[name=alice,password=…]; may be given more than once'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l ignore-formatted -s g -d 'Leave formatted directories alone'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l release-version -s r -x -a '3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4 3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2 3.6-IV0 3.6-IV1 3.6-IV2 3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 4.3-IV0 4.4-IV0' -d 'The release whose features the cluster begins with, as 3.9'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l feature -s f -x -d 'The level of a feature; may be given more than once'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l standalone -s s -d 'Begin a dynamic quorum with this controller alone'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l no-initial-controllers -s N -d 'Begin without voters: this node joins a quorum that others begin'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l initial-controllers -s I -x -d 'Begin a dynamic quorum with these controllers; the same list on each of them'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l add-scram-file -x -a '(__kraftops_paths \'.\')' -d 'A file of SCRAM users, one -S argument a line; - is standard input'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l ensure -d 'Format what is empty, accept what is as asked, refuse what differs'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l dry-run -s n -d 'Check and show everything, write nothing'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l strict -d 'Refuse a cluster id that is no UUID, and directories that cannot be read'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l force -d 'Format directories that hold partitions, too'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l override -x -d 'A configuration key that replaces the file\'s; may be given more than once'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -l format -x -a 'text json' -d 'The form of the output'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from format' -s h -l help -d 'Show this message and exit'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from version-mapping' -l release-version -s r -x -a '3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4 3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2 3.6-IV0 3.6-IV1 3.6-IV2 3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 4.3-IV0 4.4-IV0' -d 'The release, as 3.9 or 3.9-IV0'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from version-mapping' -l format -x -a 'text json' -d 'The form of the output'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from version-mapping' -s h -l help -d 'Show this message and exit'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from feature-dependencies' -l feature -s f -x -d 'A feature and its level; may be given more than once'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from feature-dependencies' -l format -x -a 'text json' -d 'The form of the output'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from feature-dependencies' -s h -l help -d 'Show this message and exit'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from random-uuid' -l format -x -a 'text json' -d 'The form of the output'
complete -c kraftops -n '__fish_seen_subcommand_from storage; and __fish_seen_subcommand_from random-uuid' -s h -l help -d 'Show this message and exit'
