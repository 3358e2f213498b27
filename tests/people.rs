//! `list`, `list --watch`, `log` and `doctor`, as people see them.
