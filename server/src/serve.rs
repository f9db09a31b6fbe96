//! A running server: what is taken in which order, and how it ends.

use std::{io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use engine::{Engine, recording::Recorder};
use store::{
    OpenError, Store, StoreError,
    lock::{DataLock, Holder, LockError},
};
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    AppState, Config,
    auth::Auth,
    config::{Exposed, local_addr},
    data_dir::{self, DataDirError},
    guard::Allowed,
    pages, router,
    secret::{self, SecretError},
};

/// How long open requests may take to end.
const DRAIN: Duration = Duration::from_millis(1000);
/// How long agents may take to end.
const END_AGENTS: Duration = Duration::from_millis(2500);
/// How long the last writes may take.
const CLOSE_STORE: Duration = Duration::from_millis(1000);

/// Starts servers.
#[derive(Debug)]
pub struct Server;

/// A server that runs; it ends with [`Running::shutdown`], or roughly when dropped.
pub struct Running {
    addr: SocketAddr,
    state: AppState,
    serving: JoinHandle<()>,
    closing: DropGuard,
    /// Held until everything else has ended.
    lock: DataLock,
}

/// Why a server did not start: a sentence with the next step.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Others could reach it.
    #[error(transparent)]
    Exposed(#[from] Exposed),
    /// There is nowhere to write.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// Another server has the data directory.
    #[error(
        "the data directory {dir} is in use by {}: use that server, stop it, or choose another \
         directory with --data-dir",
        name(.holder.as_ref())
    )]
    InUse {
        /// The directory.
        dir: String,
        /// That server, if it said so.
        holder: Option<Holder>,
    },
    /// Another program has the port.
    #[error(
        "port {} of {} is in use by another program: stop that program, or choose another port \
         with --port (0 takes any free one)",
        .0.port(), .0.ip()
    )]
    PortInUse(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {addr} ({source}): choose another --host or --port")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// There is no token to guard the server with.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine did not start.
    #[error(transparent)]
    Engine(#[from] engine::StartError),
    /// What is secret in the store cannot be sealed.
    #[error(
        "the key {path} cannot be used ({source}): correct it, or move it away to get a new one, \
         with which the variables of profiles have to be entered again"
    )]
    Secrets {
        /// The key's file.
        path: String,
        /// What is wrong with it.
        source: engine::SecretsError,
    },
    /// Recordings have no place.
    #[error("cannot record into {dir} ({source}): choose another directory with --record")]
    Record {
        /// The directory.
        dir: String,
        /// What the system says.
        source: io::Error,
    },
    /// Part of the start panicked.
    #[error("the start was interrupted ({0}): start again, and report it if it comes back")]
    Interrupted(#[from] tokio::task::JoinError),
}

fn recorder(dir: &Path) -> Result<Recorder, StartError> {
    Recorder::new(dir)
        .map_err(|source| StartError::Record { dir: dir.display().to_string(), source })
}

fn open_secrets(dir: &Path) -> Result<engine::Secrets, StartError> {
    let path = data_dir::profile_key(dir);
    engine::Secrets::open(&path)
        .map_err(|source| StartError::Secrets { path: path.display().to_string(), source })
}

fn name(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".into(), ToString::to_string)
}

impl Server {
    /// Takes the data directory, then the port, then opens the store; serves until told to end.
    ///
    /// # Errors
    ///
    /// [`StartError`]; whatever was taken is given back.
    pub async fn start(config: Config) -> Result<Running, StartError> {
        config.check_exposure()?;
        let lock = take_data_dir(&config.data_dir)?;
        let listener = listen(SocketAddr::new(config.host, config.port)).await?;
        let unknown =
            |source| StartError::Listen { addr: SocketAddr::new(config.host, config.port), source };
        let addr = listener.local_addr().map_err(unknown)?;

        let token = match &config.token {
            Some(token) => token.clone(),
            None => secret::load_or_create(&config.data_dir)?,
        };
        let secrets = open_secrets(&config.data_dir)?;
        let recorder = config.record.as_deref().map(recorder).transpose()?;
        let store = open_store(&config.data_dir).await?;
        let public_url = config.public_url(addr);
        let auth = Auth::open(store.clone(), &token, addr.port(), public_url).await?;
        let closing = CancellationToken::new();
        let state = AppState {
            engine: Engine::start_with(store, engine::Options { recorder, secrets }).await?,
            auth,
            allowed: Arc::new(Allowed::new(addr, &config.allow_hosts)),
            site: Arc::new(config.site),
            closing: closing.clone(),
        };
        announce(&lock, addr);
        pages::init();
        let serving = tokio::spawn(serve(listener, state.clone()));
        Ok(Running { addr, state, serving, closing: closing.drop_guard(), lock })
    }
}

impl Running {
    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What a browser opens to get in, once.
    pub fn one_time_link(&self) -> String {
        self.state.auth.one_time_link()
    }

    /// The application behind it.
    pub const fn engine(&self) -> &Engine {
        &self.state.engine
    }

    /// Ends everything, within five seconds: requests and sockets, agents, then the store.
    pub async fn shutdown(self) {
        let Self { state, mut serving, closing, lock, .. } = self;
        drop(closing);
        if timeout(DRAIN, &mut serving).await.is_err() {
            tracing::debug!("some requests did not end in time");
            serving.abort();
        }
        if timeout(END_AGENTS, state.engine.shutdown()).await.is_err() {
            tracing::warn!("some agents did not end in time");
        }
        let store = state.engine.store().clone();
        let closed = tokio::task::spawn_blocking(move || store.close());
        if timeout(CLOSE_STORE, closed).await.is_err() {
            tracing::error!("the store did not close in time; the next start recovers it");
        }
        drop(lock);
    }
}

fn take_data_dir(dir: &Path) -> Result<DataLock, StartError> {
    data_dir::prepare(dir)?;
    store::lock::acquire(dir).map_err(|err| match err {
        LockError::Held { holder } => StartError::InUse { dir: dir.display().to_string(), holder },
        LockError::Io(source) => DataDirError { dir: dir.into(), source }.into(),
    })
}

async fn listen(addr: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(addr).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => StartError::PortInUse(addr),
        _ => StartError::Listen { addr, source },
    })
}

async fn open_store(dir: &Path) -> Result<Store, StartError> {
    let file = data_dir::store_file(dir);
    let options = store::Options {
        on_repair: Some(Arc::new(|done| {
            tracing::warn!("repairing the store: {:.0} %", done * 100.0);
        })),
        ..store::Options::default()
    };
    Ok(tokio::task::spawn_blocking(move || Store::open(&file, &options)).await??)
}

/// A server whose address nobody can read serves all the same.
fn announce(lock: &DataLock, addr: SocketAddr) {
    if let Err(err) = lock.announce(&format!("http://{}", local_addr(addr))) {
        tracing::warn!(%err, "cannot note the address: `kandev link` will not find this server");
    }
}

async fn serve(listener: TcpListener, state: AppState) {
    let closing = state.closing.clone();
    let service = router::router(state).into_make_service_with_connect_info::<SocketAddr>();
    let served = axum::serve(listener, service)
        .with_graceful_shutdown(async move { closing.cancelled().await })
        .await;
    if let Err(err) = served {
        tracing::error!(%err, "serving ended");
    }
}
