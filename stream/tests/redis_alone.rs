//! What only a Redis does: it trims, restarts, loses entries, refuses, or is not there.

use std::sync::Arc;
use std::time::Duration;

use ludus_stream::{Depths, EntryId, GameStream, RedisStream, StreamError, StreamHome};

#[path = "support/redis_server.rs"]
mod redis_server;

use redis_server::RedisServer;

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(60);

/// A connection beside the stream's, as an administrator has it.
async fn by_hand(server: &RedisServer) -> redis::aio::MultiplexedConnection {
    redis::Client::open(server.url()).unwrap().get_multiplexed_async_connection().await.unwrap()
}

async fn length(server: &RedisServer, key: &str) -> u64 {
    redis::cmd("XLEN").arg(key).query_async(&mut by_hand(server).await).await.unwrap()
}

fn payloads(count: u8) -> Vec<Vec<u8>> {
    (0..count).map(|number| vec![number]).collect()
}

async fn failure(url: &str) -> StreamError {
    RedisStream::open(url, "run").await.err().expect("it cannot be opened")
}

#[tokio::test]
async fn acknowledged_entries_leave_redis_and_those_above_a_waiting_one_stay() {
    let server = RedisServer::start();
    let stream = RedisStream::open(&server.url(), "run").await.unwrap();
    stream.append(payloads(10)).await.unwrap();
    let entries = stream.read("trainer", 6, LONG).await.unwrap();
    let id = |index: usize| entries[index].id.clone();
    stream.acknowledge(&[id(2), id(3)]).await.unwrap();
    assert_eq!(length(&server, "games:{run}").await, 10, "entry 0 still waits below them");
    stream.acknowledge(&[id(0), id(1)]).await.unwrap();
    assert_eq!(length(&server, "games:{run}").await, 6);
    stream.acknowledge(&[id(4), id(5)]).await.unwrap();
    assert_eq!(length(&server, "games:{run}").await, 4, "what nobody has read stays");
    assert_eq!(stream.depths().await.unwrap().waiting, 4);
}

#[tokio::test]
async fn dead_letters_keep_payload_and_reason() {
    let server = RedisServer::start();
    let stream = RedisStream::open(&server.url(), "run").await.unwrap();
    stream.append(vec![b"bad".to_vec()]).await.unwrap();
    let entry = stream.read("trainer", 1, LONG).await.unwrap().remove(0);
    stream.bury(&entry, "not a game").await.unwrap();
    let letters: redis::streams::StreamRangeReply = redis::cmd("XRANGE")
        .arg("dead:{run}")
        .arg("-")
        .arg("+")
        .query_async(&mut by_hand(&server).await)
        .await
        .unwrap();
    assert_eq!(letters.ids.len(), 1);
    assert_eq!(letters.ids[0].get::<String>("p").as_deref(), Some("bad"));
    assert_eq!(letters.ids[0].get::<String>("reason").as_deref(), Some("not a game"));
    assert_eq!(letters.ids[0].get::<String>("entry"), Some(entry.id.0));
}

#[tokio::test]
async fn a_restart_of_redis_loses_nothing_and_is_waited_for() {
    let mut server = RedisServer::start();
    let stream = Arc::new(RedisStream::open(&server.url(), "run").await.unwrap());
    stream.append(payloads(6)).await.unwrap();
    let before = stream.read("trainer", 4, LONG).await.unwrap();
    stream.acknowledge(&[before[0].id.clone()]).await.unwrap();

    server.kill();
    // While Redis is away the stream is read and written to.
    let reader = Arc::clone(&stream);
    let reading = tokio::spawn(async move {
        let mut seen = Vec::new();
        while seen.len() < 4 {
            seen.extend(reader.read("trainer", 10, LONG).await.unwrap());
        }
        seen
    });
    let writer = Arc::clone(&stream);
    let writing = tokio::spawn(async move { writer.append(vec![vec![6], vec![7]]).await });
    tokio::time::sleep(SHORT).await;
    server.restart();
    writing.await.unwrap().unwrap();
    let seen = reading.await.unwrap();
    let contents: Vec<_> = seen.iter().map(|entry| entry.payload[0]).collect();
    assert_eq!(contents, [4, 5, 6, 7], "what the consumer holds is not read again, the rest is");

    let depths = stream.depths().await.unwrap();
    assert_eq!(depths, Depths { waiting: 7, pending: 7, buried: 0, lost: 0 });
    let all: Vec<EntryId> = before.iter().chain(&seen).map(|entry| entry.id.clone()).collect();
    stream.acknowledge(&all).await.unwrap();
    assert_eq!(stream.depths().await.unwrap(), Depths::default());
}

#[tokio::test]
async fn a_read_that_waits_survives_a_restart() {
    let mut server = RedisServer::start();
    let stream = Arc::new(RedisStream::open(&server.url(), "run").await.unwrap());
    let reader = Arc::clone(&stream);
    let reading = tokio::spawn(async move { reader.read("trainer", 10, LONG).await });
    tokio::time::sleep(SHORT).await;
    server.restart();
    stream.append(payloads(1)).await.unwrap();
    let entries = reading.await.unwrap().unwrap();
    assert_eq!(entries.len(), 1);
}

