//! What a merge command came to, in sentences.

use crate::domain::merge::verdict::MergeVerdict;
use crate::render::{Printed, View};

/// Tells one outcome.
pub fn human(verdict: &MergeVerdict, _view: &View, printed: &mut Printed) {
    printed.stdout.push_str(verdict.word());
    printed.stdout.push('\n');
}
