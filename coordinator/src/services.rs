//! The gRPC services: each method hands its request to the coordinator and translates the answer.

use std::pin::Pin;
use std::sync::Arc;

use ludus_proto::v1::admin_service_server::AdminService;
use ludus_proto::v1::trainer_service_server::TrainerService;
use ludus_proto::v1::worker_service_server::WorkerService;
use ludus_proto::v1::{
    AcquireReply, AcquireRequest, CreateRunReply, CreateRunRequest, CreateTokenReply, CreateTokenRequest,
    FetchWeightsRequest, JoinReply, JoinRequest, LiftTokenReply, LiftTokenRequest, ListRunsReply,
    ListRunsRequest, ListTokensReply, ListTokensRequest, ListVersionsReply, ListVersionsRequest,
    PublishReply, PublishRequest, ReleaseReply, ReleaseRequest, ReportReply, ReportRequest, RevokeTokenReply,
    RevokeTokenRequest, RunStatus, ShowLineageReply, ShowLineageRequest, ShowRunRequest, StopRunReply,
    StopRunRequest, SubmitReply, SubmitRequest, WeightsChunk,
};
use tokio_stream::{Stream, StreamExt, iter};
use tonic::{Request, Response, Status};

use crate::blocking::blocking;
use crate::coordinator::Shared;
use crate::tokens::Caller;
use crate::{Coordinator, CoordinatorError, Unadmitted, clock};

/// Size of a piece of a weight file, in bytes.
const CHUNK: usize = 64 << 10;

/// All three services.
#[derive(Clone)]
pub(crate) struct Services {
    coordinator: Coordinator,
}

type Answer<T> = Result<Response<T>, Status>;

impl Services {
    pub(crate) fn new(coordinator: Coordinator) -> Self {
        Services { coordinator }
    }

    /// Runs `work` where waiting for the disk is allowed.
    async fn shared<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, CoordinatorError> + Send + 'static,
    ) -> Answer<T> {
        let shared = Arc::clone(&self.coordinator.shared);
        Ok(Response::new(blocking(move || work(&shared)).await?))
    }

    /// The same, for what programs may ask as well.
    async fn coordinator<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Coordinator) -> Result<T, CoordinatorError> + Send + 'static,
    ) -> Answer<T> {
        let coordinator = self.coordinator.clone();
        Ok(Response::new(blocking(move || work(&coordinator)).await?))
    }
}

#[tonic::async_trait]
impl WorkerService for Services {
    async fn acquire(&self, request: Request<AcquireRequest>) -> Answer<AcquireReply> {
        let (caller, request) = (caller(&request)?, request.into_inner());
        self.shared(move |shared| {
            let answer = shared.acquire(caller, &request, clock::now())?;
            Ok(AcquireReply { answer: Some(answer) })
        })
        .await
    }

    async fn submit(&self, request: Request<SubmitRequest>) -> Answer<SubmitReply> {
        let (caller, request) = (caller(&request)?, request.into_inner());
        self.shared(move |shared| shared.submit(caller, &request, clock::now())).await
    }

    async fn release(&self, request: Request<ReleaseRequest>) -> Answer<ReleaseReply> {
        let (caller, request) = (caller(&request)?, request.into_inner());
        self.shared(move |shared| shared.release(caller, &request).map(|()| ReleaseReply {})).await
    }

    type FetchWeightsStream = Pin<Box<dyn Stream<Item = Result<WeightsChunk, Status>> + Send>>;

    async fn fetch_weights(&self, request: Request<FetchWeightsRequest>) -> Answer<Self::FetchWeightsStream> {
        let (caller, request) = (caller(&request)?, request.into_inner());
        let bytes = self.shared(move |shared| shared.fetch_weights(&request)).await?.into_inner();
        let starts = (0..bytes.len()).step_by(CHUNK);
        let services = self.clone();
        // A token may be revoked while its holder downloads.
        let chunks = iter(starts).then(move |start| {
            let data = bytes[start..(start + CHUNK).min(bytes.len())].to_vec();
            let services = services.clone();
            async move {
                services.shared(move |shared| shared.still_stands(caller)).await?;
                Ok(WeightsChunk { data })
            }
        });
        Ok(Response::new(Box::pin(chunks)))
    }
}

#[tonic::async_trait]
impl TrainerService for Services {
    async fn join(&self, request: Request<JoinRequest>) -> Answer<JoinReply> {
        let request = request.into_inner();
        self.shared(move |shared| shared.join(&request)).await
    }

    async fn publish(&self, request: Request<PublishRequest>) -> Answer<PublishReply> {
        let request = request.into_inner();
        self.shared(move |shared| shared.publish(&request, clock::now())).await
    }

