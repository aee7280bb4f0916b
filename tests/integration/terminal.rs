//! What the test command sees of the terminal, and what people see of ours.
