//! Sessions and crowds: real processes.

use std::process::{Child, Command, Stdio};
use std::sync::Barrier;

/// A session of an agent: a process that does nothing, named through `AIT_AGENT_PID`.
pub struct Session {
    child: Option<Child>,
    pid: u32,
}

impl Session {
    /// A session that runs.
    pub fn start() -> Self {
        let mut command = Command::new("sleep");
        command.arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self::of(command)
    }

    /// A session that is this command.
    pub fn of(mut command: Command) -> Self {
        let child = command.spawn().unwrap();
        Self { pid: child.id(), child: Some(child) }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its start token, as the kernel shows it: field 22 after the last bracket.
    pub fn token(&self) -> String {
        start_token(self.pid)
    }

    /// Sends it a signal, by name.
    pub fn signal(&self, name: &str) {
        signal(self.pid, name);
    }

    /// Kills it and takes its exit status: nothing is left of it.
    pub fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _gone_already = child.kill();
            child.wait().unwrap();
        }
    }

    /// Kills it and leaves it unreaped: a zombie until the value is dropped.
    pub fn end_unreaped(&mut self) {
        self.signal("KILL");
        wait_until("the session is a zombie", || state(self.pid) == Some('Z'));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends a signal, by name.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status().unwrap();
    assert!(status.success(), "kill -{name} {pid}");
}

/// The fields of `/proc/<pid>/stat` that follow the program's name.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// The start token of a process.
pub fn start_token(pid: u32) -> String {
    stat(pid).unwrap()[19].clone()
}

/// The state letter of a process.
pub fn state(pid: u32) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

/// Waits for something that is bound to happen; the limit only ends a test that has failed anyway.
pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !happened() {
        assert!(std::time::Instant::now() < limit, "it never happened: {what}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Runs all of them at once, released together, and returns what they came to, in order.
pub fn race<T: Send>(racers: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    let barrier = Barrier::new(racers.len());
    std::thread::scope(|scope| {
        let start = |racer: _| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                run(racer)
            })
        };
        let running: Vec<_> = racers.into_iter().map(start).collect();
        running.into_iter().map(|racer| racer.join().unwrap()).collect()
    })
}

fn run<T>(racer: impl FnOnce() -> T) -> T {
    racer()
}
