"""The modules of a dump: summaries, ranking, roles, links, recompilations."""
