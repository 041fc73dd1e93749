//! Lines about one machine: processes, services, disks, virtual machines and measuring that only read and end, one a line. How they are judged is tested beside.

pub(super) const LINES: &str = r#"
ps aux
ps -ef
ps aux --sort=-%cpu
ps aux --sort -rss
ps -eo pid,ppid,rss,cmd --sort=-rss
ps axo pid,etime,cmd
ps -C nginx -o pid,cmd
ps -p 1 -o lstart=
ps -T -p 4242
ps --forest -u www-data
pgrep -a nginx
pgrep -fl 'java -jar'
pgrep --help
pidof nginx
pstree -ap
pstree -p 1
pwdx 4242
top -bn1
top -b -n 1 -o %MEM
top -b -n2 -d 1 -p 4242
free -h
free -m -t
uptime
uptime -p
vmstat
vmstat 1 5
vmstat -s
vmstat -w 1 3
lsof -i :80
lsof -nP -iTCP -sTCP:LISTEN
lsof -p 4242
lsof +D /var/log
lsof -u www-data
lsof +L1
lsof /var/log/syslog
fuser -v 80/tcp
fuser -vm /var
kill -l
kill -0 4242
w
who -b
last -n 20
last -20 reboot
lastlog -u root
id
id -un
groups www-data
getent passwd root
getent hosts db1.example.com
uname -a
uname -r
hostname
hostname -f
hostname -I
nproc --all
lscpu
lscpu -e
lsmem
lspci -nnk
lsusb -t
lsmod
modinfo ixgbe
modprobe -n -v ixgbe
dmesg
dmesg -T
dmesg -T --level=err,warn
dmesg -x -k
sysctl -a
sysctl vm.swappiness
sysctl -n net.core.somaxconn
ipcs -a
ipcs -lm
lsns -t net
prlimit --pid 4242
pmap -x 4242
numactl --hardware
numastat -p 4242
taskset -cp 4242
taskset -p 4242
chrt -p 4242
crontab -l
crontab -l -u www-data
atq
passwd -S root
chage -l root
sestatus
getenforce
dmidecode -t memory
lshw -short -class disk
sensors
nvidia-smi
nvidia-smi -q -d MEMORY
nvidia-smi --query-gpu=name,memory.used --format=csv
ausearch -m avc -ts recent
visudo -c
systemctl
systemctl status nginx
systemctl status nginx --no-pager -l
systemctl --failed
systemctl list-units --type=service --state=running
systemctl list-unit-files --no-pager
systemctl is-active nginx
systemctl show nginx -p MainPID,ActiveState
systemctl show -p MainPID --value nginx
systemctl cat nginx
systemctl list-timers --all
systemctl list-dependencies nginx
systemctl --user status
systemctl get-default
systemctl --version
journalctl -u nginx -n 100
journalctl -u nginx --since "1 hour ago" --no-pager
journalctl -xeu nginx
journalctl -b -1 -p err
journalctl -k -b
journalctl -p 3 -xb
journalctl --disk-usage
journalctl --list-boots
journalctl _PID=1 -o json-pretty
journalctl -n50 -r
journalctl --since yesterday --until "09:00" -g timeout
loginctl
loginctl list-sessions
loginctl show-session 3 -p Type
timedatectl
timedatectl status
timedatectl show-timesync
hostnamectl
hostnamectl status
localectl
resolvectl status
resolvectl query example.com
resolvectl statistics
networkctl
networkctl status eth0
machinectl list
coredumpctl list
coredumpctl info 4242
busctl list
busctl tree org.freedesktop.systemd1
systemd-analyze
systemd-analyze blame
systemd-analyze critical-chain nginx.service
systemd-analyze security nginx
systemd-cgls
systemd-cgtop -n 1 -b
systemd-detect-virt
service nginx status
service --status-all
rc-service nginx status
rc-status
chkconfig --list
lsblk
lsblk -f
lsblk -o NAME,SIZE,FSTYPE,MOUNTPOINT
lsblk -J
blkid
blkid /dev/sda1
blkid -o value -s UUID /dev/sda1
findmnt
findmnt -T /var
findmnt -t ext4 -o TARGET,SOURCE
mount
mount -l -t ext4
mountpoint /mnt
swapon --show
losetup -a
losetup -l
fdisk -l
fdisk -l /dev/sda
sfdisk -d /dev/sda
parted -l
parted -s /dev/sda print
parted /dev/sda unit MiB print free
smartctl -a /dev/sda
smartctl -H /dev/sda
smartctl --scan
nvme list
nvme smart-log /dev/nvme0
hdparm -I /dev/sda
mdadm --detail /dev/md0
mdadm --detail --scan
mdadm -E /dev/sda1
pvs
vgs -o +vg_free
lvs -a -o +devices
lvs --noheadings -o lv_name,data_percent
pvdisplay -m
vgdisplay vg0
lvdisplay
dmsetup ls --tree
dmsetup status
zpool status
zpool status -xv tank
zpool list -v
zpool iostat -v tank 1 3
zpool history tank
zpool get all tank
zfs list -t snapshot -o name,used
zfs get -r compression tank
btrfs filesystem usage /
btrfs fi df /
btrfs subvolume list /
btrfs device stats /
btrfs scrub status /
xfs_info /
tune2fs -l /dev/sda1
dumpe2fs -h /dev/sda1
wipefs /dev/sda
blockdev --getsize64 /dev/sda
cryptsetup status root
cryptsetup luksDump /dev/sda2
multipath -ll
iscsiadm -m session -P 3
lsscsi -s
exportfs -v
showmount -e nfs1
nfsstat -c
repquota -a
quota -s
ceph -s
ceph health detail
ceph osd tree
ceph osd df tree
ceph osd pool ls detail
ceph df
ceph pg dump_stuck
rbd ls -p data
gluster volume status
gluster volume heal data info
gluster peer status
drbdadm status
virsh list --all
virsh dominfo web1
virsh dumpxml web1
virsh domblklist web1
virsh net-dhcp-leases default
virsh pool-list --all
qm list
qm config 100
pct list
pvesh get /cluster/resources --output-format json
pvesh get /nodes
pvecm status
pveversion -v
pvesm status
lxc list
lxc info web1
lxc exec web1 -- uptime
incus list
multipass list
xl list
VBoxManage list runningvms
VBoxManage showvminfo web1 --machinereadable
govc vm.info web1
qemu-img info disk.qcow2
qemu-img snapshot -l disk.qcow2
vagrant global-status
iostat
iostat -x
iostat -xz 1 3
iostat -x sda
iostat -dx sda 1 3
mpstat
mpstat -P ALL 1 3
sar
sar -u 1 5
sar -n DEV 1 3
sar -r
sar -q -f /var/log/sysstat/sa10
sar -u ALL 1 3
pidstat 1 5
pidstat -d -p 4242 1 3
pidstat -u -t
iotop -b -n 3
iotop -boqqn 1
nethogs -t -c 5
dstat 1 5
slabtop -o
perf report --stdio
perf list
perf version
strace -c ls
jps -lv
jstack 4242
jstat -gcutil 4242
jstat -gcutil 4242 1000 5
jmap -histo 4242
jcmd 4242 Thread.print
jcmd -l
py-spy dump --pid 4242
bpftrace -l 'tracepoint:syscalls:*'
turbostat -n 1
pct exec 100 -- uptime
perf stat -e cycles,instructions -a ls
sysctl net.ipv4.ip_forward
journalctl --unit=nginx --lines=20 --no-pager
journalctl -u nginx -u php-fpm --since today
journalctl -t sshd -S -1h
journalctl -o cat -u nginx -n 20
journalctl -b 0 -p warning..err
journalctl /usr/sbin/nginx
dmesg | cat
ps -ef --sort=start_time
ps -o pid= -C sshd
ps faux
ps -Lf 1
ps -eLf
ps aux -L
ps -eo user,pid,%cpu,%mem,etime,args --sort -%mem
lsof -i tcp:443 -sTCP:ESTABLISHED
lsof -t -i:8080
lsof -a -p 42 -d txt
lsof -nPi | cat
top -b -n 1 -H -p 42
top -n 1 -b -u www-data
iostat -x 1 3 sda
iostat -p sda -x
iostat -m -t 5 2
iostat --human
sar -A
sar -f /var/log/sa/sa10 -s 10:00:00 -e 11:00:00
sar -P ALL 1 1
sar -d -p 1 2
pidstat -C nginx 1 2
pidstat -p ALL
mpstat -o JSON 1 1
smartctl -x /dev/sda
smartctl -i -d megaraid,0 /dev/sda
virsh list
virsh domstats web1 --cpu-total
systemctl list-units --state=failed --no-legend
systemctl show -p Restart,RestartSec nginx
systemctl status 4242
systemctl is-enabled nginx sshd
systemctl list-sockets
systemctl status 'nginx*'
systemctl --type=service
systemd-analyze verify /etc/systemd/system/x.service
systemd-analyze calendar daily
resolvectl dns
resolvectl
loginctl user-status root
getent ahosts example.com
getent group docker
id www-data
who am i
last -F
w -h
uptime -s
mount -t nfs
findmnt -D
lsblk -d -o name,rota
blkid -s TYPE -o value /dev/sda1
nethogs -t -c 3 eth0
perf stat ls
perf sched latency
zpool list
zfs get all tank
zfs list -r tank
btrfs fi show
btrfs sub list -t /
ceph osd perf
ceph osd pool stats
ceph -f json-pretty status
ceph pg 1.2f query
qm status 100
pct config 101
lxc list -c ns
crontab -u root -l
at -l
hostnamectl --static
timedatectl show -p NTPSynchronized --value
numactl -s
nproc
slabtop -o -s c
vmstat -S M 1 2
vmstat -d
multipath -l
mdadm --query /dev/md0
fdisk -lu /dev/sda
parted /dev/sda unit s print
parted /dev/sda print free
xfs_info /dev/sda1
showmount -a
ausearch -k x -i
"#;
