"""What records of a metadata log do to the state that they make, rule by rule."""
