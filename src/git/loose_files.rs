//! The files of loose objects, each read by one call of the system and inflated as a whole.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use libdeflater::{DecompressionError, Decompressor};

/// Bytes that name kind and length of an object, at the most.
const MAX_HEADER: usize = 32;
/// After so many objects in a row that are not loose, nobody looks any more: they are packed.
pub(super) const MAX_IN_VAIN: u8 = 16;
/// Bytes that are read of a file at once; most are smaller.
const FIRST_READ: usize = 32 * 1024;
/// Largest file that is read here, in bytes. The tree of a directory of 3,000 files is no larger.
pub(super) const MAX_FILE: usize = 128 * 1024;
/// Largest object that is inflated here, in bytes; a file that holds more is left to libgit2, which knows its length.
pub(super) const MAX_INFLATED: usize = 512 * 1024;

/// The file is there, and what it holds is no object: it was cut short, or altered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

/// Which objects somebody reads. Records may be loose where the code is packed, and the other way round.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    /// Andon's own.
    Records,
    /// The user's.
    Code,
}

/// Reads the loose objects of one repository.
#[derive(Default)]
pub(super) struct LooseFiles {
    /// How many objects in a row were not loose, of each [`Of`].
    in_vain: [Cell<u8>; 2],
    tools: RefCell<Option<Tools>>,
}

/// What reading takes, made once.
struct Tools {
    inflater: Decompressor,
    file: Vec<u8>,
    inflated: Vec<u8>,
}

impl LooseFiles {
    /// Whether it is still worth while to look.
    pub(super) fn expects(&self, of: Of) -> bool {
        self.in_vain[of as usize].get() < MAX_IN_VAIN
    }

    fn saw(&self, of: Of, found: bool) {
        let in_vain = &self.in_vain[of as usize];
        in_vain.set(if found { 0 } else { in_vain.get() + 1 });
    }

    /// The object of that kind at `path`. `None` when there is none, it is of another kind, or too large.
    pub(super) fn read(
        &self,
        of: Of,
        kind: git2::ObjectType,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, Damaged> {
        let file = File::open(path).ok();
        self.saw(of, file.is_some());
        let mut tools = self.tools.borrow_mut();
        // Hashes hardly shrink, and texts to a quarter.
        let room = if kind == git2::ObjectType::Blob { 6 } else { 2 };
        let Some(mut file) = file else { return Ok(None) };
        let object = tools.get_or_insert_with(Tools::new).read(&mut file, room)?;
        let content = object.map_or(Ok(None), |object| content(object, kind))?;
        Ok(content.map(<[u8]>::to_vec))
    }
}

impl Tools {
    fn new() -> Self {
        Self { inflater: Decompressor::new(), file: vec![0; FIRST_READ], inflated: Vec::new() }
    }

    /// The object in the file, header and all; `room` is how many times the size of the file that probably is.
    fn read(&mut self, file: &mut File, room: usize) -> Result<Option<&[u8]>, Damaged> {
        let Some(length) = self.fill(file) else { return Ok(None) };
        let stream = &self.file[..length];
        for room in [room, 8 * room] {
            let room = MAX_INFLATED.min(room * stream.len() + 1024);
            if self.inflated.len() < room {
                // Not by `resize`, which a compiler that looks for small code makes a loop over bytes.
                self.inflated = vec![0; room];
            }
            match self.inflater.zlib_decompress(stream, &mut self.inflated) {
                Ok(length) => return Ok(self.inflated.get(..length)),
                // Among them what gits of 2006 wrote, which libgit2 reads and git does no more.
                Err(DecompressionError::BadData) => return Err(Damaged),
                Err(DecompressionError::InsufficientSpace) => {}
            }
        }
        Ok(None)
    }

    /// Reads the file, by one call of the system where it is small; its length. `None` when it is too large, or cannot be
    /// read.
    fn fill(&mut self, file: &mut File) -> Option<usize> {
        let mut length = file.read(&mut self.file).ok()?;
        if length == self.file.len() {
            self.file.extend_from_slice(&vec![0; MAX_FILE + 1 - length]);
            length += file.read(&mut self.file[length..]).ok()?;
        }
        (length <= MAX_FILE).then_some(length)
    }
}

/// What comes behind the header of an object of that kind.
fn content(object: &[u8], kind: git2::ObjectType) -> Result<Option<&[u8]>, Damaged> {
    let end = object.iter().take(MAX_HEADER).position(|byte| *byte == 0).ok_or(Damaged)?;
    let (header, content) = (&object[..end], &object[end + 1..]);
    // Before anything else: for one of any kind that says it is longer libgit2 makes room.
    let space = header.iter().rposition(|byte| *byte == b' ').ok_or(Damaged)?;
    if header[space + 1..] != *content.len().to_string().as_bytes() {
        return Err(Damaged);
    }
    Ok((header[..space] == *kind.str().as_bytes()).then_some(content))
}
