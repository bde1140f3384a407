"""The page of the whole program: modules, links, framework clusters."""
