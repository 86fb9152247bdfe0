"""The port, and the connections of clients: frames in, frames out."""
