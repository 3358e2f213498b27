use proptest::prelude::*;

use super::*;
use crate::domain::liveness::{Doubt, Evidence};

const ALIVE: Liveness = Liveness::Alive;
const DEAD: Liveness = Liveness::Dead(Evidence::Gone);
const UNKNOWN: Liveness = Liveness::Unknown(Doubt::OtherTable);

fn known(mine: bool, same_session: bool, this_host: bool, has_process: bool, liveness: Liveness) -> Holder {
    Holder::Known { mine, same_session, this_host, has_process, liveness }
}

#[test]
fn no_one_claimed() {
    assert_eq!(decide(Holder::Nobody), Ruling::Claim);
}

#[test]
fn a_different_owner_on_any_host_refused() {
    for (this_host, liveness) in [(true, ALIVE), (true, DEAD), (false, UNKNOWN), (true, UNKNOWN)] {
        assert_eq!(decide(known(false, false, this_host, true, liveness)), Ruling::RefuseOwner);
    }
    // The same process under another email is another owner.
    assert_eq!(decide(known(false, true, true, true, ALIVE)), Ruling::RefuseOwner);
}

#[test]
fn you_this_same_session_refreshed() {
    assert_eq!(decide(known(true, true, true, true, ALIVE)), Ruling::Refresh);
    assert_eq!(decide(known(true, true, false, true, UNKNOWN)), Ruling::Refresh);
}

#[test]
fn you_another_session_on_this_host_alive_refused() {
    assert_eq!(decide(known(true, false, true, true, ALIVE)), Ruling::RefuseLive);
}

#[test]
fn you_another_session_on_this_host_unknown_refused() {
    assert_eq!(decide(known(true, false, true, true, UNKNOWN)), Ruling::RefuseUnverifiable);
}

#[test]
fn you_a_session_that_is_provably_gone_claimed() {
    assert_eq!(decide(known(true, false, true, true, DEAD)), Ruling::ReclaimCrash);
    // A reboot under a new host name is still a proven death.
    assert_eq!(decide(known(true, false, false, true, DEAD)), Ruling::ReclaimCrash);
}

#[test]
fn you_another_host_claimed() {
    assert_eq!(decide(known(true, false, false, true, UNKNOWN)), Ruling::ReclaimOtherHost);
    assert_eq!(decide(known(true, false, false, false, UNKNOWN)), Ruling::ReclaimOtherHost);
}

#[test]
fn you_a_lock_that_never_recorded_a_process_claimed() {
    assert_eq!(decide(known(true, false, true, false, UNKNOWN)), Ruling::ReclaimAnomaly);
}

#[test]
fn a_record_that_cannot_be_read_refused() {
    assert_eq!(decide(Holder::Unreadable), Ruling::RefuseUnreadable);
}

fn any_liveness() -> impl Strategy<Value = Liveness> {
    prop_oneof![
        Just(ALIVE),
        proptest::sample::select(vec![
            Evidence::Rebooted,
            Evidence::Gone,
            Evidence::Ended,
            Evidence::PidReused
        ])
        .prop_map(Liveness::Dead),
        proptest::sample::select(vec![
            Doubt::NoProcess,
            Doubt::Garbled,
            Doubt::OtherTable,
            Doubt::NotInspectable,
            Doubt::BarePid,
            Doubt::WeakToken,
            Doubt::UnknownToken,
            Doubt::NotSeen
        ])
        .prop_map(Liveness::Unknown),
    ]
}

proptest! {
    #[test]
    fn on_this_host_only_proof_of_death_or_no_process_takes_a_lock_over(
        mine: bool, has_process: bool, liveness in any_liveness()
    ) {
        let ruling = decide(known(mine, false, true, has_process, liveness));
        if !ruling.refuses() {
            prop_assert!(mine, "another owner's lock is never taken");
            prop_assert!(matches!(liveness, Liveness::Dead(_)) || !has_process, "unknown never claims");
        }
    }

    #[test]
    fn what_is_alive_is_never_taken_from_this_host(has_process: bool, mine: bool) {
        let ruling = decide(known(mine, false, true, has_process, ALIVE));
        prop_assert!(ruling.refuses() || !has_process);
    }

    #[test]
    fn a_ruling_asks_or_refuses_never_both(
        mine: bool, same: bool, here: bool, has_process: bool, liveness in any_liveness()
    ) {
        let ruling = decide(known(mine, same, here, has_process, liveness));
        prop_assert!(!(ruling.refuses() && ruling.asks_first()));
    }
}
