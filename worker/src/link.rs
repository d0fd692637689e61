//! The connection to the coordinator.

use std::time::Duration;

use ludus_players::weight_file::MAX_BYTES;
use ludus_proto::v1::worker_service_client::WorkerServiceClient;
use ludus_proto::v1::{
    AcquireReply, AcquireRequest, FetchWeightsRequest, ReleaseRequest, SubmitReply, SubmitRequest,
};
use ludus_proto::{Access, Bearer};
use tonic::Status;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;

use crate::WorkerError;

const CONNECT: Duration = Duration::from_secs(5);
/// For one call, and for one chunk of a download: a download may take long, but it must move.
const ANSWER: Duration = Duration::from_secs(30);

/// Calls to the coordinator. Connects when it is first used and again whenever the connection broke.
#[derive(Clone)]
pub(crate) struct Link {
    client: WorkerServiceClient<InterceptedService<Channel, Bearer>>,
    url: String,
}

impl Link {
    pub(crate) fn to(address: &str, access: Access) -> Result<Self, WorkerError> {
        let (url, endpoint) = access.endpoint(address)?;
        let channel = endpoint
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(Duration::from_secs(20))
            .keep_alive_timeout(Duration::from_secs(10))
            .connect_lazy();
        Ok(Link { client: WorkerServiceClient::with_interceptor(channel, access.token), url })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) async fn acquire(&self, request: AcquireRequest) -> Result<AcquireReply, Status> {
        in_time(self.client.clone().acquire(request)).await
    }

    pub(crate) async fn submit(&self, request: SubmitRequest) -> Result<SubmitReply, Status> {
        in_time(self.client.clone().submit(request)).await
    }

    pub(crate) async fn release(&self, request: ReleaseRequest) -> Result<(), Status> {
        in_time(self.client.clone().release(request)).await.map(drop)
    }

    /// All bytes of a weight file, not yet verified.
    pub(crate) async fn fetch_weights(&self, sha256: &[u8]) -> Result<Vec<u8>, Status> {
        let request = FetchWeightsRequest { sha256: sha256.to_vec() };
        let mut chunks = in_time(self.client.clone().fetch_weights(request)).await?;
        let mut bytes = Vec::new();
        loop {
            let chunk = tokio::time::timeout(ANSWER, chunks.message()).await.map_err(|_| stalled())??;
            let Some(chunk) = chunk else { return Ok(bytes) };
            if (bytes.len() + chunk.data.len()) as u64 > MAX_BYTES {
                return Err(Status::out_of_range(format!("weights of more than {MAX_BYTES} bytes")));
            }
            bytes.extend_from_slice(&chunk.data);
        }
    }
}

async fn in_time<T>(call: impl Future<Output = Result<tonic::Response<T>, Status>>) -> Result<T, Status> {
    let answer = tokio::time::timeout(ANSWER, call).await.map_err(|_| stalled())??;
    Ok(answer.into_inner())
}

fn stalled() -> Status {
    Status::deadline_exceeded(format!("no answer within {} seconds", ANSWER.as_secs()))
}
