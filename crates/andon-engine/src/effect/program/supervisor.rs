//! Waits for a running command: its output, its end, signals and the timeout, all in one queue.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use std::{process::ExitStatus, thread};

#[cfg(unix)]
use super::sightings::Sightings;
use super::signals::{HeldSignals, listen};
use super::{
    CommandExit, Group, Notice, Outputs, ProgramEnd, SentSignal, StopCause, ending_signals,
    start::RunningCommand, terminal::Size,
};
use andon_core::domain::Span;
use testreport::Stream;

/// Between SIGTERM and SIGKILL after a timeout.
const GRACE: Duration = Duration::from_secs(5);
/// Longest silence on pipes that stay open after the command's end.
const SILENCE: Duration = Duration::from_secs(2);
/// Longest time that output is read after the command's end.
const AFTERMATH: Duration = Duration::from_secs(10);
/// Interval between looks for the end when no signal reports it.
const TICK: Duration = Duration::from_millis(50);
/// Size of a chunk in bytes, and how many wait for the sink: the bound of what is held in memory.
const CHUNK: usize = 32 * 1024;
const QUEUE: usize = 16;

/// An event while a command runs.
pub(super) enum Event {
    /// A chunk of output.
    Output(Stream, Vec<u8>),
    /// A stream has ended.
    Closed,
    /// A signal came for us.
    Told(Notice),
}

impl From<Notice> for Event {
    fn from(notice: Notice) -> Self {
        Self::Told(notice)
    }
}

/// A running command.
pub(super) struct Supervisor {
    command: RunningCommand,
    group: Group,
    /// When the next step against the command is due.
    deadline: Option<Instant>,
    stopped: StopCause,
    /// Ending signals that came before, or that the command has had.
    signals: u64,
    open_streams: u8,
    /// The sizes of the terminals that it writes to.
    sizes: Vec<Size>,
    #[cfg(unix)]
    sightings: Sightings,
}

impl Supervisor {
    pub(super) fn new(command: RunningCommand, group: Group, timeout: Option<Span>) -> Self {
        let deadline = timeout.and_then(|span| Instant::now().checked_add(Duration::from_secs(span.0)));
        let (signals, _) = ending_signals();
        let (stopped, sizes) = (StopCause::No, Vec::new());
        #[cfg(unix)]
        let sightings = Sightings::below(command.id());
        Self {
            command,
            group,
            deadline,
            stopped,
            signals,
            open_streams: 2,
            sizes,
            #[cfg(unix)]
            sightings,
        }
    }

    /// Runs until the command has ended and its output is read.
    pub(super) fn run(
        mut self,
        held: &HeldSignals,
        outputs: Outputs,
        at_end: &dyn Fn(),
        sink: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<ProgramEnd> {
        let (sender, events) = sync_channel(QUEUE);
        self.sizes = outputs.sizes;
        for (stream, output) in outputs.streams {
            let events = sender.clone();
            thread::spawn(move || read_stream(output, stream, &events));
        }
        let go_on = listen(held, sender);
        let status = self.until_end(&events, &go_on, sink)?;
        drop(go_on);
        at_end();
        self.read_rest(&events, sink);
        #[cfg(unix)]
        let started = self.sightings.into_seen();
        #[cfg(not(unix))]
        let started = Vec::new();
        Ok(ProgramEnd { exit: CommandExit::from_status(status), stopped: self.stopped, started })
    }

    /// Looks which programs are at work, if it is time, and says how long nothing else is to be done.
    #[cfg(unix)]
    fn pause(&mut self) -> Duration {
        self.sightings.look();
        self.sightings.pause().clamp(Duration::from_millis(1), TICK)
    }

    #[cfg(not(unix))]
    fn pause(&mut self) -> Duration {
        TICK
    }

    fn until_end(
        &mut self,
        events: &Receiver<Event>,
        go_on: &Sender<()>,
        sink: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<ExitStatus> {
        let mut looked = Instant::now();
        loop {
            let mut reported = None;
            match events.recv_timeout(self.pause()) {
                Ok(Event::Output(stream, bytes)) => sink(stream, &bytes),
                Ok(Event::Closed) => self.open_streams = self.open_streams.saturating_sub(1),
                Ok(Event::Told(notice)) => reported = Some(notice),
                // With all senders gone `recv_timeout` returns at once.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(TICK),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if reported == Some(Notice::Resized) {
                self.resize();
            }
            self.pass_on();
            if reported == Some(Notice::ChildEnded) || looked.elapsed() >= TICK {
                looked = Instant::now();
                if let Some(status) = self.command.try_wait()? {
                    return Ok(status);
                }
            }
            if reported.is_some() {
                let _listening = go_on.send(());
            }
            self.check_deadline();
        }
    }

    /// Passes on what came for us since.
    fn pass_on(&mut self) {
        let (signals, signal) = ending_signals();
        if signals == self.signals {
            return;
        }
        self.signals = signals;
        if self.stopped == StopCause::No {
            self.stopped = StopCause::Forwarded(signal);
        }
        if !self.group.has_had(signal) {
            self.command.send(self.group, SentSignal::Signal(signal));
        }
    }

    /// The terminal has another size. A process that got the signal before us saw the old size: it gets the signal
    /// again.
    fn resize(&self) {
        for size in &self.sizes {
            size.follow();
        }
        if !self.sizes.is_empty() {
            self.command.send(self.group, SentSignal::Resized);
        }
    }

    /// At the timeout SIGTERM, after the grace SIGKILL.
    fn check_deadline(&mut self) {
        let now = Instant::now();
        if self.deadline.is_none_or(|due| now < due) {
            return;
        }
        if self.stopped == StopCause::TimedOut {
            self.command.send(self.group, SentSignal::Kill);
            self.deadline = None;
        } else {
            self.stopped = StopCause::TimedOut;
            self.command.send(self.group, SentSignal::Terminate);
            self.deadline = now.checked_add(GRACE);
        }
    }

    /// Reads the rest. A process that the command left behind may hold the streams open for ever.
    fn read_rest(&mut self, events: &Receiver<Event>, sink: &mut dyn FnMut(Stream, &[u8])) {
        let ended = Instant::now();
        while self.open_streams > 0 && ended.elapsed() < AFTERMATH {
            match events.recv_timeout(SILENCE) {
                Ok(Event::Output(stream, bytes)) => sink(stream, &bytes),
                Ok(Event::Closed) => self.open_streams = self.open_streams.saturating_sub(1),
                Ok(Event::Told(Notice::ChildEnded | Notice::Resized)) => {}
                // No process is left that could get the signal: it ends the wait.
                Ok(Event::Told(Notice::Ending))
                | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

fn read_stream(mut output: impl Read, stream: Stream, events: &SyncSender<Event>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                let chunk = buffer.get(..count).unwrap_or_default().to_vec();
                if events.send(Event::Output(stream, chunk)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A terminal without a writer ends with an error (EIO).
            Err(_) => break,
        }
    }
    let _listening = events.send(Event::Closed);
}
