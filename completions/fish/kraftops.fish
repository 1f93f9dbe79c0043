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
complete -c kraftops -n 'not __fish_seen_subcommand_from dump-log' -a dump-log -d 'Print log segments, snapshots and indexes: batches, records and what is in them'
complete -c kraftops -n 'not __fish_seen_subcommand_from dump-log' -l version -d 'Show the version and exit'
complete -c kraftops -n 'not __fish_seen_subcommand_from dump-log' -s h -l help -d 'Show this message and exit'
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
