//! Asking a running coordinator, from a command that does one thing and ends.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use ludus_players::weight_file::{Digest, MAX_BYTES};
use ludus_proto::v1::admin_service_client::AdminServiceClient;
use ludus_proto::v1::trainer_service_client::TrainerServiceClient;
use ludus_proto::v1::worker_service_client::WorkerServiceClient;
use ludus_proto::v1::*;
use ludus_proto::{Access, Bearer};
use tokio::runtime::Runtime;
use tonic::codegen::{Body, Service, http};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Response, Status};

use crate::exit::BadConfiguration;

/// Whatever goes wrong on a connection.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Patience with one answer, or with one piece of a download.
const ANSWER: Duration = Duration::from_secs(15);

/// Longest page that is read.
const LONGEST_PAGE: usize = 1 << 20;

/// A page of a coordinator's HTTP side, as it was answered.
#[derive(Clone, Debug)]
pub struct Page {
    /// Status code.
    pub status: u16,
    /// The text.
    pub text: String,
    /// The coordinator's clock, to the second, if it told.
    pub date: Option<SystemTime>,
}

/// A coordinator at the other end of a connection. Its calls wait for the answer.
pub struct CoordinatorClient {
    url: String,
    channel: InterceptedService<Channel, Bearer>,
    runtime: Runtime,
}

