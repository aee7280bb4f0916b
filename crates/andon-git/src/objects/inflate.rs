//! Inflates the file of a loose object in bounded memory, to see that it is whole.

use std::cell::{OnceCell, RefCell};
use std::{cmp::Ordering, collections::HashSet, path::PathBuf};

use flate2::{Decompress, FlushDecompress, Status};

use crate::files::open_plain;
use andon_core::domain::Oid;

/// Bytes that are read and inflated at once.
pub(crate) const STEP: usize = 16 * 1024;
/// Bytes that name kind and length of an object, at the most.
const MAX_HEADER: usize = 32;

/// The loose objects that were found to be whole.
#[derive(Default)]
pub(crate) struct VettedObjects {
    whole: RefCell<HashSet<Oid>>,
    /// The directories in which libgit2 looks for loose objects.
    dirs: OnceCell<Vec<PathBuf>>,
    inflater: RefCell<Option<Inflater>>,
}

impl VettedObjects {
    /// Checks the object, where it is loose in one of the directories. What was found whole once is not looked at again.
    pub(crate) fn check(&self, id: Oid, dirs: impl FnOnce() -> Vec<PathBuf>) -> Result<(), DamagedObject> {
        if self.whole.borrow().contains(&id) {
            return Ok(());
        }
        let digits = id.to_string();
        let (first, rest) = digits.split_at(2);
        for dir in self.dirs.get_or_init(dirs) {
            match open_plain(&dir.join(first).join(rest)) {
                Ok(Some(file)) => {
                    self.inflater.borrow_mut().get_or_insert_with(Inflater::new).check(file)?;
                    self.whole.borrow_mut().insert(id);
                    return Ok(());
                }
                Ok(None) => {}
                // A file that may not be opened, libgit2 cannot open either, and says so.
                Err(error) if error.raw_os_error().is_some() => {}
                Err(_no_plain_file) => return Err(DamagedObject),
            }
        }
        Ok(())
    }
}

/// The file is there, and what it holds is no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DamagedObject;

/// Inflates files one after the other.
pub(crate) struct Inflater {
    stream: Decompress,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Self { stream: Decompress::new(true), input: vec![0; STEP], output: vec![0; STEP] }
    }

    /// Checks that the file is one stream to its end, of an object as long as it says.
    pub(crate) fn check(&mut self, mut file: impl std::io::Read) -> Result<(), DamagedObject> {
        self.stream.reset(true);
        let (mut from, mut to, mut filled) = (0, 0, false);
        let mut length = None;
        loop {
            // Bytes that did not fit into the output come before anything else is read.
            if from == to && !filled {
                (from, to) = (0, file.read(&mut self.input).map_err(|_| DamagedObject)?);
                if to == 0 {
                    return Err(DamagedObject);
                }
            }
            let (taken, given) = (self.stream.total_in(), self.stream.total_out());
            let status =
                self.stream.decompress(&self.input[from..to], &mut self.output, FlushDecompress::None);
            let status = status.map_err(|_| DamagedObject)?;
            from += usize::try_from(self.stream.total_in() - taken).map_err(|_| DamagedObject)?;
            let made = usize::try_from(self.stream.total_out() - given).map_err(|_| DamagedObject)?;
            filled = made == self.output.len();
            if length.is_none() && made > 0 {
                length = Some(whole_length(&self.output[..made]).ok_or(DamagedObject)?);
            }
            let made_all = length.map(|length| self.stream.total_out().cmp(&length));
            match (status, made_all) {
                (Status::StreamEnd, Some(Ordering::Equal)) => {
                    let at_end = from == to && file.read(&mut self.input[..1]).is_ok_and(|more| more == 0);
                    return if at_end { Ok(()) } else { Err(DamagedObject) };
                }
                (Status::StreamEnd, _) | (_, Some(Ordering::Greater)) => return Err(DamagedObject),
                (Status::Ok | Status::BufError, _) => {}
            }
        }
    }
}

/// The length of an object with its header `KIND SP LENGTH NUL`, by that header.
fn whole_length(object: &[u8]) -> Option<u64> {
    let end = object.iter().take(MAX_HEADER).position(|byte| *byte == 0)?;
    let (kind, digits) = std::str::from_utf8(object.get(..end)?).ok()?.split_once(' ')?;
    let length: u64 = digits.parse().ok()?;
    let is_known = git2::ObjectType::from_str(kind).is_some_and(|kind| kind.is_loose());
    (is_known && digits == length.to_string()).then(|| length.checked_add(end as u64 + 1)).flatten()
}
