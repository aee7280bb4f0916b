//! `andon agent install`, `uninstall` and `list`: our hooks in the settings of agents' clients.

pub mod install;
pub mod list;
