"""The page on shardings: the mesh, who holds which part, where values change their sharding."""
