//! Paths and the bytes that git has for them. On unix both are the same bytes. Elsewhere paths are Unicode, as git's are in
//! UTF-8; bytes that are no UTF-8 become U+FFFD, and such a path leads nowhere.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use bstr::{ByteSlice as _, ByteVec as _};

/// The separator of a list of paths such as `PATH`.
pub const LIST_SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

/// Bytes of git, as a path.
pub fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    bytes.to_path_lossy().into_owned()
}

/// Bytes of git, as an argument of a program.
pub fn text_from_bytes(bytes: Vec<u8>) -> OsString {
    bytes.into_os_string_lossy()
}

/// A path or an argument, as the bytes that git has for it.
pub fn bytes_of(text: &OsStr) -> Cow<'_, [u8]> {
    <[u8]>::from_os_str(text)
        .map_or_else(|| text.to_string_lossy().into_owned().into_bytes().into(), Cow::from)
}

/// A path as a shell reads it: with slashes on Windows too, where the shell is the one that git brings.
pub fn shell_bytes(path: &Path) -> Cow<'_, [u8]> {
    let bytes = bytes_of(path.as_os_str());
    if MAIN_SEPARATOR == '/' { bytes } else { bytes.replace(b"\\", b"/").into() }
}

/// The paths of a list.
pub fn listed(list: &OsStr) -> Vec<PathBuf> {
    let bytes = bytes_of(list);
    bytes.split(|byte| char::from(*byte) == LIST_SEPARATOR).map(path_from_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (1..=255).collect();
        assert_eq!(*bytes_of(path_from_bytes(&bytes).as_os_str()), bytes);
        assert_eq!(*bytes_of(&text_from_bytes(bytes.clone())), bytes);
        assert_eq!(*shell_bytes(Path::new(r"a\b")), *br"a\b");
    }

    #[test]
    fn a_list_is_split_and_keeps_empty_words() {
        let list = text_from_bytes(b"/a:/b\xff::c".to_vec());
        let words: Vec<_> =
            listed(&list).iter().map(|path| bytes_of(path.as_os_str()).into_owned()).collect();
        assert_eq!(words, [&b"/a"[..], b"/b\xff", b"", b"c"]);
    }
}
