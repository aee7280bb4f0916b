//! Tests ran on exactly the code that is committed, also where git is told not to look.
