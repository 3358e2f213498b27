//! `git aitask-lock`: parse, run, render, exit.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use git_aitask_lock::commands::{self, Answer, Cli, Command};
use git_aitask_lock::context::{Format, Layout};
use git_aitask_lock::domain::failure::{Failure, FailureKind};
use git_aitask_lock::live;
use git_aitask_lock::render::{self, Carried, Printed, View};
use git_aitask_lock::sys::{clock, pager, terminal};

fn main() -> ExitCode {
    let (answer, format, quiet, carried) = match Cli::try_parse() {
        Ok(cli) => (answer(&cli), cli.global.format(), cli.global.quiet, cli.carried()),
        Err(error) if error.exit_code() == 0 => {
            // Help and version, to standard output.
            return if error.print().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Err(error) => match format_of_arguments() {
            // Without any command the whole help is the best answer.
            Format::Human if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let _printed = error.print();
                return ExitCode::from(2);
            }
            format => (Answer::from(usage(&error)), format, false, Carried::default()),
        },
    };
    let view = View {
        format,
        now: clock::now(),
        zone: clock::zone(),
        columns: terminal::columns(),
        quiet,
        layout: answer.layout,
        carried,
    };
    let mut printed = render::render(&answer.verdicts, &answer.warnings, &answer.notes, &view);
    if format == Format::Human && view.layout != Layout::Sentences && page(&printed.stdout) {
        printed.stdout.clear();
    }
    print(&printed, answer.exit)
}

fn answer(cli: &Cli) -> Answer {
    match &cli.command {
        Command::List(args) if args.watch => live::run(&cli.global, args),
        _ => commands::run(cli),
    }
}

/// Shows a long answer in the reader's pager, on a terminal. Whether it was shown.
fn page(text: &str) -> bool {
    if text.is_empty() || terminal::columns().is_none() {
        return false;
    }
    let Some(pager) = pager::wanted(Path::new(".")) else { return false };
    let styled = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let plain = || anstream::adapter::strip_str(text).to_string();
    if styled { pager::show(&pager, text) } else { pager::show(&pager, &plain()) }
}

/// What is wrong with the command line, in one line, with what clap proposes instead.
fn usage(error: &clap::Error) -> Failure {
    let mut hints = Vec::new();
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let mut message = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    for line in lines {
        if let Some(tip) = line.strip_prefix("tip: ") {
            hints.push(tip.to_owned());
        } else if line.starts_with('<') && message.ends_with(':') {
            message = format!("{message} {line}");
        }
    }
    // A value may hold anything, line ends included: it is shown short and by itself.
    if let (Some(ContextValue::String(value)), Some(why)) =
        (error.get(ContextKind::InvalidValue), std::error::Error::source(error))
    {
        let shown: String = value.chars().take(60).collect();
        let cut = if shown.len() < value.len() { "…" } else { "" };
        message = format!("'{shown}{cut}' cannot be used: {why}");
    }
    hints.push("git aitask-lock -h".to_owned());
    hints.into_iter().fold(Failure::new(FailureKind::Usage, message), Failure::hint)
}

/// The rendering that unparsable arguments ask for: machine forms are kept on every path.
fn format_of_arguments() -> Format {
    let asked =
        |option: &str| std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == option);
    if asked("--json") {
        Format::Json
    } else if asked("--porcelain") {
        Format::Porcelain
    } else {
        Format::Human
    }
}

/// Prints, and turns a reader that went away or a full disk into the right exit code: what was done
/// is done, so a closed pipe changes nothing; a result that could not be told is a failure.
fn print(printed: &Printed, exit: u8) -> ExitCode {
    let mut stdout = anstream::stdout().lock();
    let written = stdout.write_all(printed.stdout.as_bytes()).and_then(|()| stdout.flush());
    // What is said about a result comes after it.
    let mut stderr = anstream::stderr().lock();
    let _talk = stderr.write_all(printed.stderr.as_bytes());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe && exit == 0 => {
            let _talk = writeln!(stderr, "error: the result cannot be written to standard output: {error}");
            ExitCode::from(128)
        }
        _ => ExitCode::from(exit),
    }
}
