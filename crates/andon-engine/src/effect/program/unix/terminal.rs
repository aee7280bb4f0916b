//! The target of a command's output: a pipe, or a terminal of its own where ours goes to one.
//!
//! Runners print colours, progress and a width of their choice where they see a terminal. So a stream that we would
//! show on one is given a pseudo terminal: of the same size, with the same settings, but for what a terminal does to
//! output (a line end becomes two bytes). The terminal that shows it does that once; what is read here is what the
//! command wrote. Standard input stays the real terminal, and so do session, process group and Ctrl-C.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::{fs::File, time::Duration};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::termios::{OutputFlags, tcgetattr};
use rustix::termios::{tcgetwinsize, tcsetwinsize};

use super::InputState;

/// The terminals on which the streams of a command are shown; `None` for a stream that goes elsewhere.
#[derive(Debug, Default)]
pub struct Screens {
    /// For standard output.
    pub stdout: Option<OwnedFd>,
    /// For standard error.
    pub stderr: Option<OwnedFd>,
}

impl Screens {
    /// No terminal at all.
    pub fn none() -> Self {
        Self { stdout: None, stderr: None }
    }

    /// The terminals behind both streams, for a program whose output is passed through.
    pub fn behind(stdout: &(impl AsFd + IsTerminal), stderr: &(impl AsFd + IsTerminal)) -> Self {
        Self { stdout: terminal(stdout), stderr: terminal(stderr) }
    }
}

fn terminal(stream: &(impl AsFd + IsTerminal)) -> Option<OwnedFd> {
    if stream.is_terminal() { stream.as_fd().try_clone_to_owned().ok() } else { None }
}

/// Waits for input of a terminal, for at most `wait`. A terminal that is gone is reported as such: a reader that only waits for
/// bytes would find nothing for ever, at once each time.
pub fn wait_for_input(input: &impl AsFd, wait: Duration) -> InputState {
    let mut asked = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    let wait = PollTimeout::try_from(wait).unwrap_or(PollTimeout::ZERO);
    match poll(&mut asked, wait) {
        Ok(0) => InputState::Nothing,
        // A signal: a new size, perhaps.
        Err(_) => InputState::Something,
        Ok(_) => {
            let gone = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
            let is_gone = asked[0].revents().is_some_and(|found| found.intersects(gone));
            if is_gone { InputState::Gone } else { InputState::Something }
        }
    }
}

/// Both ends of one stream of a command.
pub(super) struct Wire {
    /// Our end.
    pub(super) ours: File,
    pub(super) its: OwnedFd,
    /// Keeps the size, where it is a terminal.
    pub(super) size: Option<Size>,
}

/// The size of a pseudo terminal, and the terminal that has the same.
pub(super) struct Size {
    of: File,
    like: OwnedFd,
}

impl Wire {
    /// A terminal where there is a screen for it, a pipe everywhere else, and where no terminal can be had.
    pub(super) fn to(screen: Option<&OwnedFd>) -> io::Result<Self> {
        if let Some(wire) = screen.and_then(|screen| Self::terminal(screen).ok()) {
            return Ok(wire);
        }
        let (ours, its) = io::pipe()?;
        Ok(Self { ours: File::from(OwnedFd::from(ours)), its: its.into(), size: None })
    }

    fn terminal(screen: &OwnedFd) -> io::Result<Self> {
        let mut settings = tcgetattr(screen)?;
        settings.output_flags.remove(OutputFlags::OPOST);
        let size = tcgetwinsize(screen)?;
        let size = Winsize {
            ws_row: size.ws_row,
            ws_col: size.ws_col,
            ws_xpixel: size.ws_xpixel,
            ws_ypixel: size.ws_ypixel,
        };
        let OpenptyResult { master, slave } = openpty(&size, &settings)?;
        for end in [&master, &slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        let ours = File::from(master);
        let size = Size { of: ours.try_clone()?, like: screen.try_clone()? };
        Ok(Self { ours, its: slave, size: Some(size) })
    }
}

impl Size {
    /// Takes over the size that the real terminal has now.
    pub(super) fn follow(&self) {
        if let Ok(size) = tcgetwinsize(&self.like) {
            let _gone = tcsetwinsize(self.of.as_fd(), size);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn without_a_screen_or_where_it_is_none_there_is_a_pipe() {
        let (_reader, no_screen) = io::pipe().unwrap();
        for screen in [None, Some(OwnedFd::from(no_screen))] {
            let Wire { mut ours, its, size } = Wire::to(screen.as_ref()).unwrap();
            assert!(size.is_none());
            File::from(its).write_all(b"a\n").unwrap();
            let mut read = String::new();
            ours.read_to_string(&mut read).unwrap();
            assert_eq!(read, "a\n");
        }
    }

    #[test]
    fn a_terminal_has_the_size_of_the_screen_and_changes_no_byte() {
        let size = Winsize { ws_row: 7, ws_col: 33, ws_xpixel: 0, ws_ypixel: 0 };
        let screen = openpty(&size, None).unwrap();
        let Wire { mut ours, its, size } = Wire::to(Some(&screen.slave)).unwrap();
        let columns = || tcgetwinsize(&its).unwrap().ws_col;
        assert_eq!(columns(), 33);
        let mut other = tcgetwinsize(&screen.slave).unwrap();
        other.ws_col = 44;
        tcsetwinsize(&screen.slave, other).unwrap();
        size.unwrap().follow();
        assert_eq!(columns(), 44);
        nix::unistd::write(&its, b"a\n").unwrap();
        let mut read = [0; 8];
        assert_eq!(ours.read(&mut read).unwrap(), 2);
        assert_eq!(&read[..2], b"a\n");
    }
}
