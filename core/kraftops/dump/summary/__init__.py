"""Count what a log holds, in bounded memory and in any cut."""
