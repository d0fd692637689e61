//! What every stream promises, checked against all of them: Redis (a real server, started here) and the local file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludus_stream::{Depths, Entry, EntryId, GameStream, LocalStream, RedisStream, StreamHome};

#[path = "support/redis_server.rs"]
mod redis_server;

use redis_server::RedisServer;

/// Long enough that a test which has to wait for an entry gets it on a busy machine.
const LONG: Duration = Duration::from_secs(30);
/// For reads that shall find nothing.
const SHORT: Duration = Duration::from_millis(60);

/// A place for streams that lasts as long as a test.
struct Place {
    home: StreamHome,
    _server: Option<RedisServer>,
    _folder: tempfile::TempDir,
}

impl Place {
    fn redis() -> Self {
        let server = RedisServer::start();
        let home = StreamHome::Redis { url: server.url() };
        Place { home, _server: Some(server), _folder: tempfile::tempdir().unwrap() }
    }

    fn local() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = StreamHome::Local { folder: folder.path().join("data") };
        Place { home, _server: None, _folder: folder }
    }

    async fn open(&self) -> Arc<dyn GameStream> {
        self.home.open("run").await.unwrap()
    }

    /// A stream that takes every other consumer for dead.
    async fn open_greedy(&self) -> Arc<dyn GameStream> {
        match &self.home {
            StreamHome::Redis { url } => {
                Arc::new(RedisStream::open(url, "run").await.unwrap().with_claim_after(Duration::ZERO))
            }
            StreamHome::Local { folder } => {
                Arc::new(LocalStream::open(folder, "run").await.unwrap().with_claim_after(Duration::ZERO))
            }
        }
    }
}

