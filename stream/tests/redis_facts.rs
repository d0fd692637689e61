//! What a real Redis says of itself.

#[path = "support/redis_server.rs"]
mod redis_server;

use ludus_stream::{RedisFacts, StreamError};
use redis_server::RedisServer;

#[tokio::test]
async fn a_redis_tells_how_it_keeps_games_and_that_somebody_changed_it() {
    let server = RedisServer::start();
    let good = RedisFacts::ask(&server.url()).await.expect("it answers");
    assert!(good.is_new_enough() && !good.version.is_empty(), "{good:?}");
    assert_eq!((good.eviction.as_str(), good.appends, good.most_memory), ("noeviction", true, 0));
    assert!(good.used_memory > 0 && !good.replica && !good.append_failed && !good.snapshot_failed);

    server.ask(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    server.ask(&["CONFIG", "SET", "maxmemory", "100mb"]);
    server.ask(&["CONFIG", "SET", "appendonly", "no"]);
    let bad = RedisFacts::ask(&server.url()).await.expect("it answers");
    assert_eq!((bad.eviction.as_str(), bad.appends, bad.most_memory), ("allkeys-lru", false, 100 << 20));

    server.ask(&["CONFIG", "SET", "requirepass", "s3cret"]);
    let locked = RedisFacts::ask(&server.url()).await.expect_err("it wants a password");
    assert!(matches!(locked, StreamError::Refused { .. }), "{locked}");
}
