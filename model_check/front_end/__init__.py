"""The specification's source as a small language of expressions and guarded assignments, for the engines that compile it."""
