//! Lines about the network and web addresses that only read and end, one a line. How they are judged is tested beside.

pub(super) const LINES: &str = r#"
ip a
ip addr show eth0
ip -br a
ip -s link
ip -s -s link show eth0
ip -4 route show table all
ip r
ip route get 8.8.8.8
ip neigh
ip n show
ip rule list
ip -j addr
ip link show type bridge
ip -d link show vxlan0
ip netns list
ip netns exec blue ss -tlnp
ip netns exec blue ip addr
ip -n blue addr
ip maddr show dev eth0
ip -V
ss -tlnp
ss -s
ss -tan state established
ss -tn dst 10.0.0.1
ss -tnp '( dport = :443 or sport = :443 )'
ss -xa
ss --summary
netstat -tulpn
netstat -rn
netstat -s
ifconfig
ifconfig eth0
ifconfig -a
route -n
arp -an
ethtool eth0
ethtool -S eth0
ethtool -i eth0
ethtool --show-ring eth0
iw dev wlan0 link
nmcli
nmcli device status
nmcli -t -f NAME,UUID con show
nmcli con show --active
dig example.com
dig +short example.com MX
dig @8.8.8.8 -t TXT example.com +noall +answer
dig -x 10.0.0.1
host example.com
host -t ns example.com
nslookup example.com
nslookup -type=mx example.com 8.8.8.8
whois example.com
ping -c 4 example.com
ping -c1 -W 2 10.0.0.1
ping -6 -c 2 ::1
traceroute -n example.com
tracepath example.com
mtr -rwc 10 example.com
mtr --report example.com
nmap -p 443 10.0.0.1
nmap -sn 10.0.0.0/24
nc -zv 10.0.0.1 5432
nc -z -w 3 db1 5432
tcpdump -i any -nn -c 20 port 53
tcpdump -D
tcpdump -nnr /tmp/a.pcap 'tcp port 80'
tshark -r /tmp/a.pcap -Y http -T fields -e http.host
tshark -i eth0 -c 10
ngrep -n 5 -d any GET port 80
iptables -L -n -v
iptables -t nat -nvL --line-numbers
iptables -S
iptables-save
ip6tables -L
iptables-save -t nat
nft list ruleset
nft -a list ruleset inet
nft list tables
nft list table inet filter
nft list chain inet filter input
ipset list
conntrack -L -p tcp --dport 443
conntrack -C
conntrack -S
firewall-cmd --list-all
firewall-cmd --zone=public --list-ports
ufw status verbose
tc -s qdisc show dev eth0
tc qdisc show
bridge fdb show
bridge link
brctl show
ovs-vsctl show
ovs-vsctl list-ports br0
ovs-ofctl dump-flows br0
wg
wg show
wg show wg0 latest-handshakes
chronyc tracking
chronyc sources -v
ntpq -pn
rpcinfo -p
fping -c 3 10.0.0.1
arping -c 2 -I eth0 10.0.0.1
curl -sI https://example.com
curl -s -o /dev/null -w '%{http_code}\n' https://example.com
curl -sS -m 5 --connect-timeout 2 http://localhost:9090/-/healthy
curl -kv https://10.0.0.1:8443/health
curl -X GET http://localhost:8080/
curl -H 'Accept: application/json' -s localhost:8080/actuator/health
curl -s http://localhost/metrics -o -
curl -sv https://example.com --trace-ascii -
curl --version
wget --max-redirect=0 -qO- http://localhost/health
wget --max-redirect=0 --spider -S https://example.com
wget --max-redirect=0 -q -O /dev/null http://localhost/
grpcurl -plaintext localhost:50051 list
grpcurl -plaintext localhost:50051 describe my.Service
ss -tlnp | cat
http GET --ignore-stdin localhost:8080/health
curl -4 -s ifconfig.me
curl http://localhost:9200/_cat/indices?v
curl "http://localhost:9090/api/v1/query?query=up"
curl -u elastic:x -s http://localhost:9200/_cluster/health
curl --head https://example.com
curl -fsS https://example.com
ss -tulwn
ss -tanp state time-wait
ss -ti dst :443
ip -c a
ip -color=auto a
ip -o -4 addr list eth0
ip a s eth0
ip route show default
ip route list 10.0.0.0/8
ip -6 route
ip -s neigh
ip tcp_metrics
ip nexthop
ip mptcp endpoint show
ip link show up
ping -c 3 -s 1400 -M do 10.0.0.1
ping -q -c 5 -i 0.2 10.0.0.1
traceroute -T -p 443 example.com
traceroute -I example.com
mtr -n -c 5 --report-wide example.com
nslookup example.com 1.1.1.1
dig +trace example.com
dig ns example.com @1.1.1.1 +tcp
dig -4 +short -x 1.1.1.1
nc -vz -w2 localhost 22
nc -uzv localhost 53
nc -zvn 10.0.0.1 20-25
tcpdump -i eth0 -c 5 -A -s0 'tcp port 80'
tcpdump -ni eth0 -c 50 host 10.0.0.1 and port 443
tcpdump -i any -c 10 -w - port 80
tshark -r x.pcap -q -z conv,ip
nmcli -f all dev show eth0
nmcli d
nmcli c
nmcli con show eth0
nmcli g
firewall-cmd --state
firewall-cmd --get-active-zones
iptables -L INPUT -v -n --line-numbers
iptables -t nat -L -n
iptables -t nat -S POSTROUTING
iptables -vnL INPUT
ip6tables -S
nft list ruleset -a
ethtool -k eth0
chronyc -n sources
chronyc sourcestats -v
wget --max-redirect=0 -S --spider https://example.com
wget --max-redirect=0 -qO - http://localhost | cat
wget --max-redirect=0 -O /dev/null -T 5 -t 1 http://localhost
conntrack -L -s 10.0.0.1
conntrack -L | cat
"#;
