//! Finding a run: at a coordinator, in a folder, or the last one on this machine.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use ludus_coordinator::{Coordinator, CoordinatorError, CoordinatorOptions, Records, Retention, Role};
use ludus_players::weight_file::Digest;
use ludus_proto::Access;
use ludus_proto::v1::{RunStatus, TokenInfo, VersionInfo, VersionLineage};
use ludus_stream::StreamHome;

use crate::access::AccessArgs;
use crate::coordinator_client::CoordinatorClient;
use crate::{roles, token};

/// Where to look for a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RunPlace {
    /// Address of a running coordinator, such as http://127.0.0.1:7777
    #[arg(long, value_name = "URL", conflicts_with = "dir")]
    pub coordinator: Option<String>,
    /// Folder of a local run, running or not [default: the last one on this machine]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub access: AccessArgs,
}

/// Runs that can be read.
pub enum Runs {
    /// By asking their coordinator.
    Served(CoordinatorClient),
    /// From the folder of a coordinator, whether it is running or not.
    Kept(Records),
}

/// Runs that can be changed.
pub enum Rule {
    /// By asking their coordinator.
    Served(CoordinatorClient),
    /// In a folder that nobody else uses.
    Kept(Coordinator),
}

impl RunPlace {
    /// The runs there, to be read.
    pub fn read(&self) -> Result<Runs> {
        match &self.coordinator {
            Some(url) => Ok(Runs::Served(CoordinatorClient::new(url, self.access.read()?)?)),
            None => Ok(Runs::Kept(Records::open(&self.folder()?)?)),
        }
    }

    /// The runs there, to be changed: through the coordinator that is using the folder, if one is.
    pub fn change(&self) -> Result<Rule> {
        if let Some(url) = &self.coordinator {
            return Ok(Rule::Served(CoordinatorClient::new(url, self.access.read()?)?));
        }
        // Looked at first, because opening would begin a new state in an empty folder.
        Records::open(&self.folder()?)?;
        self.change_or_begin()
    }

