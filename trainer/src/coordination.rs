//! What the trainer needs of the coordinator, and how it gets it over gRPC.

use std::future::Future;
use std::time::Duration;

use ludus_proto::status::{describe, is_transient};
use ludus_proto::v1::trainer_service_client::TrainerServiceClient;
use ludus_proto::v1::{JoinReply, JoinRequest, PublishRequest, ReportReply, ReportRequest};
use ludus_proto::{Access, Bearer};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Response, Status};

/// Longest time to reach the coordinator.
const CONNECT: Duration = Duration::from_secs(5);
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
    client: TrainerServiceClient<InterceptedService<Channel, Bearer>>,
}

impl Remote {
    /// The coordinator at `address`, such as `http://host:port`, reached by `access`. Connects with the first call.
    pub fn new(
        address: &str,
        access: Access,
        runtime: Handle,
        shutdown: CancellationToken,
    ) -> Result<Self, CoordinationError> {
        let (url, endpoint) =
            access.endpoint(address).map_err(|error| CoordinationError::Refused(error.to_string()))?;
        let endpoint = endpoint.connect_timeout(CONNECT).timeout(CALL);
        // The channel wants to be made within a runtime.
        let _within = runtime.enter();
        let client = TrainerServiceClient::with_interceptor(endpoint.connect_lazy(), access.token);
        Ok(Remote { address: url, runtime, shutdown, client })
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
        let message = format!("coordinator at {}: {}", self.address, describe(&status));
        match status.code() {
            Code::FailedPrecondition => CoordinationError::FenceLost(message),
            _ if is_transient(&status) => CoordinationError::NotNow(message),
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

#[cfg(test)]
mod tests {
    use tokio::runtime::Runtime;

    use super::*;

    #[test]
    fn what_cannot_be_an_address_is_refused_with_an_example() {
        let runtime = Runtime::new().unwrap();
        for address in ["http://", "http://two words", "redis://host"] {
            let error =
                Remote::new(address, Access::default(), runtime.handle().clone(), CancellationToken::new())
                    .unwrap_err();
            assert!(matches!(error, CoordinationError::Refused(_)), "{address}: {error}");
            assert!(error.to_string().contains("it looks like http://127.0.0.1:7777"), "{error}");
        }
    }

    #[test]
    fn where_nobody_answers_is_a_place_to_try_again_later() {
        let runtime = Runtime::new().unwrap();
        // A port that was free a moment ago, and that nobody listens on.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let mut remote =
            Remote::new(&address, Access::default(), runtime.handle().clone(), CancellationToken::new())
                .unwrap();
        let error = remote.join(&JoinRequest::default()).unwrap_err();
        assert!(matches!(error, CoordinationError::NotNow(_)), "{error}");
        assert!(error.to_string().contains(&address), "{error}");
    }

    #[test]
    fn told_to_stop_it_does_not_wait_for_an_answer() {
        let runtime = Runtime::new().unwrap();
        // It takes connections and never says a word.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap().to_string();
        let shutdown = CancellationToken::new();
        let mut remote =
            Remote::new(&address, Access::default(), runtime.handle().clone(), shutdown.clone()).unwrap();
        shutdown.cancel();
        let error = remote.join(&JoinRequest::default()).unwrap_err();
        assert!(error.to_string().contains("this trainer stops"), "{error}");
    }
}
