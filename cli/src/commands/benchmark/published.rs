//! The benchmark files that GNU Backgammon's makers have published, by which one is known and how one is got.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use indicatif::ProgressBar;
use ludus_players::weight_file::Digest;
use sha2::{Digest as _, Sha256};

use crate::download::{DownloadError, download};
use crate::report::grouped;

/// Where they are published.
pub const HOME: &str = "http://alpha.gnu.org/gnu/gnubg/nn-training/1.00/benchmarks/";

/// The three files, one a class of positions.
pub const FILES: [Published; 3] = [
    Published {
        name: "contact",
        decisions: 107_484,
        sha256: "68317d792c152ff836a4af69e9c632056480663e403548daea793f8b270b25e4",
    },
    Published {
        name: "crashed",
        decisions: 100_000,
        sha256: "e0ee39a8cc5fc0172eb47abc209c06e8129fddd582a450adf54c33f7a0bb9f64",
    },
    Published {
        name: "race",
        decisions: 111_008,
        sha256: "72a79284ca1d71316f838747a954b841aaf45b9bcdd05d526ea08b30b600b9ff",
    },
];

/// Nothing published is near this size once it is unpacked.
const MOST_BYTES: u64 = 1 << 30;

/// One published file, and how it is recognised.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The file is called NAME.bm, and NAME.bm.bz2 where it is published.
    pub name: &'static str,
    /// Lines that begin with `m`.
    pub decisions: u64,
    /// Sum of the file as it is read, not of the packed one.
    pub sha256: &'static str,
}

/// What a file holds, for comparison with what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    sha256: Digest,
    decisions: u64,
}

/// How a file came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// It was there, and is what it should be.
    There,
    /// It was fetched, or unpacked from a packed one that was there.
    Fetched,
}

