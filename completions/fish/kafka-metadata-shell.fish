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

complete -c kafka-metadata-shell -f
complete -c kafka-metadata-shell
complete -c kafka-metadata-shell -s s -l snapshot -x -d 'A snapshot, a segment, or a directory that holds the metadata log'
complete -c kafka-metadata-shell -s c -l config -x -a '(__kraftops_paths \'.\')' -d 'The configuration of a node, whose metadata log is the source'
complete -c kafka-metadata-shell -l format -x -a 'kafka json' -d 'Speak as Kafka\'s shell does, or as ours: with JSON and more commands'
complete -c kafka-metadata-shell -l at-offset -x -d 'Show the state after the record of this offset'
complete -c kafka-metadata-shell -l at-time -x -d 'Show the state at a time, or a duration ago'
complete -c kafka-metadata-shell -l dialect -x -d 'Whose records these are'
complete -c kafka-metadata-shell -l show-secrets -d 'Do not redact passwords and keys'
complete -c kafka-metadata-shell -l color -x -a 'auto always never' -d 'Colour JSON, or only on a terminal'
complete -c kafka-metadata-shell -l no-history -d 'Do not keep the lines of an interactive session'
complete -c kafka-metadata-shell -s h -l help -d 'Show this message and exit'
