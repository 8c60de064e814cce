//! The addresses a connector may talk to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A kind of address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AddressKind {
    /// This machine.
    Loopback,
    /// Only reachable on one network segment; includes cloud metadata services.
    LinkLocal,
    /// A private network.
    Private,
    /// Multicast, documentation, benchmarking, future use: nothing that serves an API.
    Reserved,
    /// Of the internet.
    Public,
}

impl AddressKind {
    /// Returns its word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::Private => "private",
            Self::Reserved => "reserved",
            Self::Public => "public",
        }
    }
}

impl std::fmt::Display for AddressKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns what keeps `address` from being a public one, or `None` if nothing does.
///
/// IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4) are judged by that address:
/// otherwise `::ffff:127.0.0.1` would be a way round the check.
pub(crate) fn non_public(address: IpAddr) -> Option<AddressKind> {
    match address {
        IpAddr::V4(v4) => non_public_v4(v4),
        IpAddr::V6(v6) => non_public_v6(v6),
    }
}

fn non_public_v4(address: Ipv4Addr) -> Option<AddressKind> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, _, _) => Some(AddressKind::Loopback),
        (169, 254, _) => Some(AddressKind::LinkLocal),
        (10, _, _) | (192, 168, _) | (172, 16..=31, _) | (100, 64..=127, _) => {
            Some(AddressKind::Private)
        }
        // "This network" reaches the local machine on Linux.
        (0, _, _) => Some(AddressKind::Loopback),
        (192, 0, 0 | 2)
        | (198, 18..=19, _)
        | (198, 51, 100)
        | (203, 0, 113)
        | (224..=255, _, _) => Some(AddressKind::Reserved),
        _ => None,
    }
}

fn non_public_v6(address: Ipv6Addr) -> Option<AddressKind> {
    if address.is_loopback() || address.is_unspecified() {
        return Some(AddressKind::Loopback);
    }
    if let Some(v4) = embedded_v4(address) {
        return non_public_v4(v4);
    }
    let segments = address.segments();
    match segments[0] {
        0xfe80..=0xfebf => Some(AddressKind::LinkLocal),
        0xfc00..=0xfdff | 0xfec0..=0xfeff => Some(AddressKind::Private),
        0xff00..=0xffff => Some(AddressKind::Reserved),
        // Documentation, and Teredo, which carries an IPv4 address of anybody's choice.
        0x2001 if segments[1] == 0xdb8 || segments[1] == 0 => Some(AddressKind::Reserved),
        // Only 2000::/3 is handed out for public use.
        0x2000..=0x3fff => None,
        _ => Some(AddressKind::Reserved),
    }
}

/// Returns the IPv4 address that an IPv6 one carries, if it is of such a form.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let pair = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match s {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(pair(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(pair(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(pair(high, low)),
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Option<AddressKind>) {
        assert_eq!(non_public(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn every_way_to_write_a_local_address_is_refused() {
        for local in [
            "127.0.0.1",
            "127.255.0.9",
            "0.0.0.0",
            "0.1.2.3",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::ffff:0:127.0.0.1",
        ] {
            check(local, Some(AddressKind::Loopback));
        }
        for link in ["169.254.169.254", "fe80::1", "febf::1", "::ffff:169.254.169.254"] {
            check(link, Some(AddressKind::LinkLocal));
        }
        for private in [
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "fc00::1",
            "fd12::1",
            "64:ff9b::a00:1",
            "2002:c0a8:101::1",
        ] {
            check(private, Some(AddressKind::Private));
        }
        for reserved in ["224.0.0.1", "255.255.255.255", "240.0.0.1", "198.18.0.1", "ff02::1"] {
            check(reserved, Some(AddressKind::Reserved));
        }
        check("2001:db8::1", Some(AddressKind::Reserved));
    }

    #[test]
    fn public_addresses_pass() {
        for public in ["140.82.121.6", "172.32.0.1", "100.128.0.1", "2606:50c0:8000::154"] {
            check(public, None);
        }
    }
}
