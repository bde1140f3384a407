"""XLA's protos: the parts that are read, and their texts in the style of HLO text."""
