//! Finding a run: at a coordinator, in a folder, or the last one on this machine.

use std::path::PathBuf;

/// Where to look for a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RunPlace {
    /// Address of a running coordinator, such as http://127.0.0.1:7777
    #[arg(long, value_name = "URL", conflicts_with = "dir")]
    pub coordinator: Option<String>,
    /// Folder of a local run, running or not [default: the last one on this machine]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
