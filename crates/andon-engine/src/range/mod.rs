//! A range of commits as `check`, `replay` and the report see it: lineage, numbering, what could not be seen, the verdict.

pub mod lineage;
pub mod numbers;
pub mod obstacles;
pub mod uncertainty;
pub mod verdict;
