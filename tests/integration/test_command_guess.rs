//! Which test command is guessed for a project, and when the guess is not sure.
