"""What the findings mean in an operator's words."""
