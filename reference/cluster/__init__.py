"""A broker with its threads, producers and consumers around it, all in one scheduler."""
