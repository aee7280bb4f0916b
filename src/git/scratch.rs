//! Scratch repositories for tests, made by the real git.
