"""What guided walks meet, and whether their intervals hold what plain walks say."""
