"""The specification's source as a small language of expressions and assignments, for the engines that compile it."""
