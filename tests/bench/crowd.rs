//! Many claims at once, beside as many bare pushes one after the other: in one clone and in many, to a
//! remote on this machine and to one that takes its time.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::support::{Lab, Repo, Session};
use super::{commit_on, git, lived_in, median, report, time};

/// Bare pushes that are measured for one line.
const PUSHES: usize = 5;

/// How long the far remote takes to connect, in seconds.
const FAR: &str = "0.4";

/// Lets a clone reach the server through a stand-in for ssh that sleeps.
fn far(repo: &Repo<'_>) {
    let script = format!("sleep {FAR}\nwhile [ $# -gt 1 ]; do shift; done\nexec sh -c \"$1\"");
    let ssh = repo.lab.script("bin/far", &script);
    repo.git(&["config", "core.sshCommand", ssh.to_str().unwrap()]);
    repo.git(&["config", "ssh.variant", "simple"]);
    let url = format!("ssh://far{}", repo.lab.server().path.display());
    repo.git(&["config", "remote.origin.url", &url]);
}

/// Milliseconds of one bare push of one changed file.
fn push(repo: &Repo<'_>) -> f64 {
    let one = |round: usize| {
        let commit = commit_on(repo, "refs/heads/bench", round);
        repo.git(&["update-ref", "refs/heads/bench", &commit]);
        time(git(repo, &["push", "-q", "origin", "refs/heads/bench:refs/heads/bench"]))
    };
    median((0..PUSHES).map(one).collect())
}

/// Starts all claims at once; milliseconds until the last one has ended, and how many did not get their task.
fn claims(clones: &[Repo<'_>], number: u32, round: usize) -> (f64, usize) {
    let sessions: Vec<Session> = (0..number).map(|_| Session::start()).collect();
    let command = |(n, session): (usize, &Session)| {
        let task = format!("{}", round * 1000 + n + 1);
        clones[n % clones.len()].lock(&["claim", &task]).session(session).into_command()
    };
    let commands: Vec<Command> = sessions.iter().enumerate().map(command).collect();
    let started = Instant::now();
    let running: Vec<_> = commands
        .into_iter()
        .map(|mut command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let failed = running.into_iter().filter_map(|mut child| {
        let status = child.wait().unwrap();
        (!status.success()).then_some(())
    });
    let failed = failed.count();
    (started.elapsed().as_secs_f64() * 1000.0, failed)
}

fn line(clones: &[Repo<'_>], number: u32, rounds: usize, next_round: &mut usize) {
    let (mut spent, mut beside, mut ratios, mut failed) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        *next_round += 1;
        let serial = push(&clones[0]) * f64::from(number);
        let (taken, lost) = claims(clones, number, *next_round);
        failed += lost;
        spent.push(taken);
        beside.push(serial);
        ratios.push(taken / serial);
    }
    let place = if clones.len() == 1 { "one clone".to_owned() } else { format!("{} clones", clones.len()) };
    let failed = if failed == 0 { String::new() } else { format!(", {failed} FAILED") };
    let ours = format!("{number} × claim, {place}{failed}");
    report::row(
        &ours,
        median(spent),
        &format!("{number} × git push, serial"),
        median(beside),
        median(ratios),
    );
}

/// Prints the lines of one remote.
fn remote(name: &str, slow: bool) {
    report::part(name);
    let lab = Lab::new();
    let clones: Vec<Repo<'_>> = (0..32).map(|n| lab.clone(format!("c{n}"))).collect();
    lived_in(&lab.server());
    lived_in(&clones[0]);
    clones[0].lock(&["init"]).go().expect("INITIALIZED", 0);
    if slow {
        clones.iter().for_each(far);
    }
    // Every clone has seen the branch.
    for clone in &clones {
        time(clone.lock(&["check", "1"]).into_command());
    }
    let rounds = if slow { 1 } else { 3 };
    let mut round = 0;
    for number in [1, 8, 32, 128] {
        line(&clones[..1], number, rounds, &mut round);
    }
    for number in [8, 32] {
        line(&clones[..number as usize], number, rounds, &mut round);
    }
}

/// Prints all lines.
pub fn crowds() {
    remote("many at once, remote on this machine", false);
    remote(&format!("many at once, remote that takes {FAR} s to connect"), true);
}