/// A file that could not be got.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The download failed.
    #[error(
        "{error}; without Internet here, get {url} elsewhere and put it at {}, or name a mirror with --url",
        archive.display()
    )]
    Download {
        /// What happened.
        error: Box<DownloadError>,
        /// What was asked for.
        url: String,
        /// Where it would be used from.
        archive: PathBuf,
    },
    /// A file of that name is there, and it is another one.
    #[error("{} is not the published file: {difference}; move it away, and run this again", file.display())]
    Other {
        /// The file.
        file: PathBuf,
        /// How one can tell.
        difference: String,
    },
    /// What was downloaded is something else.
    #[error(
        "{url} is not the published {name}.bm: {difference}; it was thrown away: run this again, or name another mirror \
         with --url"
    )]
    Wrong {
        /// Where it came from.
        url: String,
        /// The file it should have been.
        name: &'static str,
        /// How one can tell.
        difference: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

impl Published {
    /// The file in a folder.
    pub fn path(&self, dir: &Path) -> PathBuf {
        dir.join(format!("{}.bm", self.name))
    }

    /// Makes sure that the file is in `dir`: finds it there, or fetches it from below `base`.
    ///
    /// The file appears complete and verified or not at all. What has arrived of the packed file is kept, and the next call
    /// goes on from there; a packed file that somebody put there is used as if it had been downloaded.
    pub fn get(&self, base: &str, dir: &Path, bar: &ProgressBar) -> Result<Got, FetchError> {
        let path = self.path(dir);
        match File::open(&path) {
            Ok(file) => {
                let found = copy(BufReader::new(file), io::sink()).map_err(at(&path))?;
                return match self.difference(found) {
                    None => Ok(Got::There),
                    Some(difference) => Err(FetchError::Other { file: path, difference }),
                };
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(&path)(error)),
        }

        fs::create_dir_all(dir).map_err(at(dir))?;
        let archive = dir.join(format!("{}.bm.bz2", self.name));
        let url = format!("{}/{}.bm.bz2", base.trim_end_matches('/'), self.name);
        let given = archive.exists();
        if !given {
            let part = dir.join(format!("{}.bm.bz2.part", self.name));
            download(&url, &part, bar).map_err(|error| FetchError::Download {
                error: error.into(),
                url: url.clone(),
                archive: archive.clone(),
            })?;
            fs::rename(&part, &archive).map_err(at(&archive))?;
        }
        if let Some(difference) = self.unpack(&archive, &path)? {
            if given {
                return Err(FetchError::Other { file: archive, difference });
            }
            fs::remove_file(&archive).map_err(at(&archive))?;
            return Err(FetchError::Wrong { url, name: self.name, difference });
        }
        // What somebody put there is theirs.
        if !given {
            fs::remove_file(&archive).map_err(at(&archive))?;
        }
        Ok(Got::Fetched)
    }

    /// Unpacks `archive` to `path` if it holds the published file, else says what is different about it.
    fn unpack(&self, archive: &Path, path: &Path) -> Result<Option<String>, FetchError> {
        let packed = BufReader::new(File::open(archive).map_err(at(archive))?);
        let temporary = path.with_extension("bm.unpacked");
        let mut file = File::create(&temporary).map_err(at(&temporary))?;
        let difference = match copy(MultiBzDecoder::new(packed), &mut file) {
            Ok(found) => self.difference(found),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(at(&temporary)(error)),
            Err(error) => Some(format!("it cannot be unpacked ({error})")),
        };
        if difference.is_some() {
            fs::remove_file(&temporary).map_err(at(&temporary))?;
            return Ok(difference);
        }
        file.sync_all().map_err(at(&temporary))?;
        fs::rename(&temporary, path).map_err(at(path))?;
        // The new name itself must reach the disk too.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))?;
        Ok(None)
    }

    /// How a content differs from that of the published file, if it does.
    fn difference(&self, found: Content) -> Option<String> {
        let sum = found.sha256.to_string();
        if sum != self.sha256 {
            return Some(format!("its sha256 is {sum}, not {}", self.sha256));
        }
        (found.decisions != self.decisions).then(|| {
            format!("it has {} decisions, not {}", grouped(found.decisions), grouped(self.decisions))
        })
    }
}

/// An error about a file.
fn at(file: &Path) -> impl FnOnce(io::Error) -> FetchError {
    let file = file.to_owned();
    |error| FetchError::File { file, error }
}

/// Copies all there is to read, and says what it was.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<Content> {
    let (mut sum, mut decisions, mut length) = (Sha256::new(), 0, 0);
    let mut line_begins = true;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        length += count as u64;
        if length > MOST_BYTES {
            return Err(io::Error::other("it is far too large"));
        }
        for &byte in &buffer[..count] {
            decisions += u64::from(line_begins && byte == b'm');
            line_begins = byte == b'\n';
        }
        sum.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
    }
    Ok(Content { sha256: Digest(sum.finalize().into()), decisions })
}

#[cfg(test)]
mod tests {
    use bzip2::Compression;
    use bzip2::write::BzEncoder;
    use tempfile::TempDir;

    use super::*;
    use crate::file_server::{FileServer, Manner};

    const SMALL: &[u8] = include_bytes!("../../../tests/fixtures/small.bm");
    /// The sum of the fixture, as `sha256sum` gives it.
    const SMALL_FILE: Published = Published { name: "small", decisions: 2, sha256: SMALL_SUM };
    const SMALL_SUM: &str = "a11c364cf1519b52ca7d77ee43aa874ef61cd188b1415035e098092671d854df";

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = BzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn get(file: Published, server: &FileServer, dir: &TempDir) -> Result<Got, FetchError> {
        file.get(&server.url, dir.path(), &ProgressBar::hidden())
    }

