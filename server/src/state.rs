//! What every handler can reach.

use std::sync::Arc;

use engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::{assets::Site, auth::Auth, guard::Allowed};

/// Shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct AppState {
    /// The application.
    pub engine: Engine,
    /// Who may ask.
    pub auth: Auth,
    /// Under which names the server may be asked.
    pub allowed: Arc<Allowed>,
    /// The built page's files.
    pub site: Arc<Site>,
    /// Cancelled when the server ends: what lives longer than a request has to end with it.
    pub closing: CancellationToken,
}
