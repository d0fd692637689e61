//! Over a port, as workers, trainers and people come.

use std::time::Duration;

use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::admin_service_client::AdminServiceClient;
use ludus_proto::v1::trainer_service_client::TrainerServiceClient;
use ludus_proto::v1::worker_service_client::WorkerServiceClient;
use ludus_proto::v1::{
    AcquireRequest, CreateRunRequest, FetchWeightsRequest, JoinRequest, Lease, ListRunsRequest,
    ListVersionsRequest, PlayableGame, Progress, PublishRequest, ReleaseRequest, ReportRequest, SeriesKind,
    ShowRunRequest, StopRunRequest, SubmitRequest,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::Code;
use tonic::transport::Channel;

use super::coin;
use super::desk::{CONFIG, drain_stream, games_of, kind_of, options};
use crate::{Coordinator, CoordinatorError};

pub(super) struct Server {
    pub dir: tempfile::TempDir,
    pub address: std::net::SocketAddr,
    pub coordinator: Coordinator,
    stop: CancellationToken,
    task: JoinHandle<Result<(), CoordinatorError>>,
    pub channel: Channel,
}

impl Server {
    pub async fn start() -> Server {
        let dir = tempfile::tempdir().expect("a folder");
        let coordinator = Coordinator::open(options(dir.path())).expect("opens");
        let listener = coordinator.bind("127.0.0.1:0".parse().expect("an address")).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        let task = tokio::spawn({
            let (stop, coordinator) = (stop.clone(), coordinator.clone());
            async move { coordinator.serve(listener, stop).await }
        });
        let endpoint = Channel::from_shared(format!("http://{address}")).expect("an address");
        let channel = endpoint.connect().await.expect("connected");
        Server { dir, address, coordinator, stop, task, channel }
    }

    async fn acquire(&self) -> Answer {
        let request = AcquireRequest {
            worker: "w".into(),
            games: vec![PlayableGame { name: "coin".into(), revision: 1 }],
            ..AcquireRequest::default()
        };
        let reply = WorkerServiceClient::new(self.channel.clone()).acquire(request).await.expect("an answer");
        reply.into_inner().answer.expect("an answer")
    }

    async fn lease(&self) -> Lease {
        match self.acquire().await {
            Answer::Lease(lease) => lease,
            Answer::Wait(wait) => panic!("{}", wait.reason),
        }
    }

    async fn get(&self, path: &str) -> String {
        let mut connection = TcpStream::connect(self.address).await.expect("connected");
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.expect("answered");
        answer
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_flow_from_leases_to_the_stream_and_versions_to_the_throne() {
    let server = Server::start().await;
    let mut admin = AdminServiceClient::new(server.channel.clone());
    let mut trainer = TrainerServiceClient::new(server.channel.clone());
    let mut worker = WorkerServiceClient::new(server.channel.clone());
    assert!(matches!(server.acquire().await, Answer::Wait(wait) if wait.reason == "no run is active"));
    let request = CreateRunRequest { config: CONFIG.into(), name: String::new() };
    let run = admin.create_run(request).await.expect("created").into_inner().run;

    // A trainer comes and publishes what it starts from.
    let request = JoinRequest { run: String::new(), trainer: "t".into() };
    let joined = trainer.join(request).await.expect("joined").into_inner();
    assert_eq!((&joined.run, joined.latest_version, joined.revision), (&run, 0, 1));
    ludus_config::RunConfig::parse(&joined.config).expect("the whole configuration");
    let publish = |version, games| {
        let mut weights = coin::weights(&run, version, version, 0);
        // Weights that come from nowhere and have learnt nothing would not be played with.
        weights.card.parent = "ab".repeat(32);
        PublishRequest {
            run: run.clone(),
            fence: joined.fence,
            weights: weights.to_bytes().expect("bytes"),
            progress: Some(Progress { games, ..Progress::default() }),
        }
    };
    assert_eq!(trainer.publish(publish(1, 0)).await.expect("published").into_inner().version, 1);

    // A worker fetches it and plays.
    let lease = server.lease().await;
    let Some(ludus_proto::v1::player_ref::Who::Weights(sha256)) = lease.players[0].who.clone() else {
        panic!()
    };
    let mut chunks =
        worker.fetch_weights(FetchWeightsRequest { sha256 }).await.expect("fetched").into_inner();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.message().await.expect("a chunk") {
        bytes.extend(chunk.data);
    }
    assert_eq!(bytes, publish(1, 0).weights);
    let submit = |lease: &Lease, payoff| SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: games_of(lease, |_| payoff),
        unplayable: Vec::new(),
    };
    let reply = worker.submit(submit(&lease, 1)).await.expect("submitted").into_inner();
    assert_eq!((reply.accepted, reply.repeated_games), (lease.count, 0));
    let reply = worker.submit(submit(&lease, 1)).await.expect("submitted again").into_inner();
    assert_eq!((reply.accepted, reply.repeated_games), (0, lease.count));

    // The trainer finds the games in the stream, each once.
    let mut numbers = Vec::new();
    while numbers.len() < lease.count as usize {
        let batches = drain_stream(server.dir.path(), &joined.stream).await;
        numbers.extend(batches.iter().flat_map(|batch| batch.games.iter().map(|game| game.number)));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(numbers, (lease.first..lease.first + u64::from(lease.count)).collect::<Vec<_>>());
    let trained = Some(Progress { games: numbers.len() as u64, ..Progress::default() });
    let request =
        ReportRequest { run: run.clone(), fence: joined.fence, progress: trained, ..Default::default() };
    let reply = trainer.report(request).await.expect("reported").into_inner();
    assert_eq!((reply.run_stopped, reply.accepted), (false, numbers.len() as u64));

    // It publishes what it has learnt, and the gate lets it through.
    assert_eq!(trainer.publish(publish(2, 8)).await.expect("published").into_inner().version, 2);
    let champion = loop {
        let lease = server.lease().await;
        worker.submit(submit(&lease, 1)).await.expect("submitted");
        let status = admin.show_run(ShowRunRequest { run: run.clone() }).await.expect("shown").into_inner();
        if status.gate.is_none() {
            break status.champion;
        }
    };
    assert_eq!(champion, 2);
    let versions =
        admin.list_versions(ListVersionsRequest { run: String::new() }).await.expect("listed").into_inner();
    let states: Vec<_> = versions.versions.iter().map(|version| &version.state[..]).collect();
    assert_eq!((versions.run == run, states), (true, vec!["published", "promoted"]));

    // People look at it on the same port.
    assert!(server.get("/healthz").await.starts_with("HTTP/1.1 200"));
    assert!(server.get(&format!("/api/v1/runs/{run}")).await.contains("\"champion\""));
    assert!(server.get("/metrics").await.starts_with("HTTP/1.1 200"));
    assert!(server.get("/nothing").await.starts_with("HTTP/1.1 404"));

    admin.stop_run(StopRunRequest { run }).await.expect("stopped");
    let runs = admin.list_runs(ListRunsRequest {}).await.expect("listed").into_inner().runs;
    assert!(runs.len() == 1 && runs[0].state == "stopped");
    server.stop.cancel();
    server.task.await.expect("ended").expect("well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_come_with_a_code_that_programs_understand_and_a_line_for_people() {
    let server = Server::start().await;
    let mut admin = AdminServiceClient::new(server.channel.clone());
    let mut trainer = TrainerServiceClient::new(server.channel.clone());
    let mut worker = WorkerServiceClient::new(server.channel.clone());

    let status = admin.show_run(ShowRunRequest { run: "x".into() }).await.expect_err("none");
    assert_eq!(
        (status.code(), status.message()),
        (Code::NotFound, "there is no run x; the runs are: none yet")
    );
    let status = trainer.join(JoinRequest::default()).await.expect_err("none");
    assert_eq!(status.code(), Code::FailedPrecondition);
    let request = CreateRunRequest { config: "game = 1".into(), name: String::new() };
    let status = admin.create_run(request).await.expect_err("refused");
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("line 1"), "{}", status.message());

    admin.create_run(CreateRunRequest { config: CONFIG.into(), name: "r".into() }).await.expect("created");
    for _ in 0..2 {
        trainer.join(JoinRequest::default()).await.expect("joined");
    }
    admin.create_run(CreateRunRequest { config: CONFIG.into(), name: "s".into() }).await.expect("created");
    let status = trainer.join(JoinRequest::default()).await.expect_err("which?");
    // Nothing that waiting would help against.
    assert_eq!(
        (status.code(), status.message()),
        (Code::InvalidArgument, "no run is named and several are active: name one of r, s")
    );
    let request = ReportRequest { run: "r".into(), fence: 1, ..Default::default() };
    let status = trainer.report(request).await.expect_err("stale");
    assert_eq!(status.code(), Code::FailedPrecondition);
    let request = PublishRequest { run: "r".into(), fence: 2, weights: b"none".to_vec(), progress: None };
    assert_eq!(trainer.publish(request).await.expect_err("refused").code(), Code::InvalidArgument);

    let request = AcquireRequest {
        worker: "w".into(),
        games: vec![PlayableGame { name: "coin".into(), revision: 9 }],
        ..AcquireRequest::default()
    };
    assert_eq!(worker.acquire(request).await.expect_err("refused").code(), Code::FailedPrecondition);
    assert_eq!(
        worker.acquire(AcquireRequest::default()).await.expect_err("nameless").code(),
        Code::InvalidArgument
    );
    let request = FetchWeightsRequest { sha256: vec![7; 32] };
    assert_eq!(worker.fetch_weights(request).await.expect_err("none").code(), Code::NotFound);
    let request = FetchWeightsRequest { sha256: vec![7; 31] };
    assert_eq!(worker.fetch_weights(request).await.expect_err("short").code(), Code::InvalidArgument);
    worker.release(ReleaseRequest { lease_id: 77, token: 1 }).await.expect("nothing to do");

    // A message beyond all bounds is refused before it is read.
    let request = SubmitRequest { worker: "x".repeat(17 << 20), ..SubmitRequest::default() };
    assert_eq!(worker.submit(request).await.expect_err("too long").code(), Code::OutOfRange);
}

#[tokio::test]
async fn a_port_in_use_and_an_open_door_are_refused_with_the_way_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let coordinator = Coordinator::open(options(dir.path())).expect("opens");
    let taken = coordinator.bind("127.0.0.1:0".parse().expect("an address")).await.expect("a port");
    let address = taken.local_addr().expect("an address");
    let error = coordinator.bind(address).await.expect_err("in use").to_string();
    assert!(error.contains(&format!("port {}", address.port())) && error.contains("--listen"), "{error}");

    let open = "0.0.0.0:0".parse().expect("an address");
    let error = coordinator.bind(open).await.expect_err("refused").to_string();
    assert!(error.contains("--insecure"), "{error}");
    let listener = tokio::net::TcpListener::bind(open).await.expect("a port");
    let refused = coordinator.serve(listener, CancellationToken::new()).await;
    assert!(matches!(refused, Err(CoordinatorError::BeyondLoopback { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_ends_with_clients_connected_and_frees_the_folder() {
    let server = Server::start().await;
    let mut idle = TcpStream::connect(server.address).await.expect("connected");
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.expect("answered");
    server.stop.cancel();
    server.task.await.expect("ended").expect("well");
    drop((idle, server.channel, server.coordinator));
    let dir = server.dir.path().to_owned();
    // Tasks of closed connections may hold on for a moment.
    let mut tries = 0;
    while let Err(error) = Coordinator::open(options(&dir)) {
        tries += 1;
        assert!(tries < 1000, "{error}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_not_there_is_found_out_at_the_start() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut options = options(dir.path());
    // Nothing listens on a port that was just given back.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    options.stream = ludus_stream::StreamHome::Redis { url: format!("redis://127.0.0.1:{port}") };
    let coordinator = Coordinator::open(options).expect("opens");
    let listener = coordinator.bind("127.0.0.1:0".parse().expect("an address")).await.expect("a port");
    let refused = coordinator.serve(listener, CancellationToken::new()).await;
    assert!(matches!(refused, Err(CoordinatorError::Stream(_))), "{refused:?}");
}

/// Keeps `kind_of` honest over the wire.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_says_what_its_series_is_for() {
    let server = Server::start().await;
    let mut admin = AdminServiceClient::new(server.channel.clone());
    let mut trainer = TrainerServiceClient::new(server.channel.clone());
    admin.create_run(CreateRunRequest { config: CONFIG.into(), name: "r".into() }).await.expect("created");
    let fence = trainer.join(JoinRequest::default()).await.expect("joined").into_inner().fence;
    for (version, games) in [(1, 0), (2, 10)] {
        let weights = coin::weights("r", version, version, 0).to_bytes().expect("bytes");
        let progress = Some(Progress { games, ..Progress::default() });
        trainer
            .publish(PublishRequest { run: "r".into(), fence, weights, progress })
            .await
            .expect("published");
    }
    let mut kinds = Vec::new();
    for _ in 0..4 {
        kinds.push(kind_of(&server.lease().await));
    }
    for kind in [SeriesKind::SelfPlay, SeriesKind::Gate] {
        assert_eq!(kinds.iter().filter(|&&found| found == kind).count(), 2);
    }
}
