"""The only place that writes: the sources of the site, and the site itself through MkDocs."""
