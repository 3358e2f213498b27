//! Two locks that keep coding agents on one repository from stepping on each other.
//!
//! A **task lock** says who owns a task ID: a YAML file in the tree of the branch `aitask-locks`,
//! changed only by compare-and-swap. The **merge mutex** says which task may run its end-of-task
//! merge in the shared repository root right now: a reservation under the common git directory,
//! anchored to the agent's session.
//!
//! # One way through the house
//!
//! arguments ([`commands`]) → operation → pure decision ([`domain`]) → [`store`] or [`sys`] →
//! [`domain::verdict::Verdict`] → [`render`].
//!
//! | room | what it does | may use |
//! |---|---|---|
//! | [`domain`] | decides; no input or output, no clock, no git | nothing of ours |
//! | [`sys`] | the outside world, one small door each | `domain` |
//! | [`store`] | what persists, and the atomic step that changes it | `sys`, `domain` |
//! | [`context`], [`arbiter`], [`owner`] | options and configuration, settled once | `sys`, `domain` |
//! | [`render`] | a verdict becomes text | `domain`, `context` |
//! | [`commands`] | thin: arguments in, verdicts out; questions to a person | all above |
//! | [`live`] | `list --watch`: reads and shows again and again | all above |
//! | [`manual`] | the man pages, made of the commands' own definitions | `commands`, `domain` |
//!
//! # Limitations
//!
//! * Both locks are conventions: they bind those who take them.
//! * "Cannot tell" is an answer of its own and is never rounded up to "go ahead".

pub mod arbiter;
pub mod commands;
pub mod context;
pub mod domain;
pub mod live;
pub mod manual;
pub mod owner;
pub mod render;
pub mod store;
pub mod sys;
