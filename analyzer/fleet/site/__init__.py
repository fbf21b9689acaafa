"""The fleet as a static site: pages that need no server and load nothing from elsewhere."""
