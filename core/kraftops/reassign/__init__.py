"""Changes of a running cluster in many steps, without any state but the cluster's."""
