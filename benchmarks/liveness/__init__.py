"""What it takes to decide what must happen in the end."""
