//! The same looks from inside other namespaces, where the same numbers mean something else.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::domain::anchor::Here;
use crate::sys::host;

/// A process that the other side is asked about.
struct Outsider(Child);

impl Outsider {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
#[ignore = "only a part of other tests"]
fn as_seen_from_here() {
    let Some(pid) = std::env::var("OUTSIDER").ok().and_then(|pid| pid.parse().ok()) else { return };
    let here = host::here(None);
    println!();
    println!("answer: ours={}", proc_is_ours());
    println!("answer: observed={:?}", observe(pid));
    println!("answer: table={:?}", here.table);
    println!("answer: initial={}", here.initial_pid_namespace);
    println!("answer: hostname={:?}", here.hostname);
    println!("answer: group={:?}", group_lives(pid));
}

/// Asks for all this behind `wrapper`; `None` where that is not permitted.
fn seen_through(wrapper: &str, outsider: &Outsider) -> Option<HashMap<String, String>> {
    if !proc_is_ours() {
        println!("skipped: /proc does not show our own process table here");
        return None;
    }
    let output = Command::new("sh")
        .args(["-c", &format!("{wrapper} \"$0\" --exact sys::process::in_namespaces::as_seen_from_here --ignored --nocapture")])
        .arg(std::env::current_exe().unwrap())
        .env("OUTSIDER", outsider.0.id().to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let answers: HashMap<String, String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("answer: ")?.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    if answers.is_empty() {
        println!("skipped: `{wrapper}` is refused here: {}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    Some(answers)
}

fn table(here: &Here) -> String {
    format!("{:?}", here.table)
}

#[test]
fn another_pid_namespace_is_another_table() {
    let outsider = Outsider::start();
    let Some(seen) = seen_through("unshare -Urpf --mount-proc", &outsider) else { return };
    let here = host::here(None);
    assert_eq!(seen["ours"], "true");
    assert_ne!(seen["table"], table(&here));
    assert!(seen["table"].contains(&here.table.unwrap().boot_id), "one boot: {}", seen["table"]);
    assert_eq!(seen["initial"], "false");
    assert_eq!(seen["observed"], "Absent");
    assert_eq!(seen["hostname"], format!("{:?}", here.hostname));
}

#[test]
fn a_proc_of_another_namespace_is_not_read() {
    let outsider = Outsider::start();
    // Its `/proc` still shows our table: there our outsider is, but not for its system calls.
    let Some(seen) = seen_through("unshare -Urpf", &outsider) else { return };
    assert_eq!(seen["ours"], "false");
    assert_eq!(seen["table"], "None");
    assert_eq!(seen["initial"], "false");
    assert_eq!(seen["observed"], "Absent");
    assert_eq!(seen["group"], "None");
}

#[test]
fn another_time_namespace_is_another_table() {
    let outsider = Outsider::start();
    let Some(seen) = seen_through("unshare -Ur -T --boottime 1000000 --fork", &outsider) else { return };
    assert_eq!(seen["ours"], "true");
    assert_ne!(seen["table"], table(&host::here(None)));
    assert!(seen["observed"].starts_with("Exists"), "{}", seen["observed"]);
    assert_ne!(seen["observed"], format!("{:?}", observe(outsider.0.id())), "tokens differ by the offset");
}

#[test]
fn another_host_name_is_the_same_table() {
    let outsider = Outsider::start();
    let wrapper = "unshare -Uur sh -c 'hostname elsewhere && exec \"$0\" \"$@\"'";
    let Some(seen) = seen_through(wrapper, &outsider) else { return };
    assert_eq!(seen["hostname"], "Some(\"elsewhere\")");
    assert_eq!(seen["table"], table(&host::here(None)));
    assert_eq!(seen["observed"], format!("{:?}", observe(outsider.0.id())));
}

#[test]
fn a_hidden_process_exists_but_is_not_inspected() {
    let outsider = Outsider::start();
    // A new mount: a remount would change `/proc` for the whole machine.
    let wrapper = "unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && \
                   exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" \"$@\"'";
    let Some(seen) = seen_through(wrapper, &outsider) else { return };
    assert_eq!(seen["ours"], "true");
    assert_eq!(seen["table"], table(&host::here(None)));
    assert_eq!(seen["observed"], "Exists { start_ticks: None }");
}
