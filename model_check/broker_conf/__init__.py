"""A broker's real settings: their times as ticks, a search, and each violation taken again in milliseconds."""
