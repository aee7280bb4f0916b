//! Installing beside other hook managers, and taking everything out again.
