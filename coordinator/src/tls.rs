//! TLS of the port: the coordinator's certificate, and whose certificates it asks for.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::CoordinatorError;

/// What a coordinator serves TLS with, read from files. Prints nothing of the key.
#[derive(Clone)]
pub struct ServerTls {
    pub(crate) acceptor: TlsAcceptor,
    asks: bool,
}

impl ServerTls {
    /// With the certificate chain and the key in these PEM files. With `clients`, a file of certificates, whoever connects must
    /// show a certificate that is signed by one of them.
    pub fn read(
        certificate: &Path,
        key: &Path,
        clients: Option<&Path>,
    ) -> Result<ServerTls, CoordinatorError> {
        let chain = certificates(certificate)?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(certificate, &error))?;
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(path)? {
                    roots.add(authority).map_err(|error| unusable(path, &error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                config.with_client_cert_verifier(verifier.build().map_err(|error| unusable(path, &error))?)
            }
        };
        let mut config = config.with_single_cert(chain, secret).map_err(|error| unusable(key, &error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(ServerTls { acceptor: TlsAcceptor::from(Arc::new(config)), asks: clients.is_some() })
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerTls(asks for certificates: {})", self.asks)
    }
}

/// The certificates in a file, of which there is at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, CoordinatorError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    let found = read().map_err(|error| unusable(path, &error))?;
    if found.is_empty() {
        return Err(unusable(path, &"there is no certificate in it"));
    }
    Ok(found)
}

fn unusable(path: &Path, reason: &dyn fmt::Display) -> CoordinatorError {
    CoordinatorError::Tls { path: PathBuf::from(path), reason: reason.to_string() }
}
