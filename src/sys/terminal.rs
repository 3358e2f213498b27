//! The terminal: whether there is one, and how wide it is.

use std::io::IsTerminal as _;

/// Whether a person can be asked: standard input and standard error are both terminals.
#[must_use]
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Rows and columns of the terminal on standard output; `None` when it is no terminal.
#[must_use]
pub fn size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some((size.ws_row, size.ws_col))
}

/// Columns of the terminal on standard output; `None` when it is no terminal.
#[must_use]
pub fn columns() -> Option<u16> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    rustix::termios::tcgetwinsize(&stdout).ok().map(|size| size.ws_col).filter(|columns| *columns > 0)
}

/// Says a line on standard error, while a command is still at work. A reader that went away is none.
pub fn tell(line: &str) {
    use std::io::Write as _;
    let _unheard = writeln!(std::io::stderr(), "{line}");
}
