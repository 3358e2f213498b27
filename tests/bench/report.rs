//! What is printed: a line as soon as it is known, aligned for people or as a Markdown table.

use std::sync::OnceLock;

/// Whether `--table` was given: `cargo bench -- --table`.
fn markdown() -> bool {
    static TABLE: OnceLock<bool> = OnceLock::new();
    *TABLE.get_or_init(|| std::env::args().any(|arg| arg == "--table"))
}

/// Begins a part.
pub fn part(name: &str) {
    if markdown() {
        println!("\n**{name}**\n\n| ours | ms | beside it | ms | ratio |\n|---|--:|---|--:|--:|");
    } else {
        println!("\n{name}");
    }
}

/// One comparison, in milliseconds.
pub fn row(ours: &str, first: f64, beside: &str, second: f64, ratio: f64) {
    if markdown() {
        println!("| {ours} | {first:.1} | {beside} | {second:.1} | {ratio:.2} |");
    } else {
        println!("{ours:<38} {first:>9.1} ms | {beside:<32} {second:>9.1} ms | ratio {ratio:.2}");
    }
}

/// What machine it was, and with which git.
pub fn machine(git: &str) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown").to_owned();
    println!("{cores} processors, load {load} at the start, {git}");
}
