//! stub
use crate::domain::anchor::*;
/// x
pub struct AnchorEnv;
impl AnchorEnv {
    /// x
    pub fn from_env() -> Self {
        Self
    }
}
/// x
pub struct Resolution {
    /// x
    pub session: Session,
    /// x
    pub warnings: Vec<String>,
}
/// x
pub fn resolve(here: Here, _e: &AnchorEnv) -> Resolution {
    let process = std::env::var("AIT_AGENT_PID").ok().and_then(|p| p.parse::<u32>().ok()).map(|pid| {
        SessionProcess { pid, token: super::process::start_token(pid), source: AnchorSource::AgentPid }
    });
    Resolution { session: Session { here, process }, warnings: vec![] }
}
