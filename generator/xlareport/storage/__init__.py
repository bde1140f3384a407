"""The data format of a site: payloads for its script, texts stored once, folded strings."""
