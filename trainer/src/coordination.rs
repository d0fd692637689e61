//! What the trainer needs of the coordinator, and how it gets it over gRPC.

use std::future::Future;
use std::time::Duration;

use ludus_proto::v1::trainer_service_client::TrainerServiceClient;
use ludus_proto::v1::{JoinReply, JoinRequest, PublishRequest, ReportReply, ReportRequest};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Response, Status};

/// Longest time for one call.
const CALL: Duration = Duration::from_secs(30);
/// How long a call may go on once the trainer was told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// The coordinator as the training loop sees it: over gRPC, or a stand-in under test. Every call is one attempt; the
/// loop knows how long to be patient.
pub trait Coordination: Send {
    /// Takes the run's training role.
    fn join(&mut self, request: &JoinRequest) -> Result<JoinReply, CoordinationError>;
    /// Publishes a weight file and returns its version.
    fn publish(&mut self, request: &PublishRequest) -> Result<u64, CoordinationError>;
    /// Reports progress.
    fn report(&mut self, request: &ReportRequest) -> Result<ReportReply, CoordinationError>;
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CoordinationError {
    /// Not now: the same call may succeed later.
    #[error("{0}")]
    NotNow(String),
    /// This trainer's word no longer counts, as a rule because a newer one has taken the run.
    #[error("{0}")]
    FenceLost(String),
    /// The call will never succeed.
    #[error("{0}")]
    Refused(String),
}

/// The coordinator over gRPC.
#[derive(Debug)]
pub struct Remote {
    address: String,
    runtime: Handle,
    shutdown: CancellationToken,
    client: TrainerServiceClient<Channel>,
}

impl Remote {
    /// The coordinator at `address`, an URL such as `http://host:port`. Connects with the first call.
    pub fn new(
        address: &str,
        runtime: Handle,
        shutdown: CancellationToken,
    ) -> Result<Self, CoordinationError> {
        let endpoint = Endpoint::from_shared(address.to_owned())
            .map_err(|error| {
                CoordinationError::Refused(format!(
                    "{address:?} is not a coordinator's URL ({error}): write http://HOST:PORT"
                ))
            })?
            .connect_timeout(Duration::from_secs(5))
            .timeout(CALL);
        // The channel wants to be made within a runtime.
        let _within = runtime.enter();
        let client = TrainerServiceClient::new(endpoint.connect_lazy());
        Ok(Remote { address: address.to_owned(), runtime, shutdown, client })
    }

    /// Waits for the answer to a call, but not for ever.
    fn call<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, CoordinationError> {
        let told_to_stop = async {
            self.shutdown.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let answer = self.runtime.block_on(async {
            tokio::select! {
                answer = answer => answer,
                () = told_to_stop => Err(Status::cancelled("this trainer stops")),
            }
        });
        answer.map(Response::into_inner).map_err(|status| self.error(status))
    }

    fn error(&self, status: Status) -> CoordinationError {
        let message = format!("coordinator at {}: {}", self.address, status.message());
        match status.code() {
            Code::FailedPrecondition => CoordinationError::FenceLost(message),
            Code::Unavailable
            | Code::DeadlineExceeded
            | Code::Cancelled
            | Code::Aborted
            | Code::ResourceExhausted
            | Code::Internal
            | Code::Unknown => CoordinationError::NotNow(message),
            _ => CoordinationError::Refused(message),
        }
    }
}

impl Coordination for Remote {
    fn join(&mut self, request: &JoinRequest) -> Result<JoinReply, CoordinationError> {
        let mut client = self.client.clone();
        self.call(client.join(request.clone()))
    }

    fn publish(&mut self, request: &PublishRequest) -> Result<u64, CoordinationError> {
        let mut client = self.client.clone();
        self.call(client.publish(request.clone())).map(|reply| reply.version)
    }

    fn report(&mut self, request: &ReportRequest) -> Result<ReportReply, CoordinationError> {
        let mut client = self.client.clone();
        self.call(client.report(request.clone()))
    }
}
