//! testreport
