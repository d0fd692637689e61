//! The server: gRPC and HTTP on one port, and the tasks behind it.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::middleware;
use ludus_proto::v1::admin_service_server::AdminServiceServer;
use ludus_proto::v1::trainer_service_server::TrainerServiceServer;
use ludus_proto::v1::worker_service_server::WorkerServiceServer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

use crate::connections::Limits;
use crate::door::door;
use crate::services::Services;
use crate::training::MOST_WEIGHTS;
use crate::{Coordinator, CoordinatorError, connections};

/// Longest message of a worker, in bytes: a submission of a thousand games or more.
const MOST_GAMES_BYTES: usize = 16 << 20;
/// How long a shutdown waits for what was taken to reach the stream.
const GRACE: Duration = Duration::from_secs(5);

impl Coordinator {
    /// A listener at `address`, refused when it could be reached from other machines, there are no tokens, and `insecure`
    /// was not given.
    pub async fn bind(&self, address: SocketAddr) -> Result<TcpListener, CoordinatorError> {
        self.check_reach(address)?;
        TcpListener::bind(address).await.map_err(|source| match source.kind() {
            ErrorKind::AddrInUse => CoordinatorError::PortInUse { address },
            _ => CoordinatorError::Listen { address, source },
        })
    }

    /// Serves until `shutdown` is cancelled, then finishes what is under way. Fails at once when the streams of the
    /// active runs cannot be opened.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> Result<(), CoordinatorError> {
        self.check_reach(listener.local_addr().map_err(CoordinatorError::Server)?)?;
        self.shared.options.stream.check().await?;
        let streams = self.shared.open_streams().await?;
        // Tasks end with the set and threads with the guard, so nothing goes on when this future is dropped.
        let mut tasks = JoinSet::new();
        let shutdown = shutdown.child_token();
        let _guard = shutdown.clone().drop_guard();
        // The outbox is emptied to the end, so it stops after the server.
        let stop_outbox = CancellationToken::new();
        tasks.spawn(Arc::clone(&self.shared).run_outbox(streams, stop_outbox.clone()));
        tasks.spawn(Arc::clone(&self.shared).run_conditions(shutdown.clone()));
        tasks.spawn(Arc::clone(&self.shared).run_pruning(shutdown.clone()));

        let audits = Arc::clone(&self.shared).start_audits(shutdown.clone());
        tasks.spawn(async move {
            // It ends with the game it is playing; without a thread it has ended already.
            let _ = audits.await;
        });

        let measuring = Arc::clone(&self.shared).start_measuring(shutdown.clone());
        tasks.spawn(async move {
            let _ = measuring.await;
        });

        let refused = |reason| self.shared.refused_request(reason);
        let router = self.router(shutdown.clone());
        let tls = self.shared.options.tls.as_ref().map(|tls| tls.acceptor.clone());
        connections::serve(listener, router, tls, Limits::default(), shutdown, refused).await;
        stop_outbox.cancel();
        let rest = async {
            while let Some(ended) = tasks.join_next().await {
                if let Err(failed) = ended {
                    tracing::error!("a task of the coordinator broke off: {failed}");
                }
            }
        };
        if tokio::time::timeout(GRACE, rest).await.is_err() {
            tracing::warn!("accepted games stay in the outbox until the next start");
        }
        Ok(())
    }

    pub(crate) fn router(&self, shutdown: CancellationToken) -> axum::Router {
        let services = Services::new(self.clone());
        let worker = WorkerServiceServer::new(services.clone()).max_decoding_message_size(MOST_GAMES_BYTES);
        let trainer =
            TrainerServiceServer::new(services.clone()).max_decoding_message_size(MOST_WEIGHTS + (1 << 20));
        let admin = AdminServiceServer::new(services).max_decoding_message_size(1 << 20);
        let grpc = Routes::new(worker).add_service(trainer).add_service(admin).prepare().into_axum_router();
        // Two routers with a fallback each cannot be merged; the one of the HTTP side stays.
        let rooms = crate::http::router(Arc::new(self.clone()), shutdown).merge(grpc.reset_fallback());
        rooms.layer(middleware::from_fn_with_state(Arc::clone(&self.shared), door))
    }

    fn check_reach(&self, address: SocketAddr) -> Result<(), CoordinatorError> {
        let guarded = self.shared.lock()?.book().tokens.required();
        if address.ip().is_loopback() || guarded || self.shared.options.insecure {
            return Ok(());
        }
        Err(CoordinatorError::BeyondLoopback { address })
    }
}
