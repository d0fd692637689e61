//! How a program reaches a coordinator.

use std::fmt;

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::Bearer;

/// What a program shows to a coordinator, and whom it takes for one.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The token it shows with every call.
    pub token: Bearer,
    /// For addresses that begin with `https://`.
    pub tls: Tls,
}

/// Whose certificates are believed, and the certificate of one's own. Nothing it prints of itself contains a key.
#[derive(Clone, Default)]
pub struct Tls {
    /// Certificates in PEM by which those of coordinators are signed; `None` for those that the system trusts.
    pub authorities: Option<Vec<u8>>,
    /// A certificate and its key in PEM, for coordinators that ask for one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name that is in the coordinator's certificate, where it is not that of the address.
    pub name: Option<String>,
}

/// An address that cannot be a coordinator's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{address:?} is not the address of a coordinator ({reason}); it looks like http://127.0.0.1:7777, or https://HOST:PORT \
     with TLS"
)]
pub struct NoAddress {
    /// What was given.
    pub address: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Access {
    /// The URL at `address`, which is one or a host and a port, and how to get there. Connects nowhere.
    pub fn endpoint(&self, address: &str) -> Result<(String, Endpoint), NoAddress> {
        let url = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let wrong = |reason: String| NoAddress { address: address.to_owned(), reason };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(wrong("it must start with http:// or https://".into()));
        }
        let endpoint = Endpoint::from_shared(url.clone()).map_err(|error| wrong(said(&error)))?;
        if url.starts_with("http://") {
            return Ok((url, endpoint));
        }
        let endpoint = endpoint.tls_config(self.tls.config()).map_err(|error| wrong(said(&error)))?;
        Ok((url, endpoint))
    }
}

impl From<Bearer> for Access {
    fn from(token: Bearer) -> Self {
        Access { token, tls: Tls::default() }
    }
}

impl Tls {
    fn config(&self) -> ClientTlsConfig {
        let mut config = match &self.authorities {
            Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        if let Some((certificate, key)) = &self.identity {
            config = config.identity(Identity::from_pem(certificate, key));
        }
        match &self.name {
            Some(name) => config.domain_name(name),
            None => config,
        }
    }
}

/// What an error says, with the cause below it: transport errors hide it there.
fn said(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => said(cause),
        None => error.to_string(),
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = (self.authorities.is_some(), self.identity.is_some(), &self.name);
        write!(f, "Tls(authorities: {}, identity: {}, name: {:?})", shown.0, shown.1, shown.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_enough_and_what_is_no_address_is_refused_with_an_example() {
        let access = Access::default();
        assert_eq!(access.endpoint("host:1").expect("an address").0, "http://host:1");
        for address in ["http://", "http://two words", "redis://host", "ftp://host"] {
            let error = access.endpoint(address).expect_err("no address").to_string();
            assert!(error.contains("http://127.0.0.1:7777"), "{address}: {error}");
        }
    }

    #[test]
    fn no_key_is_in_what_it_prints() {
        let identity = Some((b"certificate".to_vec(), b"s3cret".to_vec()));
        let access = Access { tls: Tls { identity, ..Tls::default() }, ..Access::default() };
        let text = format!("{access:?} {:?}", access.endpoint("https://host:1").map(drop));
        assert!(
            text.contains("identity: true") && !text.contains("s3cret") && !text.contains("115, 51"),
            "{text}"
        );
    }
}
