//! How a command reaches its coordinator: the token it shows, and what it needs for TLS.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ludus_proto::{Access, Tls};

use crate::token::TokenArgs;

/// What a command shows to a coordinator, and whom it takes for one.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AccessArgs {
    #[command(flatten)]
    token: TokenArgs,
    /// For https: file with the certificates, in PEM, that vouch for the coordinator's [default: those of the system]
    #[arg(long, value_name = "FILE", env = "LUDUS_TLS_CA", display_order = 90)]
    tls_ca: Option<PathBuf>,
    /// For a coordinator that asks for one: file with the own certificate, in PEM
    #[arg(long, value_name = "FILE", env = "LUDUS_TLS_CERT", requires = "tls_key", display_order = 91)]
    tls_cert: Option<PathBuf>,
    /// File with the key of that certificate, in PEM
    #[arg(long, value_name = "FILE", env = "LUDUS_TLS_KEY", requires = "tls_cert", display_order = 92)]
    tls_key: Option<PathBuf>,
    /// Name in the coordinator's certificate, where it is not that of the address
    #[arg(long, value_name = "NAME", env = "LUDUS_TLS_NAME", display_order = 93)]
    tls_name: Option<String>,
}

impl AccessArgs {
    /// Reads the files that are named.
    pub fn read(&self) -> Result<Access> {
        Ok(Access { token: self.token.bearer()?, tls: self.tls()? })
    }

    /// Whether there is a token to show.
    pub fn shows_a_token(&self) -> bool {
        self.token.is_given()
    }

    /// The same without the token, for who has another.
    pub fn tls(&self) -> Result<Tls> {
        let identity = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some((pem(certificate)?, pem(key)?)),
            _ => None,
        };
        let authorities = self.tls_ca.as_deref().map(pem).transpose()?;
        Ok(Tls { authorities, identity, name: self.tls_name.clone() })
    }
}

fn pem(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("the file {}", path.display()))
}
