"""The files of the TPU's low-level compiler (LLO), one reader for each kind."""
