//! Resolves the host names of webhooks, and checks every address before a connection to it is opened.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use domain::webhook::address::Networks;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Addresses of a name, or the error of its resolution.
pub type Addresses = std::io::Result<Vec<SocketAddr>>;

/// Resolves host names to addresses.
pub trait Resolver: Send + Sync + 'static {
    /// Resolves a name to its addresses.
    fn resolve_name(&self, name: String) -> BoxFuture<'static, Addresses>;
}

/// Resolver that uses the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve_name(&self, name: String) -> BoxFuture<'static, Addresses> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    }
}

/// Error of an address that may not be used. A name that does not exist and a name with forbidden addresses give the same
/// message: the owner of a webhook must not learn which names exist inside the operator's network.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not an address that this server sends to")]
pub(crate) struct Unreachable(pub(crate) String);

/// Resolver of the HTTP client: returns only the allowed addresses of a name.
pub(crate) struct CheckedResolver {
    pub(crate) networks: Networks,
    pub(crate) lookup: Arc<dyn Resolver>,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (networks, looked_up) = (self.networks.clone(), self.lookup.resolve_name(name.as_str().to_owned()));
        Box::pin(async move {
            let mut found = looked_up.await.unwrap_or_default();
            found.retain(|address| networks.allow(address.ip()));
            if found.is_empty() {
                return Err(Unreachable(name.as_str().to_owned()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Checks an IP address in the URL itself, which is not resolved.
pub(crate) fn check_literal(networks: &Networks, url: &Url) -> Result<(), Unreachable> {
    let address: IpAddr = match url.host() {
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
        Some(Host::Domain(_)) | None => return Ok(()),
    };
    if networks.allow(address) { Ok(()) } else { Err(Unreachable(address.to_string())) }
}
