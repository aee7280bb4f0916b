//! Attempts count wherever HEAD is moved to, and only a pause ends a run.