    /// The same, where a folder in which nothing was begun yet will do.
    pub fn change_or_begin(&self) -> Result<Rule> {
        if let Some(url) = &self.coordinator {
            return Ok(Rule::Served(CoordinatorClient::new(url, self.access.read()?)?));
        }
        let dir = self.folder()?;
        let options = CoordinatorOptions {
            keep: Retention::ALL,
            ..roles::options(&dir, &StreamHome::Local { folder: dir.clone() })
        };
        match Coordinator::open(options) {
            Ok(coordinator) => Ok(Rule::Kept(coordinator)),
            Err(CoordinatorError::InUse { .. }) => {
                let address = std::fs::read_to_string(dir.join(ADDRESS)).with_context(|| {
                    format!(
                        "a coordinator is using {}: say where it is with --coordinator URL",
                        dir.display()
                    )
                })?;
                // Whoever may read the folder may do everything with what is in it.
                let key = std::fs::read_to_string(dir.join(KEY))
                    .with_context(|| format!("the coordinator's key, {}", dir.join(KEY).display()))?;
                let access = Access { token: token::read(KEY, &key)?, tls: self.access.tls()? };
                Ok(Rule::Served(CoordinatorClient::new(address.trim(), access)?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The folder named, or that of the last run on this machine.
    pub fn folder(&self) -> Result<PathBuf> {
        if let Some(dir) = &self.dir {
            return Ok(dir.clone());
        }
        let last = pointer().and_then(|pointer| std::fs::read_to_string(pointer).ok()).ok_or_else(|| {
            anyhow!(
                "no run was started on this machine yet: begin one with `ludus train`, or say where it is with \
                 --coordinator URL or --dir DIR"
            )
        })?;
        let dir = PathBuf::from(last.trim_end_matches('\n'));
        if !dir.is_dir() {
            return Err(anyhow!(
                "the last run on this machine was in {}, which is gone: say where a run is with --coordinator URL \
                 or --dir DIR",
                dir.display()
            ));
        }
        Ok(dir)
    }
}

impl Runs {
    /// Every run, oldest first.
    pub fn runs(&self) -> Result<Vec<RunStatus>> {
        match self {
            Runs::Served(client) => client.runs(),
            Runs::Kept(records) => Ok(records.runs()),
        }
    }

    /// The run of this name; the newest when it is empty.
    pub fn run(&self, name: &str) -> Result<RunStatus> {
        match self {
            Runs::Served(client) => client.run(name),
            Runs::Kept(records) => Ok(records.run(name)?),
        }
    }

    /// The versions of a run, oldest first; of the newest run when its name is empty.
    pub fn versions(&self, run: &str) -> Result<Vec<VersionInfo>> {
        match self {
            Runs::Served(client) => client.versions(run),
            Runs::Kept(records) => Ok(records.versions(run)?),
        }
    }

    /// Whose games the versions of a run may have learnt from, oldest first.
    pub fn lineage(&self, run: &str) -> Result<Vec<VersionLineage>> {
        match self {
            Runs::Served(client) => client.lineage(run),
            Runs::Kept(records) => Ok(records.lineage(run)?),
        }
    }

    /// The bytes of a version's weight file, verified.
    pub fn weights(&self, version: &VersionInfo) -> Result<(Digest, Vec<u8>)> {
        let number = version.version;
        let sum: [u8; 32] =
            version.sha256[..].try_into().map_err(|_| anyhow!("v{number} has no sha256 sum"))?;
        let digest = Digest(sum);
        let bytes = match self {
            Runs::Served(client) => client.weights(digest)?,
            Runs::Kept(records) => records.weights(digest)?,
        };
        let got = Digest::of(&bytes);
        if got != digest {
            return Err(anyhow!(
                "the weights of v{number} came as {got} and should be {digest}: damaged on the way, or at the \
                 coordinator; try again"
            ));
        }
        Ok((digest, bytes))
    }
}

impl Rule {
    /// Creates a run and gives its name.
    pub fn create_run(&self, config: &str, name: &str) -> Result<String> {
        match self {
            Rule::Served(client) => client.create_run(config, name),
            Rule::Kept(coordinator) => Ok(coordinator.create_run(config, name)?),
        }
    }

    /// Stops a run for good.
    pub fn stop_run(&self, name: &str) -> Result<()> {
        match self {
            Rule::Served(client) => client.stop_run(name),
            Rule::Kept(coordinator) => Ok(coordinator.stop_run(name)?),
        }
    }

    /// Makes a token and gives its secret.
    pub fn create_token(&self, name: &str, role: Role) -> Result<String> {
        match self {
            Rule::Served(client) => client.create_token(name, &role.to_string()),
            Rule::Kept(coordinator) => Ok(coordinator.create_token(name, role)?),
        }
    }

    /// Every token, oldest first.
    pub fn tokens(&self) -> Result<Vec<TokenInfo>> {
        match self {
            Rule::Served(client) => client.tokens(),
            Rule::Kept(coordinator) => Ok(coordinator.tokens()?),
        }
    }

    /// Ends a token for good.
    pub fn revoke_token(&self, name: &str) -> Result<()> {
        match self {
            Rule::Served(client) => client.revoke_token(name),
            Rule::Kept(coordinator) => Ok(coordinator.revoke_token(name)?),
        }
    }

    /// Lets a suspended or quarantined token in again.
    pub fn lift_token(&self, name: &str) -> Result<()> {
        match self {
            Rule::Served(client) => client.lift_token(name),
            Rule::Kept(coordinator) => Ok(coordinator.lift_token(name)?),
        }
    }
}

/// Which version of a run is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The newest promoted one.
    Champion,
    /// The newest published one.
    Latest,
    /// This one.
    Number(u64),
}

impl Which {
    /// Finds it among the versions of a run, which are oldest first.
    pub fn among(self, versions: &[VersionInfo]) -> Result<&VersionInfo> {
        let found = match self {
            Which::Champion => versions.iter().rev().find(|version| version.state == "promoted"),
            Which::Latest => versions.last(),
            Which::Number(number) => versions.iter().find(|version| version.version == number),
        };
        found.ok_or_else(|| {
            let newest = versions.last().map(|version| version.version);
            match (self, newest) {
                (_, None) => anyhow!("the run has no versions yet: wait for its trainer's first"),
                (Which::Champion, Some(newest)) => anyhow!(
                    "the run has no champion yet: none of its versions up to v{newest} was promoted; take `latest`"
                ),
                (Which::Number(number), Some(newest)) => {
                    anyhow!("the run has no version v{number}; its versions are v1 to v{newest}")
                }
                (Which::Latest, Some(_)) => anyhow!("the run has no latest version"),
            }
        })
    }
}

impl std::str::FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "champion" => Ok(Which::Champion),
            "latest" => Ok(Which::Latest),
            _ => {
                let number = text.strip_prefix('v').unwrap_or(text).parse();
                number
                    .map(Which::Number)
                    .map_err(|_| "write champion, latest, or a version such as v12".into())
            }
        }
    }
}

/// File in the folder of a running coordinator that holds its address.
const ADDRESS: &str = "address";
/// File beside it that only its owner can read, with what opens every door of that coordinator as long as it runs.
const KEY: &str = "key";

/// The note that a coordinator serves a folder at an address; taken away when it goes.
pub struct Served {
    notes: [PathBuf; 2],
}

impl Served {
    /// Notes it, and that this is the last run on this machine. Neither is worth failing for.
    pub fn note(dir: &Path, url: &str, key: &str) -> Self {
        let notes = [dir.join(ADDRESS), dir.join(KEY)];
        let noted = std::fs::write(&notes[0], format!("{url}\n"))
            .and_then(|()| write_secret(&notes[1], key))
            .and_then(|()| remember(dir));
        if let Err(error) = noted {
            tracing::warn!(%error, "commands without --dir or --coordinator will not find this run");
        }
        Served { notes }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // If it stays, it is overwritten by the next coordinator and unread until then.
        for note in &self.notes {
            let _ = std::fs::remove_file(note);
        }
    }
}

/// Writes a file that nobody but its owner can read, not even for a moment.
fn write_secret(path: &Path, secret: &str) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(format!("{secret}\n").as_bytes())
}

