//! Scopes that do not need each other are tested at once. The commands run in threads of their own; everything else, what
//! they print and what it proves, is read here in the order of arrival, and shown scope by scope.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::{collections::VecDeque, thread};

use tempfile::SpooledTempFile;

use super::execution::Execution;
use super::run::{ChosenCommand, OutputTarget, TestJob};
use super::scoped_run::{Session, TestProgress, TestStep};
use andon_engine::effect::{ProgramEnd, ProgramError, Signals};
use andon_engine::evidence::{TestedCode, TreeSnapshot};
use andon_engine::{Result, Workspace};
use testreport::Stream;

/// Chunks of output that wait to be read.
const QUEUE: usize = 64;
/// The output of a command is held in memory up to this, and in a file beyond.
const IN_MEMORY: usize = 1 << 20;

/// A message from the thread of a command.
enum Event {
    Output(Stream, Vec<u8>),
    Ended(Result<ProgramEnd, ProgramError>),
}

/// A scope whose tests are running.
struct Running {
    /// The place of its step.
    id: usize,
    step: TestStep,
    own: Workspace,
    chosen: ChosenCommand,
    seen: TreeSnapshot,
    execution: Execution,
    printed: OutputSpool,
}

impl Session<'_> {
    /// Runs the tests of scopes, at most `jobs` at once. One that needs another waits for its end; so do those that read
    /// the same report files, which would be taken for each other's.
    pub(super) fn side_by_side(
        &mut self,
        mut waiting: VecDeque<TestStep>,
        jobs: usize,
        shown: OutputTarget<'_>,
        tell: &mut dyn FnMut(TestProgress<'_>),
    ) -> Result<()> {
        let OutputTarget { screens, pass } = shown;
        let held = Signals::hold()?;
        let mut running: Vec<Running> = Vec::new();
        let (mut started, mut is_over) = (0, false);
        thread::scope(|threads| {
            // In here, so that no thread waits for a reader that an error has ended.
            let (sender, events) = sync_channel(QUEUE);
            loop {
                while !is_over && running.len() < jobs {
                    let Some(step) = self.next_ready(&mut waiting, &running) else { break };
                    tell(TestProgress::Begins(&step));
                    let (own, chosen) = self.own(&step.name)?;
                    let seen = self.look()?;
                    let tested = TestedCode::from_overlay(&own, seen.clone())?;
                    let (launch, execution) = Execution::prepare(self.ctx, &own, tested, &chosen.command)?;
                    let (id, printed, sender) = (started, OutputSpool::new(), sender.clone());
                    started += 1;
                    running.push(Running { id, step, own, chosen, seen, execution, printed });
                    let held = &held;
                    threads.spawn(move || {
                        let mut sink =
                            |stream, bytes: &[u8]| send(&sender, id, Event::Output(stream, bytes.to_vec()));
                        let ended = launch.run(held, screens, &mut sink);
                        send(&sender, id, Event::Ended(ended));
                    });
                }
                // The last run may have changed files: the next ones are looked at again.
                self.forget_look();
                if running.is_empty() {
                    return Ok(());
                }
                let Ok((id, event)) = events.recv() else { return Ok(()) };
                let Some(at) = running.iter().position(|one| one.id == id) else { continue };
                match event {
                    Event::Output(stream, bytes) => {
                        let Running { execution, printed, .. } = &mut running[at];
                        execution.push(stream, &bytes, &mut |stream, bytes| printed.push(stream, bytes));
                    }
                    Event::Ended(ended) => {
                        let one = running.remove(at);
                        self.left = waiting.len() + running.len();
                        is_over |= self.one_ended(one, ended, &mut *pass, tell)?;
                        self.hold(&mut waiting);
                    }
                }
            }
        })
    }

    /// The first scope that can begin now.
    fn next_ready(&self, waiting: &mut VecDeque<TestStep>, running: &[Running]) -> Option<TestStep> {
        let test = &self.ws.config.test;
        let reports = |name: &str| self.own(name).map(|(own, _)| own.config.test.reports).unwrap_or_default();
        let is_ready = |at: usize, step: &TestStep| {
            let needs = test.scopes.scopes.needed_by(&step.name);
            let before = waiting.iter().take(at).map(|other| &other.name);
            let mut open = before.chain(running.iter().map(|one| &one.step.name));
            let own = reports(&step.name);
            let same_files =
                |one: &Running| one.own.config.test.reports.iter().any(|glob| own.contains(glob));
            !open.any(|other| needs.contains(&other.as_str())) && !running.iter().any(same_files)
        };
        let at = waiting.iter().enumerate().position(|(at, step)| is_ready(at, step))?;
        waiting.remove(at)
    }

    /// Keeps what a scope gave and shows what it printed; whether no other is to begin.
    fn one_ended(
        &mut self,
        one: Running,
        ended: Result<ProgramEnd, ProgramError>,
        pass: &mut dyn FnMut(Stream, &[u8]),
        tell: &mut dyn FnMut(TestProgress<'_>),
    ) -> Result<bool> {
        let Running { step, own, chosen, seen, execution, mut printed, .. } = one;
        let executed = execution.finish(&own, ended, &mut |stream, bytes| printed.push(stream, bytes))?;
        tell(TestProgress::Printed(&step));
        printed.replay(pass);
        let job = TestJob { ctx: self.ctx, ws: self.ws, at: &own, chosen: &chosen };
        let ran = self.scope_ran(&step.name, &own, seen, job.judged(executed))?;
        let is_over = ran.is_stopped();
        self.ended(step, ran, tell);
        Ok(is_over)
    }
}

/// The receiver lives as long as the threads do, but for an error that ends all.
fn send(sender: &SyncSender<(usize, Event)>, id: usize, event: Event) {
    let _over = sender.send((id, event));
}

/// The output of a command in the order of arrival: each chunk with its stream and its length before it.
struct OutputSpool {
    file: SpooledTempFile,
    /// The first error of writing, after which nothing is kept.
    failed: Option<io::Error>,
}

impl OutputSpool {
    fn new() -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY), failed: None }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let mut head = [0; 9];
        head[0] = u8::from(stream == Stream::Stderr);
        head[1..].copy_from_slice(&u64::try_from(bytes.len()).unwrap_or_default().to_be_bytes());
        self.failed = self.file.write_all(&head).and_then(|()| self.file.write_all(bytes)).err();
    }

    fn replay(mut self, pass: &mut dyn FnMut(Stream, &[u8])) {
        let mut read = || -> io::Result<()> {
            self.file.rewind()?;
            let mut head = [0; 9];
            while self.file.read_exact(&mut head).is_ok() {
                let stream = if head[0] == 0 { Stream::Stdout } else { Stream::Stderr };
                let [_, length @ ..] = head;
                let mut bytes = Vec::new();
                io::Read::by_ref(&mut self.file).take(u64::from_be_bytes(length)).read_to_end(&mut bytes)?;
                pass(stream, &bytes);
            }
            Ok(())
        };
        let read = read();
        if let Some(error) = self.failed.or(read.err()) {
            pass(Stream::Stderr, format!("andon: the rest of the output is not here: {error}\n").as_bytes());
        }
    }
}
