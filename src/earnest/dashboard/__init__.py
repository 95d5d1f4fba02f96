"""The dashboard: static pages that talk to the REST service. No build step; the files are served as they are."""
