"""Rolling restarts of brokers and controllers by a command of the user, one step after another."""
