"""Inside a TPU program: from the HLO instruction to the bundles that it runs as."""
