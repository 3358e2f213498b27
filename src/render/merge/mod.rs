//! The outcomes of the merge commands, as a line and in sentences.

mod busy;
mod human;
mod porcelain;

pub use human::human;
pub use porcelain::porcelain;
