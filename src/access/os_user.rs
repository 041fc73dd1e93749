//! The operating system's user who runs this process. Linux: the id is that of `/proc/self`, the name that of
//! `/etc/passwd`; the name is decoration.

use std::os::unix::fs::MetadataExt;

use anyhow::Context;

/// Who runs this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsUser {
    /// The numeric id.
    pub uid: u32,
    /// The name, or the id where there is none.
    pub name: String,
}

impl OsUser {
    /// Asks the operating system. Reads `/proc/self` and `/etc/passwd`.
    pub fn of_this_process() -> anyhow::Result<Self> {
        let uid = std::fs::metadata("/proc/self").context("failed to find out which user runs this")?.uid();
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let name = name_in(&passwd, uid).unwrap_or_else(|| uid.to_string());
        Ok(Self { uid, name })
    }
}

fn name_in(passwd: &str, uid: u32) -> Option<String> {
    let uid = uid.to_string();
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id == uid).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_belongs_to_the_id() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\n";
        assert_eq!(name_in(passwd, 1000).as_deref(), Some("ann"));
        assert_eq!(name_in(passwd, 1001), None);
        assert!(OsUser::of_this_process().is_ok());
    }
}
