"""The only writer of the site: its sources, and the site itself through MkDocs."""
