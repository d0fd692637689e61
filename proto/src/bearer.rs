//! The token that a program shows with every call.

use tonic::metadata::errors::InvalidMetadataValue;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

/// Shows a token, or none, as `authorization: Bearer TOKEN`. Nothing it prints of itself contains the token.
#[derive(Clone, Debug, Default)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    /// Shows `token`. Fails when it has characters that no token has.
    pub fn new(token: &str) -> Result<Bearer, InvalidMetadataValue> {
        let mut value = MetadataValue::<Ascii>::try_from(format!("Bearer {token}"))?;
        value.set_sensitive(true);
        Ok(Bearer(Some(value)))
    }

    /// Shows nothing: for a coordinator that has made no tokens.
    pub fn none() -> Bearer {
        Bearer(None)
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        crate::trace::write(request.metadata_mut());
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_goes_out_with_the_call_and_into_no_text() {
        let mut bearer = Bearer::new("s3cret").expect("a good token");
        assert!(!format!("{bearer:?}").contains("s3cret"));
        let request = bearer.call(Request::new(())).expect("let through");
        assert_eq!(request.metadata().get("authorization").expect("shown"), "Bearer s3cret");
        assert!(!format!("{request:?}").contains("s3cret"));
        let request = Bearer::none().call(Request::new(())).expect("let through");
        assert!(request.metadata().is_empty());
        assert!(Bearer::new("line\nbreak").is_err());
    }
}
