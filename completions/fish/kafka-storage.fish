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

complete -c kafka-storage -f
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -a info -d 'Show what the log directories of a node hold, also beside a running server'
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -a format -d 'Format the log directories of a node: all that are not formatted, or none'
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -a version-mapping -d 'Show the metadata version of a release, and the level of each feature that goes with it'
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -a feature-dependencies -d 'Show which levels of other features a feature level needs'
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -a random-uuid -d 'Print a new random UUID: 22 characters of URL-safe base64 that begin with no dash'
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -a rewrite -d 'Change the ids in the meta.properties of all formatted directories of a stopped node'
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -a verify -d 'Tell whether a server with this configuration would start on its log directories, and have a quorum'
complete -c kafka-storage -n 'not __fish_seen_subcommand_from info format version-mapping feature-dependencies random-uuid rewrite verify' -s h -l help -d 'Show this message and exit'
complete -c kafka-storage -n '__fish_seen_subcommand_from info' -l config -s c -x -a '(__kraftops_paths \'.\')' -d 'The configuration file of the node'
complete -c kafka-storage -n '__fish_seen_subcommand_from info' -l override -x -d 'A configuration key that replaces the file\'s; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from info' -l format -x -a 'text json table' -d 'The form of the output; text is Kafka\'s, the others show all that is known'
complete -c kafka-storage -n '__fish_seen_subcommand_from info' -s h -l help -d 'Show this message and exit'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l config -s c -x -a '(__kraftops_paths \'.\')' -d 'The configuration file of the node'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l cluster-id -s t -x -d 'The cluster id, the same on all nodes; random-uuid makes one'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l add-scram -s S -x -d 'A SCRAM user, as SCRAM-SHA-256=[name=alice,password=…]; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l ignore-formatted -s g -d 'Leave formatted directories alone'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l release-version -s r -x -a '3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4 3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2 3.6-IV0 3.6-IV1 3.6-IV2 3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 4.3-IV0 4.4-IV0' -d 'The release whose features the cluster begins with, as 3.9'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l feature -s f -x -d 'The level of a feature; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l standalone -s s -d 'Begin a dynamic quorum with this controller alone'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l no-initial-controllers -s N -d 'Begin without voters: this node joins a quorum that others begin'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l initial-controllers -s I -x -d 'Begin a dynamic quorum with these controllers; the same list on each of them'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l add-scram-file -x -a '(__kraftops_paths \'.\')' -d 'A file of SCRAM users, one -S argument a line; - is standard input'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l ensure -d 'Format what is empty, accept what is as asked, refuse what differs'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l dry-run -s n -d 'Check and show everything, write nothing'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l strict -d 'Refuse a cluster id that is no UUID, and directories that cannot be read'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l force -d 'Format directories that hold partitions, too'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l override -x -d 'A configuration key that replaces the file\'s; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -l format -x -a 'text json' -d 'The form of the output'
complete -c kafka-storage -n '__fish_seen_subcommand_from format' -s h -l help -d 'Show this message and exit'
complete -c kafka-storage -n '__fish_seen_subcommand_from version-mapping' -l release-version -s r -x -a '3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4 3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2 3.6-IV0 3.6-IV1 3.6-IV2 3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 4.3-IV0 4.4-IV0' -d 'The release, as 3.9 or 3.9-IV0'
complete -c kafka-storage -n '__fish_seen_subcommand_from version-mapping' -l format -x -a 'text json' -d 'The form of the output'
complete -c kafka-storage -n '__fish_seen_subcommand_from version-mapping' -s h -l help -d 'Show this message and exit'
complete -c kafka-storage -n '__fish_seen_subcommand_from feature-dependencies' -l feature -s f -x -d 'A feature and its level; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from feature-dependencies' -l format -x -a 'text json' -d 'The form of the output'
complete -c kafka-storage -n '__fish_seen_subcommand_from feature-dependencies' -s h -l help -d 'Show this message and exit'
complete -c kafka-storage -n '__fish_seen_subcommand_from random-uuid' -l format -x -a 'text json' -d 'The form of the output'
complete -c kafka-storage -n '__fish_seen_subcommand_from random-uuid' -s h -l help -d 'Show this message and exit'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -l config -s c -x -a '(__kraftops_paths \'.\')' -d 'The configuration file of the node'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -l cluster-id -s t -x -d 'The new cluster id'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -l node-id -x -d 'The new node id'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -l to-v1 -d 'Make version 1 of version 0'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -l dry-run -s n -d 'Check and show everything, write nothing'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -l override -x -d 'A configuration key that replaces the file\'s; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -l format -x -a 'text json' -d 'The form of the output'
complete -c kafka-storage -n '__fish_seen_subcommand_from rewrite' -s h -l help -d 'Show this message and exit'
complete -c kafka-storage -n '__fish_seen_subcommand_from verify' -l config -s c -x -a '(__kraftops_paths \'.\')' -d 'The configuration file of a node; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from verify' -l cluster-id -s t -x -d 'The cluster id that is expected'
complete -c kafka-storage -n '__fish_seen_subcommand_from verify' -l override -x -d 'A configuration key that replaces the file\'s; may be given more than once'
complete -c kafka-storage -n '__fish_seen_subcommand_from verify' -l format -x -a 'text json' -d 'The form of the output'
complete -c kafka-storage -n '__fish_seen_subcommand_from verify' -s h -l help -d 'Show this message and exit'
