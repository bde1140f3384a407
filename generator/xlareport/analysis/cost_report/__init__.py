"""The content of a module's pages on cost: work, memory, source lines."""
