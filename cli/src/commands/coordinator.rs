//! `ludus coordinator`: serves runs to workers, trainers and people.

use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;
use ludus_coordinator::{CoordinatorOptions, Depot, Retention, ServerTls};

use crate::local_run::Served;
use crate::log::LogArgs;
use crate::{roles, signals};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: a cluster on one machine, each line in a terminal of its own
  ludus coordinator --dir runs/cluster --redis redis://127.0.0.1:6379
  ludus run create --coordinator http://127.0.0.1:7777
  ludus trainer --coordinator http://127.0.0.1:7777 --redis redis://127.0.0.1:6379 --dir runs/trainer
  ludus worker --coordinator http://127.0.0.1:7777")]
pub struct Args {
    /// Folder for its state and the weight files; made when needed
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7777")]
    listen: SocketAddr,
    /// Redis that carries the games to the trainers [default: a file in DIR, for a trainer on this machine]
    #[arg(long, value_name = "URL", env = "LUDUS_REDIS")]
    redis: Option<String>,
    /// Listen beyond this machine although there are no tokens (`ludus token create`), so that everybody may do everything
    #[arg(long)]
    insecure: bool,
    /// How many of the newest versions of a run keep their weights; those that were promoted keep them anyway
    #[arg(long, value_name = "N", default_value_t = Retention::default().versions)]
    keep_versions: usize,
    /// How many of the newest gates of a run keep their games, from which `ludus gate verify` recomputes the verdicts; those
    /// that ended with a promotion keep them anyway
    #[arg(long, value_name = "N", default_value_t = Retention::default().gates)]
    keep_gates: usize,
    /// Keep weights there as well, where they outlive DIR: s3://BUCKET/PREFIX (with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    /// AWS_REGION, AWS_ENDPOINT_URL and the like) or file:///FOLDER
    #[arg(long, value_name = "URL", env = "LUDUS_STORE")]
    store: Option<String>,
    /// Serve TLS: file with the certificate and those between it and its authority, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// File with the key of that certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Mutual TLS: file with the certificates, in PEM, by one of which everybody's who connects must be signed
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Serves until it is told to stop.
pub fn run(args: Args) -> Result<()> {
    roles::many_files();
    roles::runtime()?.block_on(serve(args))
}

async fn serve(args: Args) -> Result<()> {
    let told_to_stop = signals::told_to_stop()?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(ServerTls::read(certificate, key, args.tls_client_ca.as_deref())?)
        }
        _ => None,
    };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let depot = args.store.as_deref().filter(|url| !url.is_empty()).map(Depot::open).transpose()?;
    let stream = roles::stream(&args.dir, args.redis);
    let keep = Retention { versions: args.keep_versions, gates: args.keep_gates };
    let options = CoordinatorOptions {
        insecure: args.insecure,
        keep,
        depot,
        tls,
        ..roles::options(&args.dir, &stream)
    };
    let coordinator = roles::coordinator(options).await?;
    let listener = coordinator.bind(args.listen).await?;
    let url = format!("{scheme}://{}", listener.local_addr()?);
    let _served = Served::note(&args.dir, &url, coordinator.house_token());
    // It serves whether or not somebody reads this.
    let _ = writeln!(stdout(), "coordinator at {url}, data in {}", args.dir.display());
    coordinator.serve(listener, told_to_stop).await?;
    Ok(())
}
