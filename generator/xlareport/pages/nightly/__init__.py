"""The page of nightly figures."""
