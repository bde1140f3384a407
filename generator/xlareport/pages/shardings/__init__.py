"""The page on shardings: the mesh, shards by device, changes of sharding."""