impl CoordinatorClient {
    /// Connects at the first call, and shows its token with each. `address` is a URL, or host and port.
    pub fn new(address: &str, access: Access) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (url, endpoint) = access.endpoint(address)?;
        let channel = {
            let _within = runtime.enter();
            InterceptedService::new(
                endpoint.connect_timeout(Duration::from_secs(5)).connect_lazy(),
                access.token,
            )
        };
        Ok(CoordinatorClient { url, channel, runtime })
    }

    pub fn runs(&self) -> Result<Vec<RunStatus>> {
        Ok(self.ask(self.admin().list_runs(ListRunsRequest {}))?.runs)
    }

    /// The run of this name; the newest when it is empty.
    pub fn run(&self, name: &str) -> Result<RunStatus> {
        self.ask(self.admin().show_run(ShowRunRequest { run: name.into() }))
    }

    /// The versions of a run, oldest first; of the newest run when its name is empty.
    pub fn versions(&self, run: &str) -> Result<Vec<VersionInfo>> {
        Ok(self.ask(self.admin().list_versions(ListVersionsRequest { run: run.into() }))?.versions)
    }

    /// Gives the name of the new run.
    pub fn create_run(&self, config: &str, name: &str) -> Result<String> {
        let request = CreateRunRequest { config: config.into(), name: name.into() };
        Ok(self.ask(self.admin().create_run(request))?.run)
    }

    pub fn stop_run(&self, run: &str) -> Result<()> {
        self.ask(self.admin().stop_run(StopRunRequest { run: run.into() })).map(drop)
    }

    /// Whose games the versions of a run may have learnt from, oldest first.
    pub fn lineage(&self, run: &str) -> Result<Vec<VersionLineage>> {
        Ok(self.ask(self.admin().show_lineage(ShowLineageRequest { run: run.into() }))?.versions)
    }

    /// Makes a token and gives its secret.
    pub fn create_token(&self, name: &str, role: &str) -> Result<String> {
        let request = CreateTokenRequest { name: name.into(), role: role.into() };
        Ok(self.ask(self.admin().create_token(request))?.secret)
    }

    /// Every token, oldest first.
    pub fn tokens(&self) -> Result<Vec<TokenInfo>> {
        Ok(self.ask(self.admin().list_tokens(ListTokensRequest {}))?.tokens)
    }

    pub fn revoke_token(&self, name: &str) -> Result<()> {
        self.ask(self.admin().revoke_token(RevokeTokenRequest { name: name.into() })).map(drop)
    }

    pub fn lift_token(&self, name: &str) -> Result<()> {
        self.ask(self.admin().lift_token(LiftTokenRequest { name: name.into() })).map(drop)
    }

    /// Takes the training role of a run.
    pub fn join(&self, request: JoinRequest) -> Result<JoinReply> {
        self.ask(self.trainer().join(request))
    }

    /// Publishes a version and gives its number.
    pub fn publish(&self, request: PublishRequest) -> Result<u64> {
        Ok(self.ask(self.trainer().publish(request))?.version)
    }

    /// Reports what was done with the games of a run.
    pub fn report(&self, request: ReportRequest) -> Result<ReportReply> {
        self.ask(self.trainer().report(request))
    }

    /// The bytes of a weight file, as sent: the caller compares them with `sha256`.
    pub fn weights(&self, sha256: Digest) -> Result<Vec<u8>> {
        let request = FetchWeightsRequest { sha256: sha256.0.to_vec() };
        let mut chunks = self.ask(WorkerServiceClient::new(self.channel.clone()).fetch_weights(request))?;
        let mut bytes = Vec::new();
        let next =
            async |chunks: &mut tonic::Streaming<WeightsChunk>| chunks.message().await.map(Response::new);
        while let Some(chunk) = self.ask(next(&mut chunks))? {
            if (bytes.len() + chunk.data.len()) as u64 > MAX_BYTES {
                bail!("{} sends weights of more than {MAX_BYTES} bytes", self.url);
            }
            bytes.extend_from_slice(&chunk.data);
        }
        Ok(bytes)
    }

    /// What its HTTP side answers to a request for `path`, whatever it is.
    pub fn page(&self, path: &str) -> Result<Page> {
        let request = http::Request::get(path).body(tonic::body::Body::empty())?;
        let answer = async { tokio::time::timeout(ANSWER, get(self.channel.clone(), request)).await };
        match self.runtime.block_on(answer) {
            Ok(Ok(page)) => Ok(page),
            Ok(Err(error)) => bail!(no_answer(&self.url, &*error)),
            Err(_) => bail!(late(&self.url)),
        }
    }

    fn trainer(&self) -> TrainerServiceClient<InterceptedService<Channel, Bearer>> {
        TrainerServiceClient::new(self.channel.clone())
    }

    fn admin(&self) -> AdminServiceClient<InterceptedService<Channel, Bearer>> {
        AdminServiceClient::new(self.channel.clone())
    }

    fn ask<T>(&self, call: impl Future<Output = Result<Response<T>, Status>>) -> Result<T> {
        let answer = self.runtime.block_on(async { tokio::time::timeout(ANSWER, call).await });
        let status = match answer {
            Ok(Ok(response)) => return Ok(response.into_inner()),
            Ok(Err(status)) => status,
            Err(_) => bail!(late(&self.url)),
        };
        let url = &self.url;
        // Only a failed connection carries a cause of its own; a refusal carries the coordinator's words.
        match std::error::Error::source(&status) {
            Some(cause) if status.code() != Code::Ok => bail!(no_answer(url, cause)),
            _ if status.code() == Code::Unimplemented => {
                bail!("what answers at {url} is not a coordinator of this ludus")
            }
            _ if status.code() == Code::InvalidArgument => {
                Err(BadConfiguration(status.message().to_owned()).into())
            }
            _ => bail!("{}", status.message()),
        }
    }
}

async fn get(
    mut channel: InterceptedService<Channel, Bearer>,
    request: http::Request<tonic::body::Body>,
) -> Result<Page, BoxError> {
    poll_fn(|context| Service::<http::Request<tonic::body::Body>>::poll_ready(&mut channel, context)).await?;
    let (head, body) = channel.call(request).await?.into_parts();
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > LONGEST_PAGE {
            return Err("its page has no end".into());
        }
    }
    let date = head.headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
    Ok(Page {
        status: head.status.as_u16(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        date: date.and_then(|date| httpdate::parse_http_date(date).ok()),
    })
}

fn late(url: &str) -> String {
    format!("the coordinator at {url} did not answer within {} seconds", ANSWER.as_secs())
}

fn no_answer(url: &str, cause: &(dyn std::error::Error + 'static)) -> String {
    format!(
        "no coordinator answers at {url} ({}): start one with `ludus coordinator`, or check the address",
        innermost(cause)
    )
}

fn innermost<'a>(mut error: &'a (dyn std::error::Error + 'static)) -> &'a dyn std::error::Error {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error
}
