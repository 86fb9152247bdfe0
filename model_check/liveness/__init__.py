"""What must happen in the end: fair cycles in the graph of all states, and the lassos that they end in."""
