//! The door to the person's editor, as git starts it: a line for the shell, with the file behind it.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::Command;

/// Whether an editor has a person to talk to.
pub fn has_person() -> bool {
    io::stdin().is_terminal()
}

/// Opens `file` with `editor` and waits for its end; whether it ended well.
///
/// # Errors
/// When it cannot be started.
pub fn edit(editor: &str, file: &Path) -> io::Result<bool> {
    #[allow(clippy::disallowed_methods, reason = "the door to the person's editor")]
    let mut command = Command::new("sh");
    // `vim -f`, or a path with blanks that is quoted: what git accepts.
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file);
    Ok(command.status()?.success())
}
