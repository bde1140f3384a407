"""The two modules of a search: data flow graphs, value numbers and what is looked up in them."""
