//! Tokens at a real port: who gets in, who is shown out, and what becomes of what he holds.

use ludus_players::weight_file::Digest;
use ludus_proto::Bearer;
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::admin_service_client::AdminServiceClient;
use ludus_proto::v1::trainer_service_client::TrainerServiceClient;
use ludus_proto::v1::worker_service_client::WorkerServiceClient;
use ludus_proto::v1::{
    AcquireRequest, CreateRunRequest, CreateTokenRequest, FetchWeightsRequest, JoinRequest, ListRunsRequest,
    ListTokensRequest, SubmitRequest,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;

use super::coin;
use super::desk::{CONFIG, Desk, options, series_of};
use super::server::Server;
use crate::http::View;
use crate::tokens::{Caller, TokenId};
use crate::{Coordinator, CoordinatorError, Role};

fn shown(server: &Server, secret: &str) -> InterceptedService<Channel, Bearer> {
    InterceptedService::new(server.channel.clone(), Bearer::new(secret).expect("a token"))
}

/// The status line of a page, asked for with this header.
async fn page(server: &Server, path: &str, header: &str) -> String {
    let mut connection = TcpStream::connect(server.address).await.expect("connected");
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\r\n");
    connection.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.expect("answered");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_tokens_everybody_shows_one_and_does_what_its_role_allows() {
    let server = Server::start().await;
    let token = |role: Role| server.coordinator.create_token(&role.to_string(), role).expect("made");
    let [admin, trainer, worker, read] = [Role::Admin, Role::Trainer, Role::Worker, Role::Read].map(token);
    let house = server.coordinator.house_token().to_owned();

    for (secret, may) in [
        (&admin, [true; 4]),
        (&house, [true; 4]),
        (&trainer, [false, true, false, true]),
        (&worker, [false, false, true, true]),
        (&read, [false, false, false, true]),
    ] {
        let channel = || shown(&server, secret);
        let run = CreateRunRequest { config: CONFIG.into(), name: String::new() };
        let join = JoinRequest { run: "nowhere".into(), trainer: "t".into() };
        let acquire = AcquireRequest { worker: "w".into(), ..AcquireRequest::default() };
        let asked = [
            AdminServiceClient::new(channel()).create_run(run).await.err(),
            TrainerServiceClient::new(channel()).join(join).await.err(),
            WorkerServiceClient::new(channel()).acquire(acquire).await.err(),
            AdminServiceClient::new(channel()).list_runs(ListRunsRequest {}).await.err(),
        ];
        for (at, (answer, may)) in asked.into_iter().zip(may).enumerate() {
            let denied = answer.is_some_and(|status| status.code() == Code::PermissionDenied);
            assert_eq!(denied, !may, "request {at}");
        }
    }
    let nobody = AdminServiceClient::new(server.channel.clone()).list_tokens(ListTokensRequest {}).await;
    assert_eq!(nobody.expect_err("refused").code(), Code::Unauthenticated);
    let stranger = AdminServiceClient::new(shown(&server, "ludus_0")).list_tokens(ListTokensRequest {}).await;
    assert_eq!(stranger.expect_err("refused").code(), Code::Unauthenticated);

    assert!(page(&server, "/healthz", "").await.contains("200"));
    for path in ["/", "/metrics", "/api/v1/runs", "/nothing"] {
        assert!(page(&server, path, "").await.contains("401"), "{path}");
    }
    let header = format!("Authorization: Bearer {read}\r\n");
    assert!(page(&server, "/metrics", &header).await.contains("200"));
    let overview = server.coordinator.overview().expect("an overview");
    let refused = |reason: &str| overview.refused_requests.get(reason).copied().unwrap_or_default();
    assert_eq!((refused("no-token"), refused("unknown-token")), (5, 1));
    assert_eq!(refused("wrong-role"), 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_token_closes_the_door_and_lets_the_coordinator_be_reached_from_elsewhere() {
    let server = Server::start().await;
    let open = "0.0.0.0:0".parse().expect("an address");
    assert!(matches!(server.coordinator.bind(open).await, Err(CoordinatorError::BeyondLoopback { .. })));
    let mut anyone = AdminServiceClient::new(server.channel.clone());
    let request = CreateTokenRequest { name: "owner".into(), role: "admin".into() };
    let secret = anyone.create_token(request.clone()).await.expect("made").into_inner().secret;
    assert_eq!(anyone.create_token(request.clone()).await.expect_err("closed").code(), Code::Unauthenticated);
    let mut owner = AdminServiceClient::new(shown(&server, &secret));
    assert_eq!(owner.create_token(request).await.expect_err("taken").code(), Code::AlreadyExists);
    server.coordinator.bind(open).await.expect("guarded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_download_ends_when_its_token_is_revoked() {
    let server = Server::start().await;
    let secret = server.coordinator.create_token("w", Role::Worker).expect("made");
    // More than the buffers on the way can hold.
    let bytes = vec![7; 48 << 20];
    let sha256 = Digest::of(&bytes);
    server.coordinator.shared.weights.keep(sha256, &bytes).expect("kept");
    let mut worker = WorkerServiceClient::new(shown(&server, &secret));
    let request = FetchWeightsRequest { sha256: sha256.0.to_vec() };
    let mut chunks = worker.fetch_weights(request).await.expect("begins").into_inner();
    assert!(chunks.message().await.expect("a chunk").is_some());
    server.coordinator.revoke_token("w").expect("revoked");
    let mut got = 0;
    let status = loop {
        match chunks.message().await {
            Ok(Some(chunk)) => got += chunk.data.len(),
            Ok(None) => panic!("all of it came, {got} bytes"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::PermissionDenied);
}

/// The id of a new worker's token.
fn worker(coordinator: &Coordinator, name: &str) -> Caller {
    coordinator.create_token(name, Role::Worker).expect("made");
    let state = coordinator.shared.lock().expect("locked");
    Caller::Holder(state.book().tokens.named(name).expect("there").id)
}

fn standing(coordinator: &Coordinator, caller: Caller) -> String {
    let id: TokenId = caller.token();
    coordinator.shared.lock().expect("locked").book().tokens.0[&id].standing.to_string()
}

impl Desk {
    fn submit_as(&self, caller: Caller, request: &SubmitRequest) -> ludus_proto::v1::SubmitReply {
        self.open().shared.submit(caller, request, self.now).expect("an answer")
    }
}

fn submission(lease: &ludus_proto::v1::Lease, payoff: i32) -> SubmitRequest {
    SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: super::desk::games_of(lease, |_| payoff),
        unplayable: Vec::new(),
    }
}

#[test]
fn a_lease_belongs_to_those_it_was_issued_to() {
    let mut desk = Desk::new(CONFIG);
    let (one, other) = (worker(desk.open(), "one"), worker(desk.open(), "other"));
    let lease = desk.lease_as(one);
    let reply = desk.submit_as(other, &submission(&lease, 1));
    assert_eq!((reply.accepted, reply.refused.len()), (0, lease.count as usize));
    assert!(reply.refused.iter().all(|refusal| refusal.reason == "not-your-lease"));
    let release = ludus_proto::v1::ReleaseRequest { lease_id: lease.id, token: lease.token };
    desk.open().shared.release(other, &release).expect("nothing");

    // It expires and goes to the other; both may hand it in, and it counts once.
    desk.now += 61_000;
    let again = desk.lease_as(other);
    assert_eq!(again.id, lease.id, "the release by the other did nothing, and the expiry did");
    desk.reopen();
    assert_eq!(desk.submit_as(one, &submission(&lease, 1)).accepted, lease.count);
    assert_eq!(desk.submit_as(other, &submission(&again, 1)).repeated_games, lease.count);
}

#[test]
fn a_revoked_token_hands_in_nothing_and_its_games_go_to_others_at_once() {
    let desk = Desk::new(CONFIG);
    let (one, other) = (worker(desk.open(), "one"), worker(desk.open(), "other"));
    let lease = desk.lease_as(one);
    desk.open().revoke_token("one").expect("revoked");
    let late = desk.open().shared.submit(one, &submission(&lease, 1), desk.now);
    assert!(matches!(late, Err(CoordinatorError::Unadmitted(_))), "{late:?}");
    let again = desk.lease_as(other);
    assert_eq!((again.id, again.first, again.count), (lease.id, lease.first, lease.count));
    let lifted = desk.open().lift_token("one").expect_err("for good").to_string();
    assert!(lifted.contains("create another"), "{lifted}");
    assert!(desk.open().revoke_token("nobody").expect_err("unknown").to_string().contains("one, other"));
}

#[test]
fn a_worker_that_hands_in_nonsense_is_suspended_and_can_be_let_in_again() {
    let mut desk = Desk::new(CONFIG);
    let bad = worker(desk.open(), "bad");
    let mut refused = 0;
    while standing(desk.open(), bad) == "active" {
        let lease = desk.lease_as(bad);
        let mut request = submission(&lease, 1);
        request.games.iter_mut().for_each(|game| game.digest[0] ^= 1);
        refused += desk.submit_as(bad, &request).refused.len();
        assert!(refused < 100, "it goes on and on");
    }
    assert!(refused > 20);
    let told = desk.open().shared.admit(None, crate::tokens::Need::Nothing);
    assert!(told.is_ok());
    let error = desk.open().shared.still_stands(bad).expect_err("outside").to_string();
    assert!(error.contains("wrong-digest") && error.contains("ludus token lift bad"), "{error}");
    // What it held is free.
    let lease = desk.lease_as(worker(desk.open(), "good"));
    assert_eq!(lease.first, 0);

    desk.reopen();
    assert_eq!(standing(desk.open(), bad), "suspended");
    desk.open().lift_token("bad").expect("lifted");
    let lease = desk.lease_as(bad);
    assert_eq!(desk.submit_as(bad, &submission(&lease, 1)).accepted, lease.count);
    let tokens = desk.open().tokens().expect("listed");
    assert_eq!((tokens[0].accepted, tokens[0].faults), (u64::from(lease.count), 0));
}

#[test]
fn no_secret_is_in_the_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let coordinator = Coordinator::open(options(dir.path())).expect("opens");
    let secret = coordinator.create_token("w", Role::Worker).expect("made");
    drop(coordinator);
    for file in std::fs::read_dir(dir.path()).expect("a folder") {
        let path = file.expect("an entry").path();
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("read");
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

impl Desk {
    pub(super) fn lease_as(&self, caller: Caller) -> ludus_proto::v1::Lease {
        let request = AcquireRequest {
            worker: "w".into(),
            games: vec![ludus_proto::v1::PlayableGame { name: "coin".into(), revision: 1 }],
            ..AcquireRequest::default()
        };
        match self.open().shared.acquire(caller, &request, self.now) {
            Ok(Answer::Lease(lease)) => lease,
            other => panic!("no lease: {other:?}"),
        }
    }
}

#[test]
fn a_game_that_was_never_issued_counts_against_its_token() {
    let desk = Desk::new(CONFIG);
    let one = worker(desk.open(), "one");
    let lease = desk.lease_as(one);
    let beyond = coin::game(&series_of(&lease), lease.first + u64::from(lease.count), 1, 0.0);
    let request = SubmitRequest { games: vec![beyond.clone()], ..submission(&lease, 1) };
    assert_eq!(desk.submit_as(one, &request).refused[0].reason, "outside-lease");
    let request = SubmitRequest { lease_id: 999, games: vec![beyond], ..submission(&lease, 1) };
    assert_eq!(desk.submit_as(one, &request).refused[0].reason, "unknown-lease");
    assert_eq!(desk.open().tokens().expect("listed")[0].faults, 2);
}