/// Runs each of the functions below against each kind of stream.
macro_rules! promises {
    ($($promise:ident),* $(,)?) => {
        mod redis {
            $(#[tokio::test] async fn $promise() { super::$promise(super::Place::redis()).await })*
        }
        mod local {
            $(#[tokio::test] async fn $promise() { super::$promise(super::Place::local()).await })*
        }
    };
}

promises! {
    entries_come_in_the_order_of_appending,
    an_empty_stream_is_waited_for_and_then_empty,
    a_waiting_reader_gets_what_is_appended_meanwhile,
    what_was_not_acknowledged_comes_again_after_reopening,
    what_was_acknowledged_never_comes_again,
    ids_the_stream_does_not_know_are_ignored,
    a_dead_consumers_entries_go_to_the_next,
    a_living_consumers_entries_stay_its_own,
    an_open_stream_returns_nothing_twice,
    a_buried_entry_is_counted_and_never_comes_again,
    depths_count_waiting_pending_and_buried,
    large_empty_and_binary_payloads_come_back_as_they_were,
    thousands_of_entries_all_come_once,
    a_read_that_nobody_waits_for_any_more_loses_nothing,
    runs_do_not_see_each_other,
    a_second_handle_sees_the_same_stream,
    a_name_that_needs_quoting_is_refused,
}

fn payload(number: usize) -> Vec<u8> {
    format!("payload {number}").into_bytes()
}

fn payloads(numbers: std::ops::Range<usize>) -> Vec<Vec<u8>> {
    numbers.map(payload).collect()
}

fn contents(entries: &[Entry]) -> Vec<Vec<u8>> {
    entries.iter().map(|entry| entry.payload.clone()).collect()
}

fn ids(entries: &[Entry]) -> Vec<EntryId> {
    entries.iter().map(|entry| entry.id.clone()).collect()
}

/// Reads until `count` entries are there.
async fn read_all(stream: &dyn GameStream, consumer: &str, count: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    while entries.len() < count {
        let more = stream.read(consumer, count - entries.len(), LONG).await.unwrap();
        assert!(!more.is_empty(), "only {} of {count} entries came", entries.len());
        entries.extend(more);
    }
    entries
}

async fn entries_come_in_the_order_of_appending(place: Place) {
    let stream = place.open().await;
    stream.append(payloads(0..70)).await.unwrap();
    stream.append(payloads(70..100)).await.unwrap();
    let entries = read_all(&*stream, "trainer", 100).await;
    assert_eq!(contents(&entries), payloads(0..100));
    assert!(entries.iter().all(|entry| entry.deliveries == 1));
}

async fn an_empty_stream_is_waited_for_and_then_empty(place: Place) {
    let stream = place.open().await;
    let before = Instant::now();
    assert_eq!(stream.read("trainer", 10, SHORT).await.unwrap(), []);
    assert!(before.elapsed() >= SHORT);
    assert_eq!(stream.read("trainer", 10, Duration::ZERO).await.unwrap(), []);
    stream.append(payloads(0..1)).await.unwrap();
    // Without patience, what is there is still found.
    assert_eq!(contents(&stream.read("trainer", 10, Duration::ZERO).await.unwrap()), payloads(0..1));
}

async fn a_waiting_reader_gets_what_is_appended_meanwhile(place: Place) {
    let stream = place.open().await;
    let reader = Arc::clone(&stream);
    let reading = tokio::spawn(async move { read_all(&*reader, "trainer", 60).await });
    for number in 0..20 {
        stream.append(payloads(number * 3..number * 3 + 3)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    assert_eq!(contents(&reading.await.unwrap()), payloads(0..60));
}

async fn what_was_not_acknowledged_comes_again_after_reopening(place: Place) {
    let stream = place.open().await;
    stream.append(payloads(0..10)).await.unwrap();
    let entries = read_all(&*stream, "trainer", 6).await;
    stream.acknowledge(&ids(&entries[..2])).await.unwrap();
    drop(stream);

    let stream = place.open().await;
    let again = read_all(&*stream, "trainer", 4).await;
    assert_eq!(contents(&again), payloads(2..6), "its own pending entries come first");
    assert!(again.iter().all(|entry| entry.deliveries == 2));
    assert_eq!(ids(&again), ids(&entries[2..]));
    let new = read_all(&*stream, "trainer", 4).await;
    assert_eq!(contents(&new), payloads(6..10), "and then the new ones");
    drop(stream);

    // In small portions, too.
    let stream = place.open().await;
    let mut again = Vec::new();
    for _ in 0..4 {
        again.extend(stream.read("trainer", 2, LONG).await.unwrap());
    }
    assert_eq!(contents(&again), payloads(2..10));
    assert_eq!(again[0].deliveries, 3);
    assert_eq!(again[7].deliveries, 2);
}

async fn what_was_acknowledged_never_comes_again(place: Place) {
    let stream = place.open().await;
    stream.append(payloads(0..5)).await.unwrap();
    let entries = read_all(&*stream, "trainer", 5).await;
    stream.acknowledge(&ids(&entries)).await.unwrap();
    stream.acknowledge(&ids(&entries)).await.unwrap();
    drop(stream);
    let stream = place.open().await;
    assert_eq!(stream.read("trainer", 10, SHORT).await.unwrap(), []);
    assert_eq!(place.open_greedy().await.read("another", 10, SHORT).await.unwrap(), []);
    assert_eq!(stream.depths().await.unwrap(), Depths::default());
    // Numbers of forgotten entries are not given again.
    stream.append(payloads(5..6)).await.unwrap();
    let new = read_all(&*stream, "trainer", 1).await;
    assert!(!ids(&entries).contains(&new[0].id));
}

async fn ids_the_stream_does_not_know_are_ignored(place: Place) {
    let stream = place.open().await;
    stream.append(payloads(0..1)).await.unwrap();
    stream.acknowledge(&[EntryId("5-0".into()), EntryId("1".into())]).await.unwrap();
    stream.acknowledge(&[]).await.unwrap();
    assert_eq!(stream.depths().await.unwrap().waiting, 1, "what was never delivered cannot be acknowledged");
}

async fn a_dead_consumers_entries_go_to_the_next(place: Place) {
    let stream = place.open().await;
    stream.append(payloads(0..250)).await.unwrap();
    let left = read_all(&*stream, "dead", 200).await;
    drop(stream);

    let stream = place.open_greedy().await;
    let mut claimed = Vec::new();
    while claimed.len() < 200 {
        claimed.extend(stream.read("heir", 64, LONG).await.unwrap());
    }
    assert_eq!(contents(&claimed), payloads(0..200), "claimed entries come before new ones, in order");
    assert_eq!(ids(&claimed), ids(&left));
    assert!(claimed.iter().all(|entry| entry.deliveries == 2));
    assert_eq!(contents(&read_all(&*stream, "heir", 50).await), payloads(200..250));
    stream.acknowledge(&ids(&claimed)).await.unwrap();
    drop(stream);
    // They belong to the heir now: the dead consumer, come back, has nothing.
    let stream = place.open().await;
    assert_eq!(stream.read("dead", 10, SHORT).await.unwrap(), []);
}

async fn a_living_consumers_entries_stay_its_own(place: Place) {
    let stream = place.open().await;
    stream.append(payloads(0..5)).await.unwrap();
    read_all(&*stream, "first", 3).await;
    let entries = place.open().await.read("second", 10, LONG).await.unwrap();
    assert_eq!(contents(&entries), payloads(3..5));
}

async fn an_open_stream_returns_nothing_twice(place: Place) {
    // The greedy stream looks for dead consumers all the time, but is not one itself.
    let stream = place.open_greedy().await;
    stream.append(payloads(0..4)).await.unwrap();
    read_all(&*stream, "trainer", 4).await;
    for _ in 0..3 {
        assert_eq!(stream.read("trainer", 10, SHORT * 2).await.unwrap(), []);
    }
    assert_eq!(stream.depths().await.unwrap().pending, 4);
}

async fn a_buried_entry_is_counted_and_never_comes_again(place: Place) {
    let stream = place.open().await;
    stream.append(payloads(0..3)).await.unwrap();
    let entries = read_all(&*stream, "trainer", 3).await;
    stream.bury(&entries[1], "not a game").await.unwrap();
    assert_eq!(stream.depths().await.unwrap(), Depths { waiting: 2, pending: 2, buried: 1, lost: 0 });
    drop(stream);
    let stream = place.open().await;
    let again = read_all(&*stream, "trainer", 2).await;
    assert_eq!(contents(&again), [payload(0), payload(2)]);
    stream.acknowledge(&ids(&again)).await.unwrap();
    assert_eq!(stream.depths().await.unwrap(), Depths { buried: 1, ..Depths::default() });
}

async fn depths_count_waiting_pending_and_buried(place: Place) {
    let stream = place.open().await;
    let depths = async || {
        let depths = stream.depths().await.unwrap();
        (depths.waiting, depths.pending)
    };
    assert_eq!(depths().await, (0, 0));
    stream.append(payloads(0..10)).await.unwrap();
    assert_eq!(depths().await, (10, 0));
    let first = read_all(&*stream, "trainer", 4).await;
    assert_eq!(depths().await, (10, 4));
    // Out of order: the younger ones first.
    stream.acknowledge(&ids(&first[2..])).await.unwrap();
    assert_eq!(depths().await, (8, 2));
    stream.acknowledge(&ids(&first[..2])).await.unwrap();
    assert_eq!(depths().await, (6, 0));
    let second = read_all(&*stream, "trainer", 6).await;
    stream.acknowledge(&ids(&second)).await.unwrap();
    assert_eq!(depths().await, (0, 0));
    stream.append(payloads(10..13)).await.unwrap();
    assert_eq!(depths().await, (3, 0));
    assert_eq!(contents(&read_all(&*stream, "trainer", 3).await), payloads(10..13));
    assert_eq!(depths().await, (3, 3));
}

async fn large_empty_and_binary_payloads_come_back_as_they_were(place: Place) {
    let stream = place.open().await;
    let large: Vec<u8> = (0..8192u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let every_byte: Vec<u8> = (0..=255).collect();
    let sent = vec![large, Vec::new(), every_byte, b"\r\n$5\r\n".to_vec(), vec![0; 200_000]];
    stream.append(sent.clone()).await.unwrap();
    stream.append(Vec::new()).await.unwrap();
    assert_eq!(contents(&read_all(&*stream, "trainer", sent.len()).await), sent);
    drop(stream);
    let stream = place.open().await;
    assert_eq!(contents(&read_all(&*stream, "trainer", sent.len()).await), sent);
}

async fn thousands_of_entries_all_come_once(place: Place) {
    let stream = place.open().await;
    let count = 5_000;
    let writer = Arc::clone(&stream);
    let writing = tokio::spawn(async move {
        for start in (0..count).step_by(100) {
            writer.append(payloads(start..start + 100)).await.unwrap();
        }
    });
    let mut seen = Vec::new();
    while seen.len() < count {
        let entries = stream.read("trainer", 256, LONG).await.unwrap();
        assert!(!entries.is_empty(), "only {} of {count} entries came", seen.len());
        stream.acknowledge(&ids(&entries)).await.unwrap();
        seen.extend(contents(&entries));
    }
    writing.await.unwrap();
    assert_eq!(seen, payloads(0..count));
    assert_eq!(stream.depths().await.unwrap(), Depths::default());
}

async fn a_read_that_nobody_waits_for_any_more_loses_nothing(place: Place) {
    let stream = place.open().await;
    // Begun, and dropped while it waits.
    let begun = tokio::time::timeout(SHORT, stream.read("trainer", 10, LONG)).await;
    assert!(begun.is_err(), "there was nothing to read");
    stream.append(payloads(0..10)).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 10 {
        // Fewer at a time than the read under way asked for.
        let entries = stream.read("trainer", 3, LONG).await.unwrap();
        assert!(entries.len() <= 3);
        seen.extend(contents(&entries));
    }
    assert_eq!(seen, payloads(0..10));
}

async fn runs_do_not_see_each_other(place: Place) {
    let (one, other) = (place.home.open("one").await.unwrap(), place.home.open("other").await.unwrap());
    one.append(payloads(0..3)).await.unwrap();
    other.append(payloads(3..4)).await.unwrap();
    let of_one = read_all(&*one, "trainer", 3).await;
    assert_eq!(contents(&of_one), payloads(0..3));
    assert_eq!(contents(&read_all(&*other, "trainer", 1).await), payloads(3..4));
    one.acknowledge(&ids(&of_one)).await.unwrap();
    assert_eq!(one.depths().await.unwrap().waiting, 0);
    assert_eq!(other.depths().await.unwrap().waiting, 1);
}

async fn a_second_handle_sees_the_same_stream(place: Place) {
    let (writer, reader) = (place.open().await, place.open().await);
    let reading = tokio::spawn(async move { read_all(&*reader, "trainer", 2).await });
    writer.append(payloads(0..2)).await.unwrap();
    let entries = reading.await.unwrap();
    assert_eq!(contents(&entries), payloads(0..2));
    writer.acknowledge(&ids(&entries)).await.unwrap();
    assert_eq!(writer.depths().await.unwrap(), Depths::default());
}

async fn a_name_that_needs_quoting_is_refused(place: Place) {
    for name in ["", "two words", "a/b", "{a}", &"x".repeat(97)] {
        let error = place.home.open(name).await.err().expect("refused").to_string();
        assert!(error.contains("cannot name a stream") && error.contains("letters"), "{error}");
    }
}
