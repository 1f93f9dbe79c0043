"""What changed in a cluster, and the incidents that changes make."""
