//! remotes