fn remember(dir: &Path) -> std::io::Result<()> {
    let Some(pointer) = pointer() else { return Ok(()) };
    let dir = std::fs::canonicalize(dir)?;
    if let Some(folder) = pointer.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Two runs may begin at once: each writes a whole file, and one of them is last.
    let whole = pointer.with_extension(std::process::id().to_string());
    std::fs::write(&whole, format!("{}\n", dir.display()))?;
    std::fs::rename(whole, pointer)
}

/// The file that names the folder of the last local run: in `$XDG_STATE_HOME/ludus`, or `~/.local/state/ludus`.
fn pointer() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(state.join("ludus/last-run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u64, state: &str) -> VersionInfo {
        VersionInfo { version: number, state: state.into(), ..Default::default() }
    }

    #[test]
    fn champion_is_the_newest_promoted_version_and_latest_the_newest_of_all() {
        let versions = [version(1, "promoted"), version(2, "promoted"), version(3, "gating")];
        let number = |which: Which| which.among(&versions).map(|version| version.version).unwrap();
        assert_eq!(number(Which::Champion), 2);
        assert_eq!(number(Which::Latest), 3);
        assert_eq!(number(Which::Number(1)), 1);
    }

    #[test]
    fn a_version_that_is_not_there_is_an_error_that_says_which_are() {
        let versions = [version(1, "rejected"), version(2, "published")];
        let error = |which: Which, versions: &[VersionInfo]| which.among(versions).unwrap_err().to_string();
        assert!(error(Which::Number(7), &versions).contains("v1 to v2"));
        assert!(error(Which::Champion, &versions).contains("take `latest`"));
        assert!(error(Which::Latest, &[]).contains("no versions yet"));
    }

    #[test]
    fn versions_are_named_with_and_without_v() {
        assert_eq!("v12".parse(), Ok(Which::Number(12)));
        assert_eq!("12".parse(), Ok(Which::Number(12)));
        assert!("newest".parse::<Which>().is_err());
        assert!("v".parse::<Which>().is_err());
    }
}
