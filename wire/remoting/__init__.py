"""The remoting protocol: commands, their two header encodings, frames, codes, and messages as they travel."""
