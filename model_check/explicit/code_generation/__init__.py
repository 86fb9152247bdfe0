"""From a machine in an instance to code that runs: packed states, LLVM's text, what is compiled and kept."""