#[tokio::test]
async fn entries_that_vanish_are_counted_as_lost() {
    let server = RedisServer::start();
    let stream = RedisStream::open(&server.url(), "run").await.unwrap();
    stream.append(payloads(6)).await.unwrap();
    let mut entries = stream.read("mine", 3, LONG).await.unwrap();
    entries.extend(stream.read("dead", 3, LONG).await.unwrap());
    drop(stream);
    for gone in [1, 4] {
        let mut connection = by_hand(&server).await;
        let () = redis::cmd("XDEL")
            .arg("games:{run}")
            .arg(&entries[gone].id.0)
            .query_async(&mut connection)
            .await
            .unwrap();
    }
    let stream = RedisStream::open(&server.url(), "run").await.unwrap().with_claim_after(Duration::ZERO);
    let mut seen = Vec::new();
    while seen.len() < 4 {
        seen.extend(stream.read("mine", 10, LONG).await.unwrap());
    }
    let contents: Vec<_> = seen.iter().map(|entry| entry.payload[0]).collect();
    assert_eq!(contents, [0, 2, 3, 5], "one was lost among its own, one among the dead consumer's");
    assert_eq!(stream.depths().await.unwrap(), Depths { waiting: 4, pending: 4, buried: 0, lost: 2 });
}

#[tokio::test]
async fn a_stream_that_was_deleted_is_made_again() {
    let server = RedisServer::start();
    let stream = RedisStream::open(&server.url(), "run").await.unwrap();
    stream.append(payloads(3)).await.unwrap();
    stream.read("trainer", 3, LONG).await.unwrap();
    let mut connection = by_hand(&server).await;
    let () = redis::cmd("FLUSHALL").query_async(&mut connection).await.unwrap();
    assert_eq!(stream.depths().await.unwrap(), Depths::default());
    let () = redis::cmd("FLUSHALL").query_async(&mut connection).await.unwrap();
    assert_eq!(stream.read("trainer", 3, SHORT).await.unwrap(), []);
    stream.append(payloads(1)).await.unwrap();
    assert_eq!(stream.read("trainer", 3, LONG).await.unwrap().len(), 1);
}

#[tokio::test]
async fn entries_from_before_the_group_count() {
    let server = RedisServer::start();
    let mut connection = by_hand(&server).await;
    let () = redis::cmd("XADD")
        .arg("games:{run}")
        .arg("*")
        .arg("p")
        .arg("x")
        .query_async(&mut connection)
        .await
        .unwrap();
    let stream = RedisStream::open(&server.url(), "run").await.unwrap();
    assert_eq!(stream.depths().await.unwrap().waiting, 1);
    assert_eq!(stream.read("trainer", 3, LONG).await.unwrap()[0].payload, b"x");
}

#[tokio::test]
async fn a_redis_that_is_not_there_is_named_without_the_password() {
    let mut server = RedisServer::start();
    server.kill();
    let error = failure(&server.url().replace("//", "//ludus:secret@")).await;
    let text = error.to_string();
    assert!(matches!(error, StreamError::Unreachable { .. }), "{text}");
    assert!(text.starts_with(&format!("Redis at {} does not answer", server.url())), "{text}");
    assert!(text.contains("start it") && !text.contains("secret") && !text.contains('\n'), "{text}");
}

#[tokio::test]
async fn what_is_no_redis_address_is_refused_without_showing_the_password() {
    for url in ["http://:secret@127.0.0.1:6379", "127.0.0.1:6379", "redis://:secret@host:port", ""] {
        let error = failure(url).await;
        let text = error.to_string();
        assert!(matches!(error, StreamError::Address { .. }), "{url}: {text}");
        assert!(text.contains("redis://HOST:PORT") && !text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn a_wrong_password_says_so_at_once() {
    let server = RedisServer::start();
    let mut connection = by_hand(&server).await;
    let () = redis::cmd("CONFIG")
        .arg("SET")
        .arg("requirepass")
        .arg("right")
        .query_async(&mut connection)
        .await
        .unwrap();
    for url in [server.url(), server.url().replace("//", "//:wrong@")] {
        let error = failure(&url).await;
        let text = error.to_string();
        assert!(matches!(error, StreamError::Refused { .. }), "{text}");
        assert!(text.contains("password") && !text.contains("wrong@"), "{text}");
    }
    let url = server.url().replace("//", "//:right@");
    RedisStream::open(&url, "run").await.unwrap().append(payloads(1)).await.unwrap();
}

#[test]
fn a_home_shows_no_password() {
    let home = StreamHome::Redis { url: "redis://ludus:secret@example.org:6379/1".into() };
    assert_eq!(home.to_string(), "redis://example.org:6379/1");
    assert!(!format!("{home:?}").contains("secret"));
}
