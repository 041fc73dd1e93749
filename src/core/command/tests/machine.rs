//! Lines of processes, network, systemd, storage, virtual machines and measuring: which only read, which do not, which do
//! not end, and what is said of them. The long lists lie beside.

use super::{Category, assert_endless, assert_reads, assert_refused, judge};

mod reads_host;
mod reads_network;
mod refused_host;
mod refused_network;

fn lines(text: &'static str) -> Vec<&'static str> {
    text.lines().filter(|line| !line.is_empty()).collect()
}

#[test]
fn looking_at_the_machine_only_reads() {
    assert_reads(&lines(reads_host::LINES));
}

#[test]
fn looking_at_the_network_only_reads() {
    assert_reads(&lines(reads_network::LINES));
}

#[test]
fn what_changes_the_machine_is_refused() {
    assert_refused(&lines(refused_host::LINES));
}

#[test]
fn what_changes_the_network_or_sends_is_refused() {
    assert_refused(&lines(refused_network::LINES));
}

const STREAMS: &str = "
free -s 5
vmstat 1
vmstat -w 2
lsof -r 5 -i :80
pidwait nginx
dmesg -w
dmesg -Tw
dmesg --follow
nvidia-smi -l 5
nvidia-smi dmon
ip monitor
ip mon
ip xfrm monitor
ss -E
netstat -tc
netstat -c
ping example.com
ping -i 2 10.0.0.1
fping -l 10.0.0.1
arping -I eth0 10.0.0.1
tcpdump -i any port 53
tcpdump -nn
tshark -i eth0
ngrep -d any GET
nft monitor
conntrack -E
nmcli monitor
nmcli dev monitor
tc monitor
bridge monitor
ethtool --monitor
journalctl -f
journalctl -fu nginx
journalctl -u nginx -f -n 50
journalctl --follow
journalctl -kf
timedatectl --monitor
resolvectl monitor
busctl monitor
findmnt --poll
zpool iostat 1
zpool iostat -v tank 5
zpool status 5
zpool events -f
nfsiostat 2
virsh event --all --loop
lxc monitor
iostat 1
iostat -xz 2
iostat -x sda 1
mpstat 1
mpstat -P ALL 1
pidstat 1
pidstat -p 4242 2
sar 1
sar -n DEV 1
sar -u ALL 2
dstat
dstat 5
turbostat
perf stat -p 4242
strace -p 4242
strace -f -p 4242
jstat -gcutil 4242 1000
execsnoop-bpfcc
biolatency-bpfcc
drbdsetup events2
";

const TERMINALS: &str = "
top
top -p 4242
top -b
top -b -d 5
htop
atop
tload
mtr example.com
mtr -t example.com
systemd-cgtop
xl top
virt-top
iotop
iotop -o
iftop -i eth0
nethogs eth0
slabtop
powertop
py-spy top --pid 4242
";

const PAGERS: &str = "
dmesg -H
perf report
";

#[test]
fn what_goes_on_is_told_from_what_ends() {
    let all = [(STREAMS, Category::UnboundedStream), (TERMINALS, Category::TtyFlag), (PAGERS, Category::Pager)];
    for (text, category) in all {
        let expected: Vec<(&str, Category)> = lines(text).into_iter().map(|line| (line, category)).collect();
        assert_endless(&expected);
    }
}

const REASONS: &[(&str, &str)] = &[
    ("ip l s eth0 down", "changes the interfaces (ip l s)"),
    ("ss -D /tmp/x", "saves to /tmp/x (ss -D)"),
    ("dmesg -c", "clears the kernel's messages (dmesg -c)"),
    ("sysctl -n vm.swappiness=10", "`sysctl vm.swappiness=10` is not known to only read"),
    ("kill -9 4242", "sends a signal to processes (kill)"),
    ("crontab jobs.txt", "installs a crontab (crontab)"),
    ("getent shadow", "`getent shadow` is not known to only read"),
    ("ps -ef e", "shows the environment of programs, with their secrets (ps e)"),
    ("hostname web2", "sets the host name (hostname)"),
    ("curl -so x.sh http://localhost/x", "saves to x.sh (curl -o)"),
    ("curl -XDELETE http://localhost/x", "sends a DELETE request"),
    (
        "curl -H 'X-HTTP-Method-Override: DELETE' http://localhost/x",
        "sends another method in a header (X-HTTP-Method-Override: DELETE)",
    ),
    ("curl --out /tmp/x http://localhost/", "the option --out (--output) of `curl` is not known to only read"),
    (
        r#"curl -A "$(cat k)" http://localhost/"#,
        "commands inside words don't run here; write plain commands, or make it a declared action",
    ),
    ("wget http://localhost/x", "saves what it fetches (wget)"),
    ("http GET localhost:8080/", "sends its standard input; write --ignore-stdin (http GET)"),
    ("tcpdump -c 10 -z /tmp/x.sh -w /dev/null", "runs /tmp/x.sh (tcpdump -z)"),
    ("nft list ruleset ';' flush ruleset", "`nft list ruleset ;` is not known to only read"),
    ("ovs-vsctl show -- del-br br0", "may begin another command (ovs-vsctl show)"),
    ("systemctl restart nginx", "changes what runs (systemctl restart)"),
    ("systemctl foo", "`systemctl foo` is not known to only read"),
    ("journalctl --vacuum-time=1s", "deletes old logs (journalctl --vacuum-time)"),
    ("service nginx reload", "changes a service (service nginx reload)"),
    ("parted /dev/sda rm 1", "changes partitions (parted /dev/sda rm)"),
    ("parted /dev/sda", "runs what somebody types (parted /dev/sda)"),
    ("mount /dev/sda1 /mnt", "mounts a file system (mount)"),
    ("zpool scrub tank", "changes a pool (zpool scrub)"),
    ("echo 'osd out 3' | ceph", "runs what somebody types (ceph)"),
    (
        "virsh -c qemu+ext:///system?command=/tmp/x list",
        "connects to qemu+ext:///system?command=/tmp/x, which may run a program (virsh -c)",
    ),
    ("pidstat 1 5 -e rm", "runs rm (pidstat 1 -e)"),
    ("perf stat -o /tmp/x ls", "writes to /tmp/x (perf stat -o)"),
    ("strace -e inject=all:error=EPERM -p 1", "may change what the program does (strace -e)"),
    ("ip netns exec blue kill 1", "sends a signal to processes (kill)"),
];

#[test]
fn reasons_say_what_a_line_does() {
    for (line, reason) in REASONS {
        assert_eq!(judge(line).reason, *reason, "{line}");
    }
}

const REWRITES: &[(&str, &str)] = &[
    ("journalctl -f", r#"journalctl -n 200 --since "10 min ago""#),
    ("journalctl -fu nginx", r#"journalctl -n 200 --since "10 min ago" -u nginx"#),
    ("journalctl -fn 50 -u nginx", r#"journalctl --since "10 min ago" -n 50 -u nginx"#),
    ("top", "top -b -n 1"),
    ("top -p 4242", "top -b -n 1 -p 4242"),
    ("htop", "top -b -n 1"),
    ("ping example.com", "ping -c 4 example.com"),
    ("tcpdump -i any port 53", "tcpdump -c 100 -i any port 53"),
    ("dmesg -Tw", "dmesg -T"),
    ("vmstat 1", "vmstat 1 5"),
    ("iostat -x sda 1", "iostat -x sda 1 5"),
    ("sar -n DEV 1", "sar -n DEV 1 5"),
    ("mtr example.com", "mtr -r -c 10 example.com"),
    ("lsof -r 5 -i :80", "lsof -i :80"),
    ("iotop -o", "iotop -b -n 3 -o"),
    ("perf report", "perf report --stdio"),
    ("slabtop", "slabtop -o"),
    ("ss -E", "ss"),
    ("free -s 5", "free"),
    ("systemd-cgtop", "systemd-cgtop -b -n 1"),
];

#[test]
fn what_goes_on_has_a_line_that_ends() {
    for (line, instead) in REWRITES {
        assert_eq!(judge(line).rewrite.as_deref(), Some(*instead), "{line}");
    }
}
