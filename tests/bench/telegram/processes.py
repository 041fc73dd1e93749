"""What a bot costs the machine, read from /proc: processor time, memory and threads of its whole process tree. Linux only.
How a bot is driven is in bench.py."""

import os

TICKS = os.sysconf("SC_CLK_TCK")


def read(path):
    """The file's text; nothing where the process has ended meanwhile."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def threads_of(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def tree(pid):
    """The process and everything that it has started, and so on."""
    found, open_ends = [], [pid]
    while open_ends:
        one = open_ends.pop()
        found.append(one)
        for thread in threads_of(one):
            open_ends += [int(child) for child in read(f"/proc/{one}/task/{thread}/children").split()]
    return found


def memory(pid):
    """Resident and proportional memory, in MiB."""
    kib = {"Rss": 0, "Pss": 0}
    for one in tree(pid):
        for line in read(f"/proc/{one}/smaps_rollup").splitlines():
            name, _, value = line.partition(":")
            if name in kib:
                kib[name] += int(value.split()[0])
    return {"rss_mib": round(kib["Rss"] / 1024, 2), "pss_mib": round(kib["Pss"] / 1024, 2)}


def cpu_seconds(pid):
    """Processor time so far, of user and system, in seconds; 10 ms fine."""
    ticks = 0
    for one in tree(pid):
        fields = read(f"/proc/{one}/stat").rpartition(")")[2].split()
        if fields:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS


def thread_count(pid):
    return sum(len(threads_of(one)) for one in tree(pid))
