"""Commands of the space: neighbors, hubs, maps."""
