//! Tests which listeners a program can reach over the network and over sockets.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use holdpoint_confine::Confinement;

use crate::place::{TestDirectory, command, said};

const CONNECT: &str = r#"
use Socket;
my ($kind, $where) = @ARGV;
if ($kind eq "tcp" or $kind eq "udp") {
    socket(my $s, PF_INET, $kind eq "tcp" ? SOCK_STREAM : SOCK_DGRAM, 0) or die "socket: $!";
    connect($s, sockaddr_in($where, inet_aton("127.0.0.1"))) or die "connect: $!";
    send($s, "reached", 0) or die "send: $!";
} else {
    socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
    connect($s, sockaddr_un($kind eq "abstract" ? "\0$where" : $where)) or die "connect: $!";
}
print "connected\n";
"#;

/// Tries to connect to listeners of the test by TCP, by UDP, by the path of a Unix socket and by an abstract Unix
/// socket.
fn connections(place: &TestDirectory, confinement: &Confinement) -> Vec<(&'static str, bool)> {
    fs::write(place.path("workspace/connect.pl"), CONNECT).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let socket = place.path("data/socket");
    let _ = fs::remove_file(&socket);
    let _path = UnixListener::bind(&socket).unwrap();
    let name = format!("confined-{}", place.all.path().display());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let tries = [
        ("tcp", tcp.local_addr().unwrap().port().to_string()),
        ("udp", udp.local_addr().unwrap().port().to_string()),
        ("path", socket.display().to_string()),
        ("abstract", name),
    ];
    let connected = tries.map(|(kind, to)| {
        let said = said(command(confinement, &format!("perl connect.pl {kind} '{to}'")));
        // Sending a datagram may succeed although it reaches no receiver, so the receiver is checked.
        (kind, if kind == "udp" { udp.recv(&mut [0; 16]).is_ok() } else { said.stdout == "connected\n" })
    });
    connected.to_vec()
}

#[test]
fn network_is_not_reachable_by_default() {
    let place = TestDirectory::new();
    let connected = connections(&place, &place.confinement());
    assert_eq!(connected, [("tcp", false), ("udp", false), ("path", false), ("abstract", false)]);
}

#[test]
fn allowed_network_does_not_include_unix_sockets() {
    let place = TestDirectory::new();
    let connected = connections(&place, &Confinement { network: true, ..place.confinement() });
    assert_eq!(connected, [("tcp", true), ("udp", true), ("path", false), ("abstract", false)]);
}

#[test]
fn program_can_connect_to_itself_over_loopback() {
    let place = TestDirectory::new();
    let line = r#"perl -MSocket -e '
        socket(my $l, PF_INET, SOCK_STREAM, 0) or die; bind($l, sockaddr_in(0, INADDR_LOOPBACK)) or die "bind $!"; listen($l, 1);
        my ($port) = sockaddr_in(getsockname($l));
        socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, sockaddr_in($port, INADDR_LOOPBACK)) or die "connect $!"; print "ok\n"'"#;
    assert_eq!(place.run(line).stdout, "ok\n");
}
