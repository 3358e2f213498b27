//! The guard of a reclaim or a recovery: when one that stands there was provably left behind.
//!
//! Whoever puts the guard up writes a file of its own first, which names its process. One file for all
//! would not do: a command that finds the guard up already would overwrite the name of the one who made it.

use serde::{Deserialize, Serialize};

use crate::domain::anchor::{Anchor, Here, ProcessTable, RecordedProcess, StartToken, TokenKind};
use crate::domain::liveness::Liveness;

/// Largest file of a maker that is read, in bytes.
pub const MAX_BYTES: usize = 4 * 1024;

/// The command that puts a guard up, as its file names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Maker {
    pid: Option<u32>,
    pid_starttime: Option<String>,
    pid_starttime_kind: Option<String>,
    table: Option<ProcessTable>,
    hostname: Option<String>,
    machine_id: Option<String>,
}

impl Maker {
    /// The process of this number and start token, here. What is not known proves nothing later, and is
    /// written all the same: a maker without a file could be taken for another one.
    #[must_use]
    pub fn new(pid: u32, token: Option<StartToken>, here: &Here) -> Self {
        Self {
            pid: Some(pid),
            pid_starttime_kind: token.as_ref().map(|token| token.kind.as_str().to_owned()),
            pid_starttime: token.map(|token| token.value),
            table: here.table.clone(),
            hostname: here.hostname.clone(),
            machine_id: here.machine_id.clone(),
        }
    }

    /// What its file says; what cannot be read names nobody.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        serde_yaml::from_str(text).unwrap_or_default()
    }

    /// Its file.
    #[must_use]
    pub fn encode(&self) -> String {
        serde_yaml::to_string(self).unwrap_or_default()
    }

    /// The process, to be looked for.
    #[must_use]
    pub fn anchor(&self) -> Anchor {
        let kind = || TokenKind::parse(self.pid_starttime_kind.as_deref());
        let token = self.pid_starttime.clone().map(|value| StartToken { value, kind: kind() });
        let process = match self.pid {
            // Without a table nothing says where the number means something.
            Some(pid) if pid > 0 && self.table.is_some() => RecordedProcess::Process { pid, token },
            _ => RecordedProcess::Garbled,
        };
        Anchor {
            process,
            table: self.table.clone(),
            hostname: self.hostname.clone(),
            machine_id: self.machine_id.clone(),
        }
    }
}

/// How the guard stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is none.
    Down,
    /// It was left behind by a command that is provably gone, and may be taken down.
    Left,
    /// Somebody may stand behind it: a person decides.
    Up,
}

/// Decides. `excluded` is whether the mutex's lock is held by the one who asks, and provably keeps others
/// out; `makers` is what is known of each process that has a file as a maker. One that cannot be told of is
/// enough to leave the guard alone, and so is the absence of all of them.
#[must_use]
pub fn standing(is_up: bool, excluded: bool, makers: &[Liveness]) -> Standing {
    let gone = |maker: &Liveness| matches!(maker, Liveness::Dead(_));
    match is_up {
        false => Standing::Down,
        true if excluded && !makers.is_empty() && makers.iter().all(gone) => Standing::Left,
        true => Standing::Up,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::anchor::Observed;
    use crate::domain::liveness::{self, Doubt, Evidence};

    const ALIVE: Liveness = Liveness::Alive;
    const GONE: Liveness = Liveness::Dead(Evidence::Gone);
    const REBOOTED: Liveness = Liveness::Dead(Evidence::Rebooted);
    const UNKNOWN: Liveness = Liveness::Unknown(Doubt::OtherTable);

    #[test]
    fn every_row_of_the_table() {
        use Standing::{Down, Left, Up};
        for (is_up, excluded, makers, expected) in [
            (false, true, &[][..], Down),
            (false, true, &[ALIVE][..], Down),
            (true, true, &[][..], Up),
            (true, true, &[GONE][..], Left),
            (true, true, &[GONE, REBOOTED][..], Left),
            (true, true, &[ALIVE][..], Up),
            (true, true, &[UNKNOWN][..], Up),
            (true, true, &[GONE, ALIVE][..], Up),
            (true, true, &[UNKNOWN, GONE][..], Up),
            (true, false, &[][..], Up),
            (true, false, &[GONE][..], Up),
            (true, false, &[GONE, REBOOTED][..], Up),
        ] {
            assert_eq!(standing(is_up, excluded, makers), expected, "{is_up} {excluded} {makers:?}");
        }
    }

    fn here() -> Here {
        Here {
            table: Some(ProcessTable { boot_id: "b".to_owned(), pid_namespace: 1, time_namespace: 2 }),
            hostname: Some("h".to_owned()),
            machine_id: Some("m".to_owned()),
            initial_pid_namespace: true,
            booted_unix: None,
        }
    }

    #[test]
    fn a_maker_comes_back_from_its_file() {
        let token = StartToken { value: "123".to_owned(), kind: TokenKind::Proc };
        let maker = Maker::new(7, Some(token.clone()), &here());
        let read = Maker::decode(maker.encode().as_bytes());
        assert_eq!(read, maker);
        assert_eq!(read.anchor().process, RecordedProcess::Process { pid: 7, token: Some(token) });
        assert!(matches!(liveness::judge(&read.anchor(), &here(), &Observed::Absent), Liveness::Dead(_)));
    }

    #[test]
    fn what_names_no_process_proves_nothing() {
        let nowhere = Maker::new(7, None, &Here { table: None, ..here() });
        let nobody = Maker::new(0, None, &here());
        let files = [&b""[..], b"\0\xff", b"- 1", b"pid: 7\n", b"pid: [", b"hostname: h\n"];
        for maker in files.map(Maker::decode).into_iter().chain([nowhere, nobody]) {
            let judged = liveness::judge(&maker.anchor(), &here(), &Observed::Absent);
            assert!(matches!(judged, Liveness::Unknown(_)), "{maker:?} {judged:?}");
        }
    }
}