    async fn report(&self, request: Request<ReportRequest>) -> Answer<ReportReply> {
        let request = request.into_inner();
        self.shared(move |shared| shared.report(&request, clock::now())).await
    }
}

#[tonic::async_trait]
impl AdminService for Services {
    async fn create_run(&self, request: Request<CreateRunRequest>) -> Answer<CreateRunReply> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| {
            let run = coordinator.create_run(&request.config, &request.name)?;
            Ok(CreateRunReply { run })
        })
        .await
    }

    async fn stop_run(&self, request: Request<StopRunRequest>) -> Answer<StopRunReply> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| coordinator.stop_run(&request.run).map(|()| StopRunReply {}))
            .await
    }

    async fn list_runs(&self, _: Request<ListRunsRequest>) -> Answer<ListRunsReply> {
        self.coordinator(|coordinator| Ok(ListRunsReply { runs: coordinator.runs()? })).await
    }

    async fn show_run(&self, request: Request<ShowRunRequest>) -> Answer<RunStatus> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| coordinator.run(&request.run)).await
    }

    async fn list_versions(&self, request: Request<ListVersionsRequest>) -> Answer<ListVersionsReply> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| {
            let run = coordinator.run(&request.run)?.run;
            Ok(ListVersionsReply { versions: coordinator.versions(&run)?, run })
        })
        .await
    }

    async fn show_lineage(&self, request: Request<ShowLineageRequest>) -> Answer<ShowLineageReply> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| {
            let run = coordinator.run(&request.run)?.run;
            Ok(ShowLineageReply { versions: coordinator.lineage(&run)?, run })
        })
        .await
    }

    async fn create_token(&self, request: Request<CreateTokenRequest>) -> Answer<CreateTokenReply> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| {
            let role = request.role.parse().map_err(CoordinatorError::Request)?;
            Ok(CreateTokenReply { secret: coordinator.create_token(&request.name, role)? })
        })
        .await
    }

    async fn list_tokens(&self, _: Request<ListTokensRequest>) -> Answer<ListTokensReply> {
        self.coordinator(|coordinator| Ok(ListTokensReply { tokens: coordinator.tokens()? })).await
    }

    async fn revoke_token(&self, request: Request<RevokeTokenRequest>) -> Answer<RevokeTokenReply> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| {
            coordinator.revoke_token(&request.name).map(|()| RevokeTokenReply {})
        })
        .await
    }

    async fn lift_token(&self, request: Request<LiftTokenRequest>) -> Answer<LiftTokenReply> {
        let request = request.into_inner();
        self.coordinator(move |coordinator| coordinator.lift_token(&request.name).map(|()| LiftTokenReply {}))
            .await
    }
}

/// Who asks. The door has let him in.
fn caller<T>(request: &Request<T>) -> Result<Caller, Status> {
    let caller = request.extensions().get::<Caller>().copied();
    caller.ok_or_else(|| Status::internal("a request has not come through the door"))
}

/// How errors look on the wire. The message is the same everywhere.
impl From<CoordinatorError> for Status {
    fn from(error: CoordinatorError) -> Status {
        use CoordinatorError as E;
        let message = error.to_string();
        match error {
            // `ManyRuns` among them: a program that waits for a run to be created need not wait for this.
            E::Config(_)
            | E::Settings(_)
            | E::Benchmark { .. }
            | E::RunName { .. }
            | E::ManyRuns { .. }
            | E::Request(_)
            | E::Weights { .. } => Status::invalid_argument(message),
            E::NoRun { .. }
            | E::NoVersion { .. }
            | E::NoGame { .. }
            | E::NoWeights { .. }
            | E::NoToken { .. }
            | E::NothingHere { .. } => Status::not_found(message),
            E::Unadmitted(Unadmitted::NoToken | Unadmitted::Unknown) => Status::unauthenticated(message),
            E::Unadmitted(_) => Status::permission_denied(message),
            E::RunExists { .. } | E::TokenExists { .. } => Status::already_exists(message),
            E::WhichRun { .. } | E::WorkerRevision { .. } | E::StaleFence { .. } | E::WentBack { .. } => {
                Status::failed_precondition(message)
            }
            E::Stream(_) | E::Database { .. } | E::Folder { .. } | E::Depot { .. } | E::ShuttingDown => {
                Status::unavailable(message)
            }
            E::InUse { .. }
            | E::NotOurs { .. }
            | E::NewerFormat { .. }
            | E::Damaged { .. }
            | E::Revision { .. }
            | E::WeightsDamaged { .. }
            | E::PortInUse { .. }
            | E::Tls { .. }
            | E::Listen { .. }
            | E::DepotUrl { .. }
            | E::BeyondLoopback { .. }
            | E::Server(_) => Status::internal(message),
        }
    }
}
