//! Random stories through every door, compared: hooks, events in one batch and line by line, replay.
