"""The modules of a dump beside one another: summaries, ranking, roles, links, recompilations."""
