//! The outside world, one small door each.
//!
//! Nothing here decides who gets a lock: a door looks or acts and reports what it found as plain
//! values of [`crate::domain`]. System calls, clocks, files and programs are used here only.

/// Which process stands for the session of the running command.
pub mod anchor;
/// Runs a program with a deadline and leaves nothing of it behind.
pub mod child;
/// The time of day, deadlines and sleeping.
pub mod clock;
/// Short names of exact states.
pub mod digest;
/// Where the crash tests kill or stop the program.
pub mod failpoint;
/// Small files that are either complete or absent.
pub mod files;
/// Short exclusion among the commands of one machine.
pub mod flock;
/// The only place that starts git.
pub mod git;
/// The hooks folder of a repository.
pub mod hooks;
/// The machine and the process table that the command runs in.
pub mod host;
/// Loose objects.
pub mod loose;
/// The man pages on this machine.
pub mod man;
/// Shows long answers page by page.
pub mod pager;
/// What a folder is good for.
pub mod place;
/// Looks at processes and waits for their end.
pub mod process;
/// Which program this is.
pub mod program;
/// What a command says while it still runs.
pub mod progress;
/// Random bytes of the kernel.
pub mod random;
/// Becomes another program.
pub mod replace;
/// Finds and opens the repository that a command is about.
pub mod repository;
/// A screen of our own on the terminal.
pub mod screen;
/// Paths as arguments of printed commands.
pub mod shell;
/// Passes on the signals that end us while a child runs.
mod signals;
/// The terminal: whether there is one, and how wide it is.
pub mod terminal;
/// Asks tmux for the process of a pane.
pub mod tmux;
/// Waits for a folder to change, or a process to end.
pub mod verify;
pub mod watch;
