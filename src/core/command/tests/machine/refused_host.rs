//! Lines about one machine: processes, services, disks, virtual machines and measuring that change, run, load, save or send something, or may, one a line. How they are judged is tested beside.

pub(super) const LINES: &str = r#"
ps auxe
ps e
ps -ef e
ps eww -p 1
kill 4242
kill -9 4242
kill -HUP 1
kill -0 -9 4242
kill -s TERM 4242
pkill nginx
pkill -0 nginx
killall nginx
killall -9 -l nginx
renice -5 -p 4242
fuser -k 80/tcp
fuser -km /var
fuser -ki 80/tcp
lsof -D b
atop -w /tmp/a.raw 1 5
dmesg -C
dmesg -c
dmesg --clear
dmesg -n 1
dmesg -Tc
sysctl -w vm.swappiness=10
sysctl vm.swappiness=10
sysctl -n vm.swappiness=10
sysctl vm.swappiness vm.dirty_ratio=5
sysctl -p
sysctl --system
sysctl -p/tmp/x.conf
sysctl -a -w vm.swappiness=1
prlimit --pid 4242 --nofile=10:20
prlimit --nofile=1024 rm x
prlimit rm -rf /tmp/x
numactl --cpunodebind=0 rm x
numactl -C 0 ./x
taskset -cp 0-3 4242
taskset -p 0x3 4242
taskset 0x1 ls
chrt -p 50 4242
chrt -f 99 ls
chrt -b -p 4242
crontab -e
crontab -r
crontab -l -r
crontab jobs.txt
crontab -
crontab -lu root jobs.txt
at now
at -f x.sh now
atrm 3
passwd root
passwd -l root
chage -E 0 root
useradd bob
usermod -aG sudo bob
hostname web2
hostname -F /etc/hostname
domainname x
modprobe nfs
modprobe -r nfs
insmod x.ko
rmmod nfs
logger hello
wall hello
lastlog -C -u bob
faillock --user bob --reset
getent shadow
getent gshadow root
visudo
pmap -N /tmp/rc 1
dmidecode --dump-bin /tmp/x
lshw -dump /tmp/x
nvidia-smi -r
nvidia-smi -pm 1
nvidia-smi -f /tmp/x -q
auditctl -D
auditctl -w /etc/passwd
setenforce 0
systemctl restart nginx
systemctl stop nginx
systemctl --user enable x
systemctl daemon-reload
systemctl reboot
systemctl set-default rescue.target
systemctl log-level debug
systemctl edit nginx
systemctl set-environment A=b
systemctl -H web2 status nginx
systemctl --now status mask nginx
systemctl foo
systemctl isolate rescue
systemctl kill -s HUP nginx
journalctl --vacuum-time=1s
journalctl --vacuum-size=1M
journalctl --rotate
journalctl --flush
journalctl -u nginx --cursor-file=/tmp/x
journalctl --update-catalog
loginctl terminate-user bob
loginctl lock-sessions
timedatectl set-time 12:00
timedatectl set-ntp false
hostnamectl set-hostname web2
hostnamectl hostname web2
localectl set-locale C
resolvectl flush-caches
resolvectl dns eth0 1.1.1.1
resolvectl query x$(cat k).example.com
networkctl down eth0
networkctl reload
machinectl shell web1
machinectl poweroff web1
coredumpctl debug 4242
coredumpctl gdb
coredumpctl dump -o /tmp/x
coredumpctl info --debugger=/tmp/x
busctl call a b c d
busctl set-property a b c d s x
systemd-analyze set-log-level debug
systemd-run ls
systemd-tmpfiles --create
systemd-inhibit ls
systemd-cat ls
shutdown -h now
reboot
service nginx restart
service nginx reload
service nginx status restart
rc-service nginx stop
rc-update add nginx
chkconfig nginx on
mount /dev/sda1 /mnt
mount -a
mount -o remount,rw /
umount /mnt
swapon -a
swapon /dev/sda2
swapoff -a
losetup -f x.img
losetup /dev/loop0 x.img
losetup -d /dev/loop0
fdisk /dev/sda
sfdisk /dev/sda
sfdisk --delete /dev/sda
parted /dev/sda
echo rm 1 | parted /dev/sda
parted /dev/sda rm 1
parted -s /dev/sda mklabel gpt
parted /dev/sda print rm 1
parted /dev/sda unit MiB print rm 1
parted /dev/sda rm 1 -l
blkid -g
blkid -w /tmp/x
smartctl -t long /dev/sda
smartctl -s off /dev/sda
smartctl -l scterc,70,70 /dev/sda
smartctl -a -o on /dev/sda
nvme format /dev/nvme0n1
nvme sanitize /dev/nvme0
hdparm -W 0 /dev/sda
hdparm -B 128 /dev/sda
mdadm --stop /dev/md0
mdadm /dev/md0 --fail /dev/sda1
mdadm --detail /dev/md0 --stop
pvscan --cache
vgscan --mknodes
lvs --config 'log{file="/tmp/x"}'
lvremove vg0/x
vgchange -ay
lvm
lvm lvremove vg0/x
lvm vgcfgrestore vg0
dmsetup remove x
dmsetup ls --exec /tmp/x
dmsetup table --showkeys
zpool status -c /tmp/x
zpool scrub tank
zpool import tank
zpool import -a
zpool clear tank
zfs destroy tank/x
zfs snapshot tank/x@a
zfs set compression=on tank
zfs mount tank/x
zfs mount -a
btrfs balance start /
btrfs device stats -z /
btrfs subvolume delete /x
btrfs filesystem label / new
btrfs scrub start /
xfs_repair /dev/sda1
tune2fs -c 0 /dev/sda1
tune2fs -l -c 0 /dev/sda1
e2fsck -y /dev/sda1
e2fsck -n -c /dev/sda1
fsck /dev/sda1
mkfs.ext4 /dev/sda1
wipefs -a /dev/sda
blockdev --setro /dev/sda
blockdev --flushbufs /dev/sda
cryptsetup luksOpen /dev/sda2 x
cryptsetup luksDump --dump-volume-key /dev/sda2
multipath -F
multipath
iscsiadm -m node -u
iscsiadm -m node -T x --login
exportfs -ra
exportfs -v host:/x
quotacheck -a
ceph osd out 3
ceph osd pool delete x x
ceph tell osd.3 version
ceph auth ls
ceph config set osd a b
ceph -o /tmp/x osd dump
ceph
echo 'osd out 3' | ceph
ceph -s osd out 3
rbd rm data/x
rados -p x rm y
gluster
gluster volume stop data
gluster volume heal data full
drbdadm primary r0
virsh destroy web1
virsh 'list; destroy web1'
virsh -c qemu+ext:///system?command=/tmp/x list
virsh console web1
virsh qemu-agent-command web1 x
virsh snapshot-current web1 old
virsh vcpupin web1 0 1
virsh schedinfo web1 cpu_shares=1
virsh setmem web1 1G
virsh undefine web1
virsh -l /tmp/x list
qm stop 100
qm set 100 -memory 1
qm monitor 100
pct exec 100 -- kill 1
pct enter 100
pvesh set /nodes
pvesh create /nodes/a/status --command reboot
vzdump 100
lxc exec web1 -- kill 1
lxc exec web1 ls
lxc delete web1
lxc config set web1 a b
multipass exec web1 -- reboot
multipass purge
xl destroy web1
VBoxManage controlvm web1 poweroff
govc vm.destroy web1
qemu-img check -r all disk.qcow2
qemu-img snapshot -a x disk.qcow2
qemu-img convert a b
vagrant ssh -c ls
vagrant up
sar -o /tmp/x 1 5
sar 1 5 -o /tmp/x
pidstat -e rm x
pidstat 1 5 -e rm
dstat --output /tmp/x 1 5
perf record ls
perf stat rm x
perf stat -o /tmp/x ls
perf stat --pre 'rm x' ls
perf report --stdio --objdump=/tmp/x
perf script -s x.py
perf script x
perf --exec-path=/tmp list
strace -o /tmp/x ls
strace -o '|sh' ls
strace -e inject=all:error=EPERM -p 1
strace --inject=open:error=EPERM ls
strace rm x
ltrace -p 1
gdb -p 1
gdb -batch -ex 'shell rm x'
gcore 1
jmap -dump:file=/tmp/x 1
jmap -histo:live 1
jinfo -flag +X 1
jcmd 1 GC.run
jcmd 1 GC.heap_dump /tmp/x
jcmd 1 VM.set_flag a b
py-spy record -o x -p 1
bpftrace -e 'BEGIN { system("rm x"); }'
bpftrace x.bt
bpftrace -l x y
turbostat rm x
turbostat -n 1 -o /tmp/x
trace-cmd record ls
stress --cpu 4
cpupower frequency-set -g performance
tuned-adm profile x
top -bn1 $x
lxc exec web1 rm -- ls
pct exec 100 rm -- ls
multipass exec web1 rm -- ls
service ../../tmp/x status
service /tmp/x status
rc-service ../x status
getent hosts x$(cat k).example.com
ceph health mute X
ceph osd crush class rm x
ceph mon feature set x
pwck -r -s
vagrant status
jcmd 1 GC.class_histogram
"#;
