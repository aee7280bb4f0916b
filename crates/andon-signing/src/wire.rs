//! Strings as SSH writes them: a length of four bytes, then the bytes (RFC 4251).

/// Reads from the front of some bytes. Everything is bounded by what is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    /// A whole number that is not negative, without leading zeros.
    pub(super) fn natural(&mut self) -> Option<&'a [u8]> {
        let bytes = self.string()?;
        if bytes.first().is_some_and(|first| first & 0x80 != 0) {
            return None;
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Some(&bytes[zeros..])
    }

    /// The same, written in the only way there is: with a leading zero only where it keeps the number from being negative.
    pub(super) fn minimal(&mut self) -> Option<&'a [u8]> {
        let written = { *self }.string()?;
        let number = self.natural()?;
        let zero = usize::from(number.first().is_none_or(|first| first & 0x80 != 0));
        (!number.is_empty() && written.len() == number.len() + zero).then_some(number)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// Appends a string with its length.
pub(super) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}
