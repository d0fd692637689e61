//! Weights: fetched by hash, verified, kept.

mod support;

use ludus_players::weight_file::{Card, Digest, Shape, WeightFile};
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{Lease, PlayerRef};
use support::{Fake, Script, ScriptedGame, lease, options, start};

fn weights(seed: u64) -> Vec<u8> {
    let shape = Shape { class: "only".into(), inputs: 30, hidden: 20, outputs: 1 };
    let card = Card {
        game: support::GAME.into(),
        revision: support::REVISION,
        inputs: "none".into(),
        ..Default::default()
    };
    WeightFile::fresh(card, &[shape], seed).unwrap().to_bytes().unwrap()
}

fn lease_with(id: u64, bytes: &[u8]) -> Lease {
    let player = PlayerRef { who: Some(Who::Weights(Digest::of(bytes).0.to_vec())), plies: 0 };
    Lease { players: vec![player.clone(), player], ..lease(id, id * 10, 10) }
}

fn plain() -> ScriptedGame {
    ScriptedGame::playing(|_| Ok(()))
}

#[tokio::test]
async fn weights_are_fetched_once_and_only_those_that_a_lease_names() {
    let (one, other) = (weights(1), weights(2));
    let fake = Fake::new(Script {
        leases: [lease_with(0, &one), lease_with(1, &one)].into(),
        weights: [&one, &other].map(|bytes| (Digest::of(bytes).0.to_vec(), bytes.clone())).into(),
        ..Default::default()
    });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    fake.until("both leases are in", |script| script.numbers().len() >= 20).await;
    worker.stop().await.unwrap();
    assert_eq!(fake.with(|script| script.fetches), 1);
}

#[tokio::test]
async fn weights_that_are_not_what_was_asked_for_are_never_played() {
    let (one, other) = (weights(1), weights(2));
    let name = Digest::of(&one).0.to_vec();
    let fake = Fake::new(Script {
        leases: [lease_with(0, &one)].into(),
        weights: [(name.clone(), other)].into(),
        ..Default::default()
    });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    fake.until("the lease is given back", |script| script.releases.len() == 1).await;
    assert!(worker.stats.progress().waiting.unwrap().contains("damaged"));

    fake.with(|script| {
        script.weights.insert(name, one.clone());
        script.leases.push_back(lease_with(0, &one));
    });
    fake.until("it is played with the right weights", |script| script.numbers().len() >= 10).await;
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn a_folder_keeps_weights_between_starts_and_damage_there_is_mended() {
    let bytes = weights(1);
    let digest = Digest::of(&bytes);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join(format!("{digest}.safetensors"));
    let fake =
        Fake::new(Script { weights: [(digest.0.to_vec(), bytes.clone())].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    // Fetched; found in the folder; fetched again because the file was cut short.
    for (id, fetches) in [(0, 1), (1, 1), (2, 2)] {
        if id == 2 {
            std::fs::write(&kept, &bytes[..100]).unwrap();
        }
        fake.with(|script| script.leases.push_back(lease_with(id, &bytes)));
        let mut options = options(&served.url(), plain());
        options.cache = Some(folder.path().into());
        let worker = start(options);
        fake.until("the lease is in", |script| script.numbers().len() as u64 >= 10 * (id + 1)).await;
        worker.stop().await.unwrap();
        assert_eq!(fake.with(|script| script.fetches), fetches);
        assert_eq!(std::fs::read(&kept).unwrap(), bytes);
    }
}
