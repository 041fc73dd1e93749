//! The system calls that a program which only reads needs; the kernel knows no others for it. Files are never created,
//! removed, renamed or marked, no namespace is entered, nothing is mounted, traced or loaded, and there is no `io_uring`,
//! which would go around all of this. What is not listed is answered as a kernel does that lacks it (`ENOSYS`), by which
//! programs fall back.

use std::collections::{BTreeMap, BTreeSet};

use libc::{ENOSYS, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use super::rules::Held;
use super::{Asks, Walls};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

/// Restricts this process for good.
pub(super) fn restrict(walls: &Walls, held: Held) -> Result<(), String> {
    let program = listed(walls, held).map_err(|error| format!("system calls: {error}"))?;
    seccompiler::apply_filter(&program).map_err(|error| format!("system calls: {error}"))
}

/// The filter that lets the listed calls pass.
fn listed(walls: &Walls, held: Held) -> Built<BpfProgram> {
    let mut rules = conditional()?;
    rules.insert(number(libc::SYS_socket), families(walls)?);
    if walls.asks == Asks::Processes {
        // The signal is the second argument, of `tgkill` the third; zero is none.
        rules.extend([
            (number(libc::SYS_kill), vec![all([is(1, 0)?])?]),
            (number(libc::SYS_tkill), vec![all([is(1, 0)?])?]),
            (number(libc::SYS_tgkill), vec![all([is(2, 0)?])?]),
        ]);
    }
    let refused = SeccompAction::Errno(ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?;
    let signals: &[c_long] = if held.signals && walls.asks != Asks::Processes { &SIGNALS } else { &[] };
    Ok(with_ranges(filter.try_into()?, PLAIN.iter().chain(OLD).chain(signals).copied()))
}

/// Lets whole ranges of calls pass before a filter looks at any other: of three numbers in a row, not each by itself. The
/// kernel goes through a new filter once for every call that there is, which is most of what it costs to set one.
fn with_ranges(mut program: BpfProgram, calls: impl Iterator<Item = c_long>) -> BpfProgram {
    let numbers: BTreeSet<u32> = calls.filter_map(|call| u32::try_from(call).ok()).collect();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let instruction =
        |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code.try_into().unwrap_or_default(), jt, jf, k };
    let checks = ranges.into_iter().flat_map(|(first, last)| {
        [
            instruction(libc::BPF_JMP | libc::BPF_JGE, 0, 2, first),
            instruction(libc::BPF_JMP | libc::BPF_JGT, 1, 0, last),
            instruction(libc::BPF_RET, 0, 0, libc::SECCOMP_RET_ALLOW),
        ]
    });
    // Behind the check of the kind of processor, where the number of the call has been loaded.
    let loaded =
        program.iter().position(|one| u32::from(one.code) == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS && one.k == 0);
    let at = loaded.map_or(program.len(), |at| at + 1);
    program.splice(at..at, checks);
    program
}

/// Calls that are harmless with certain arguments only.
fn conditional() -> Built<Rules> {
    let namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    let own = |place| is(place, 0);
    // The kind of a socket without its flags.
    let kind = |kind: i32| all([masked(1, 0xf, kind.unsigned_abs().into())?]);
    Ok(Rules::from([
        // A new process or thread, in no new namespace.
        (number(libc::SYS_clone), vec![all([masked(0, namespaces.unsigned_abs().into(), 0)?])?]),
        // Of itself, not of others.
        (number(libc::SYS_prlimit64), vec![all([own(0)?])?]),
        (number(libc::SYS_sched_setaffinity), vec![all([own(0)?])?]),
        (number(libc::SYS_setpriority), vec![all([own(0)?, own(1)?])?]),
        // `IOPRIO_WHO_PROCESS` is 1.
        (number(libc::SYS_ioprio_set), vec![all([is(0, 1)?, own(1)?])?]),
        // Two ends that cannot be taken elsewhere; one end of a datagram pair sends to any local socket.
        (number(libc::SYS_socketpair), vec![kind(libc::SOCK_STREAM)?, kind(libc::SOCK_SEQPACKET)?]),
        // Typing into a terminal, what else a console lets one do, and the owner of a file, whom the kernel signals.
        (
            number(libc::SYS_ioctl),
            vec![all([
                is_not(1, libc::TIOCSTI)?,
                is_not(1, libc::TIOCLINUX)?,
                is_not(1, FIOSETOWN)?,
                is_not(1, SIOCSPGRP)?,
            ])?],
        ),
        // The owner again, and the signal.
        (
            number(libc::SYS_fcntl),
            vec![all([
                is_not(1, libc::F_SETOWN.unsigned_abs().into())?,
                is_not(1, F_SETSIG)?,
                is_not(1, F_SETOWN_EX)?,
            ])?],
        ),
        // The kernel's log: read all, read and size; never cleared, never switched.
        (number(libc::SYS_syslog), [2, 3, 9, 10].into_iter().map(|what| all([is(0, what)?])).collect::<Built<_>>()?),
    ]))
}

/// The kinds of sockets that may be made.
fn families(walls: &Walls) -> Built<Vec<SeccompRule>> {
    let mut open = vec![libc::AF_NETLINK];
    if walls.network {
        open.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if !walls.sockets.is_empty() {
        open.push(libc::AF_UNIX);
    }
    open.into_iter().map(|family| all([is(0, family.unsigned_abs().into())?])).collect()
}

fn all<const N: usize>(conditions: [SeccompCondition; N]) -> Built<SeccompRule> {
    SeccompRule::new(conditions.into())
}

fn is(argument: u8, value: u64) -> Built<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Built<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Built<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)
}

/// The number as the filter counts.
#[expect(clippy::useless_conversion, reason = "where a long is shorter, it is one")]
fn number(call: c_long) -> i64 {
    i64::from(call)
}

/// Commands of `fcntl` and `ioctl` that name the process that the kernel signals for a file (`asm-generic/fcntl.h`,
/// `asm-generic/sockios.h`).
const F_SETSIG: u64 = 10;
const F_SETOWN_EX: u64 = 15;
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;

/// Where the kernel holds them to the sandbox's own processes.
const SIGNALS: [c_long; 3] = [libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill];

/// On every kind of processor.
const PLAIN: &[c_long] = &[
    // Files that are open, and memory.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_lseek,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_flock,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_copy_file_range,
    libc::SYS_pipe2,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_brk,
    libc::SYS_memfd_create,
    libc::SYS_membarrier,
    libc::SYS_mbind,
    libc::SYS_get_mempolicy,
    libc::SYS_set_mempolicy,
    // Files by their names.
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_umask,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    // Waiting.
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    // Time. Setting it takes a capability that is gone.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_times,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    // Processes, their own. None leaves its group or its session, so that all of them can be ended together.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_pidfd_open,
    libc::SYS_prctl,
    libc::SYS_seccomp,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
    libc::SYS_getpriority,
    libc::SYS_ioprio_get,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getattr,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getrusage,
    libc::SYS_getcpu,
    // The machine.
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrandom,
    // Sockets that `families` lets be made.
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
];

/// Older names of the same, which newer kinds of processors never had.
#[cfg(target_arch = "x86_64")]
const OLD: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_getdents,
    libc::SYS_pipe,
    libc::SYS_dup2,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_inotify_init,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_time,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[c_long] = &[];
