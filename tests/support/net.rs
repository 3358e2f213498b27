//! Servers on the loopback interface that answer, refuse, or never say a word.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use super::{Lab, actors};

/// A port that nobody listens on.
pub fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server that accepts and never answers. Connections stay open until it is dropped.
pub struct Silent {
    listener: TcpListener,
}

impl Silent {
    /// Starts to listen: the kernel accepts, and nobody answers.
    pub fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }
}

/// A web server that answers every request with one status, until the process ends.
pub fn answering(status: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _connection_lost = answer(stream, status);
        }
    });
    port
}

fn answer(mut stream: TcpStream, status: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    let challenge = if status.starts_with("401") { "WWW-Authenticate: Basic realm=\"lab\"\r\n" } else { "" };
    write!(stream, "HTTP/1.1 {status}\r\n{challenge}Content-Length: 0\r\nConnection: close\r\n\r\n")
}

/// `git daemon` for the lab's folder.
pub struct Daemon {
    child: Child,
    /// Its port.
    pub port: u16,
}

impl Daemon {
    /// Starts it; pushing is allowed or not.
    pub fn start(lab: &Lab, writable: bool) -> Self {
        let port = closed_port();
        // The daemon itself, not git, so that what is ended is the process that listens.
        let exec = lab.git(lab.root(), &["--exec-path"]);
        let mut command: Command = lab.command(format!("{exec}/git-daemon"));
        command.args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"]).arg(format!("--port={port}"));
        command.arg(format!("--base-path={}", lab.root().display()));
        if writable {
            command.arg("--enable=receive-pack");
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let daemon = Self { child, port };
        actors::wait_until("git daemon listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _status = self.child.wait();
    }
}
