"""Results as a page: one HTML file that works offline and asks nothing of the network."""
