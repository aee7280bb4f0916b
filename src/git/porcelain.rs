//! Reading `git status --porcelain=v2 -z`.
