//! Addresses to which webhook messages may be sent: public addresses of the internet, and explicitly allowed networks.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Networks that may be reached in addition to the public internet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Networks {
    /// Whether all networks may be reached.
    pub private: bool,
    /// Networks that are allowed explicitly.
    pub allowed: Vec<Network>,
}

/// A network: an address and the length of its prefix in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Networks {
    /// Whether a connection to the address is allowed.
    #[must_use]
    pub fn allow(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.private || is_public(address) || self.allowed.iter().any(|network| network.contains(address))
    }
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        let (left, right, width) = match (self.address, address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => (u128::from(u32::from(one)), u128::from(u32::from(other)), 32),
            (IpAddr::V6(one), IpAddr::V6(other)) => (u128::from(one), u128::from(other), 128),
            _ => return false,
        };
        (left ^ right).checked_shr(width - self.bits).unwrap_or(0) == 0
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl FromStr for Network {
    type Err = String;

    /// Parses `10.1.0.0/16`, or a single address.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an address or ADDRESS/BITS");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u32>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(width);
        if bits > width { Err(wrong()) } else { Ok(Self { address, bits }) }
    }
}

/// Whether an address is known to be public. Unknown ranges are not.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let ours = address.is_private() || address.is_loopback() || address.is_link_local();
    let nobody = a == 0 || a >= 224 || address.is_documentation();
    let shared = a == 100 && (64..128).contains(&b);
    let special = (a, b, c) == (192, 0, 0) || (a, b, c) == (192, 88, 99) || (a == 198 && (b == 18 || b == 19));
    !(ours || nobody || shared || special)
}

/// Whether an IPv6 address is public. If the address embeds an IPv4 address, that one decides.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => inner(high, low),
        // Teredo, benchmarking, ORCHID and other reserved ranges.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(networks: &Networks, address: &str, expected: bool) {
        assert_eq!(networks.allow(address.parse().unwrap()), expected, "{address} with {networks:?}");
    }

    const INNER: &[&str] = &[
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.1.2.3",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
        "2001::1",
        "2001:db8::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "3fff::1",
        "4000::1",
    ];
    const OUTER: &[&str] = &[
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.167.1.1",
        "223.255.255.1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2606:4700::1",
        "2a00:1450::1",
    ];

    #[test]
    fn private_addresses_are_refused_by_default() {
        for address in INNER {
            check(&Networks::default(), address, false);
            check(&Networks { private: true, ..Networks::default() }, address, true);
        }
        for address in OUTER {
            check(&Networks::default(), address, true);
        }
    }

    #[test]
    fn only_allowed_networks_are_reachable() {
        let allowed = ["10.1.0.0/16", "127.0.0.1", "fd00::/8"].map(|text| text.parse().unwrap()).to_vec();
        let networks = Networks { private: false, allowed };
        for address in ["10.1.0.1", "10.1.255.255", "::ffff:10.1.2.3", "127.0.0.1", "fd12::1", "8.8.8.8"] {
            check(&networks, address, true);
        }
        for address in ["10.0.255.255", "10.2.0.0", "127.0.0.2", "fc00::1", "::1", "169.254.169.254"] {
            check(&networks, address, false);
        }
        let everything = Networks { private: false, allowed: vec!["0.0.0.0/0".parse().unwrap()] };
        check(&everything, "10.0.0.1", true);
        check(&everything, "::1", false);
    }

    #[test]
    fn network_is_parsed_or_refused() {
        for (text, expected) in [("10.0.0.0/8", "10.0.0.0/8"), ("::1", "::1/128"), ("1.2.3.4", "1.2.3.4/32")] {
            assert_eq!(text.parse::<Network>().unwrap().to_string(), expected);
        }
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "host", "10.0.0.0/-1", "10.0.0.0/"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
