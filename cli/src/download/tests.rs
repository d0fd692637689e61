use tempfile::TempDir;

use super::*;
use crate::file_server::{FileServer, Manner};

/// Large enough that no buffer on the way holds it whole.
fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(|n| n.to_le_bytes()).collect()
}

/// Downloads what the server has into a folder in which `before` is there of it already.
fn fetch(server: &FileServer, before: &[u8]) -> (TempDir, Result<Vec<u8>, DownloadError>) {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("file.part");
    if !before.is_empty() {
        std::fs::write(&part, before).unwrap();
    }
    let outcome = download(&format!("{}file", server.url), &part, &ProgressBar::hidden());
    (dir, outcome.map(|()| std::fs::read(&part).unwrap()))
}

/// First bytes of the ranges that were asked for.
fn starts(server: &FileServer) -> Vec<Option<usize>> {
    server.asked().into_iter().map(|(_, start)| start).collect()
}

#[test]
fn a_connection_that_breaks_is_made_anew_for_the_rest() {
    let server =
        FileServer::start(content(), &[Manner::Breaking(500_000), Manner::Breaking(1), Manner::Well]);
    assert_eq!(fetch(&server, &[]).1.unwrap(), content());
    assert_eq!(starts(&server), [None, Some(500_000), Some(500_001)]);
}

#[test]
fn a_later_call_goes_on_where_an_earlier_one_ended() {
    let server = FileServer::start(content(), &[Manner::Well]);
    assert_eq!(fetch(&server, &content()[..123]).1.unwrap(), content());
    assert_eq!(starts(&server), [Some(123)]);
}

#[test]
fn what_is_complete_already_is_left_as_it_is() {
    let server = FileServer::start(content(), &[Manner::Well]);
    assert_eq!(fetch(&server, &content()).1.unwrap(), content());
}

#[test]
fn more_than_the_server_has_cannot_be_a_part_of_it() {
    let server = FileServer::start(content(), &[Manner::Well]);
    let longer = [content(), vec![0; 10]].concat();
    assert_eq!(fetch(&server, &longer).1.unwrap(), content());
    assert_eq!(starts(&server), [Some(longer.len()), None]);
}

#[test]
fn a_server_without_ranges_is_asked_for_everything_again() {
    let server =
        FileServer::start(content(), &[Manner::WithoutRangesBreaking(700_000), Manner::WithoutRanges]);
    assert_eq!(fetch(&server, &[]).1.unwrap(), content());
    assert_eq!(starts(&server), [None, Some(700_000)]);
}

#[test]
fn a_connection_that_always_breaks_at_the_same_place_is_given_up_and_what_came_is_kept() {
    let server = FileServer::start(content(), &[Manner::WithoutRangesBreaking(1000)]);
    let (dir, outcome) = fetch(&server, &[]);
    let error = outcome.unwrap_err();
    assert!(matches!(error, DownloadError::Broken { have: 1000, .. }), "{error}");
    assert!(error.to_string().contains("the same command goes on from there"), "{error}");
    assert_eq!(std::fs::read(dir.path().join("file.part")).unwrap(), content()[..1000]);
}

#[test]
fn a_server_that_has_it_not_and_one_that_is_not_there_are_named() {
    let server = FileServer::start(content(), &[Manner::Status(404)]);
    let error = fetch(&server, &[]).1.unwrap_err().to_string();
    assert!(error.contains(&format!("{}file: the server answers 404", server.url)), "{error}");

    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let url = format!("http://{gone}/file");
    let error = download(&url, &dir.path().join("file.part"), &ProgressBar::hidden()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot reach {url}: ")), "{error}");
}

#[test]
fn two_processes_do_not_write_into_the_same_part() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("file.part");
    let other = File::create(&part).unwrap();
    other.lock().unwrap();
    let error = download("http://127.0.0.1:9/", &part, &ProgressBar::hidden()).unwrap_err();
    assert!(matches!(error, DownloadError::Busy { .. }), "{error}");
}
