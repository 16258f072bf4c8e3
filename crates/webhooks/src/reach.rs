//! Where messages may go: names are looked up here, and what is looked up is connected to, or nothing is.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use domain::webhook::address::Networks;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The addresses of a name.
pub type Found = std::io::Result<Vec<SocketAddr>>;

/// Looks names up.
pub trait Lookup: Send + Sync + 'static {
    /// The addresses of a name.
    fn lookup(&self, name: String) -> BoxFuture<'static, Found>;
}

/// Looks names up as the machine does.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: String) -> BoxFuture<'static, Found> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    }
}

/// Nothing is sent there. A name that does not exist and one whose addresses are not allowed are told in the same words: whoever may
/// register webhooks must not learn which names exist inside the operator's network.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not an address that this server sends to")]
pub(crate) struct Unreachable(pub(crate) String);

/// What a client connects by: each look-up is followed by the check, and only what passed it is connected to.
pub(crate) struct Guard {
    pub(crate) networks: Networks,
    pub(crate) lookup: Arc<dyn Lookup>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (networks, looked_up) = (self.networks.clone(), self.lookup.lookup(name.as_str().to_owned()));
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

/// An address that stands in the URL itself is looked up nowhere, so that it is checked here.
pub(crate) fn literal(networks: &Networks, url: &Url) -> Result<(), Unreachable> {
    let address: IpAddr = match url.host() {
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
        Some(Host::Domain(_)) | None => return Ok(()),
    };
    if networks.allow(address) { Ok(()) } else { Err(Unreachable(address.to_string())) }
}