    /// Names and sizes do not matter, what is left behind does.
    fn names(dir: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(dir.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_fetched_over_a_broken_connection_unpacked_verified_and_not_fetched_twice() {
        let server = FileServer::start(packed(SMALL), &[Manner::Breaking(100), Manner::Well]);
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(get(SMALL_FILE, &server, &dir).unwrap(), Got::Fetched);
        assert_eq!(fs::read(SMALL_FILE.path(dir.path())).unwrap(), SMALL);
        assert_eq!(names(&dir), ["small.bm"]);
        let path = "/small.bm.bz2".to_owned();
        assert_eq!(server.asked(), [(path.clone(), None), (path, Some(100))]);

        assert_eq!(get(SMALL_FILE, &server, &dir).unwrap(), Got::There);
        assert_eq!(server.asked().len(), 2);
    }

    #[test]
    fn an_interrupted_fetch_goes_on_the_next_time() {
        let server = FileServer::start(packed(SMALL), &[Manner::Well]);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("small.bm.bz2.part"), &packed(SMALL)[..150]).unwrap();
        fs::write(dir.path().join("small.bm.unpacked"), "left over by a process that was killed").unwrap();
        assert_eq!(get(SMALL_FILE, &server, &dir).unwrap(), Got::Fetched);
        assert_eq!(server.asked(), [("/small.bm.bz2".to_owned(), Some(150))]);
        assert_eq!(names(&dir), ["small.bm"]);
    }

    #[test]
    fn what_is_not_the_published_file_is_thrown_away_and_said() {
        let dir = tempfile::tempdir().unwrap();
        let more = [SMALL, b"m\n"].concat();
        for (content, file, problem) in [
            (packed(&more), SMALL_FILE, "its sha256 is "),
            (packed(SMALL), Published { decisions: 4, ..SMALL_FILE }, "it has 2 decisions, not 4"),
            (b"<html>Please log in</html>".to_vec(), SMALL_FILE, "cannot be unpacked"),
            (packed(SMALL)[..200].to_vec(), SMALL_FILE, "cannot be unpacked"),
        ] {
            let server = FileServer::start(content, &[Manner::Well]);
            let error = get(file, &server, &dir).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{}small.bm.bz2 is not the published small.bm", server.url)),
                "{error}"
            );
            assert!(error.contains(problem) && error.contains("run this again"), "{error}");
            assert!(names(&dir).is_empty(), "{:?}", names(&dir));
        }
    }

    #[test]
    fn a_packed_file_that_was_brought_here_by_hand_needs_no_server() {
        let server = FileServer::start(Vec::new(), &[Manner::Status(404)]);
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path().join("small.bm.bz2");
        fs::write(&archive, packed(b"m\n")).unwrap();
        let error = get(SMALL_FILE, &server, &dir).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} is not the published file", archive.display())), "{error}");
        assert_eq!(names(&dir), ["small.bm.bz2"]);

        fs::write(&archive, packed(SMALL)).unwrap();
        assert_eq!(get(SMALL_FILE, &server, &dir).unwrap(), Got::Fetched);
        assert_eq!(names(&dir), ["small.bm", "small.bm.bz2"], "what was brought stays");
        assert!(server.asked().is_empty());
    }

    #[test]
    fn another_file_of_that_name_is_left_alone() {
        let server = FileServer::start(packed(SMALL), &[Manner::Well]);
        let dir = tempfile::tempdir().unwrap();
        fs::write(SMALL_FILE.path(dir.path()), "mine").unwrap();
        let error = get(SMALL_FILE, &server, &dir).unwrap_err().to_string();
        assert!(error.contains("is not the published file") && error.contains("move it away"), "{error}");
        assert_eq!(fs::read(SMALL_FILE.path(dir.path())).unwrap(), b"mine");
    }

    #[test]
    fn without_a_server_the_way_out_is_said() {
        let server = FileServer::start(Vec::new(), &[Manner::Status(404)]);
        let dir = tempfile::tempdir().unwrap();
        let error = get(SMALL_FILE, &server, &dir).unwrap_err().to_string();
        let url = format!("{}small.bm.bz2", server.url);
        let archive = dir.path().join("small.bm.bz2");
        assert!(error.contains(&format!("{url}: the server answers 404")), "{error}");
        assert!(error.contains(&format!("put it at {}, or name a mirror", archive.display())), "{error}");
    }
}
