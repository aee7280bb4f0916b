//! A hostile repository runs nothing and touches nothing.
