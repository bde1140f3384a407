"""Everything that the pages on cost show of one module: work, memory, source lines."""
