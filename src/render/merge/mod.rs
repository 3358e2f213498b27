//! The outcomes of the merge commands, as a line and in sentences.

mod busy;
mod dry_run;
mod human;
mod porcelain;

pub use human::human;
pub use porcelain::porcelain;
