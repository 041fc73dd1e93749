//! Places in which a changed file decides more than what is in it: the table of `config/places.toml`, and what a team adds to
//! it. A change in such a place is of high risk, whatever its action declares. Paths are compared as they are given, so that
//! links must have been followed.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Risk;
use crate::env::Env;
use crate::resource::ResourceId;
use crate::tool::{ActionSpec, ArgKind, toml_problem};

/// The places that are known. Without any of them the declared risk of an action counts.
#[derive(Clone, Debug, Default)]
pub struct Places {
    globs: GlobSet,
    /// Of each pattern, why its place decides more.
    whys: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "place")]
    places: Vec<Place>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    why: String,
    paths: Vec<String>,
}

impl Places {
    /// Reads files of places, each given as (name, content). A later file adds to an earlier one.
    ///
    /// # Errors
    ///
    /// The file, and what is wrong in it.
    pub fn load<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let (mut globs, mut whys) = (GlobSetBuilder::new(), Vec::new());
        for (name, text) in files {
            let wrong = |problem: String| format!("{name}: {problem}");
            let file: File = toml::from_str(text).map_err(|error| wrong(toml_problem(text, &error)))?;
            for (nth, Place { why, paths }) in (1..).zip(file.places) {
                if why.trim().is_empty() || paths.is_empty() {
                    return Err(wrong(format!("place {nth}: say `why`, and give it `paths`")));
                }
                for path in paths {
                    if !path.starts_with('/') && !path.starts_with("**/") {
                        return Err(wrong(format!("place {nth}: `{path}` must begin with `/` or `**/`")));
                    }
                    let glob = GlobBuilder::new(&path).literal_separator(true).build();
                    globs.add(glob.map_err(|error| wrong(format!("place {nth}: {error}")))?);
                    whys.push(why.clone());
                }
            }
        }
        let globs = globs.build().map_err(|error| format!("the places are too many: {error}"))?;
        Ok(Self { globs, whys })
    }

    /// Returns why a change of the file at this path is of high risk; `None` where its place says nothing of it.
    pub fn why(&self, path: &str) -> Option<&str> {
        // Another spelling is the same path: `/etc/./x`, `/etc//x`.
        let plain: PathBuf = Path::new(path).components().collect();
        self.whys.get(*self.globs.matches(plain).first()?).map(String::as_str)
    }
}

/// Returns the risk of a change, and why, where its place makes it more than its action declares.
pub(crate) fn risk_of<'a>(
    declared: Risk,
    (spec, target, args): (&ActionSpec, &ResourceId, &Map<String, Value>),
    env: &Env<'a>,
) -> (Risk, Option<&'a str>) {
    let file = (target.kind() == "file").then(|| ResourceId::unescape(target.uid()));
    let named =
        spec.args.iter().filter(|(_, arg)| arg.kind == ArgKind::Path).filter_map(|(name, _)| args.get(name)?.as_str());
    let why = file.as_deref().into_iter().chain(named).find_map(|path| env.places.why(path));
    (why.map_or(declared, |_| Risk::High), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../../config/places.toml");

    fn shipped() -> Places {
        Places::load([("places.toml", SHIPPED)]).expect("the shipped places are sound")
    }

    /// Why, and paths of which that is so.
    const HIGH: &str = "
        cron runs it: /etc/cron.d/backup /etc/crontab /etc/cron.daily/x /var/spool/cron/crontabs/root
        systemd starts what it names: /etc/systemd/system/nginx.service
        systemd starts what it names: /etc/systemd/system/nginx.service.d/override.conf
        systemd starts what it names: /usr/lib/systemd/system-generators/x
        systemd starts what it names: /home/ann/.config/systemd/user/x.timer /etc/tmpfiles.d/x.conf
        the machine reads it at boot: /etc/init.d/nginx /etc/rc.local /etc/rc3.d/S01x /etc/fstab /etc/crypttab
        the machine reads it at boot: /boot/grub/grub.cfg /etc/default/grub /etc/default/nginx
        the machine reads it at boot: /etc/modprobe.d/x.conf /etc/modules /etc/sysctl.conf /etc/sysctl.d/99.conf
        the machine reads it at boot: /etc/kernel/postinst.d/x /etc/initramfs-tools/hooks/x /lib/modprobe.d/x
        the kernel's devices start it: /etc/udev/rules.d/99-x.rules /usr/lib/udev/rules.d/x.rules
        every login reads it: /etc/profile /etc/profile.d/x.sh /etc/bash.bashrc /etc/environment /root/.bashrc
        every login reads it: /home/ann/.profile /srv/people/ann/.zshrc /etc/skel/.bashrc
        every login reads it: /home/ann/.config/fish/config.fish
        it decides who may log in: /etc/passwd /etc/group /etc/shadow /etc/pam.d/sshd /etc/nsswitch.conf
        it decides who may log in: /etc/shells /etc/ssh/sshd_config /etc/ssh/sshd_config.d/x.conf
        it decides who may log in: /root/.ssh/authorized_keys /home/ann/.ssh/authorized_keys2 /etc/hosts.allow
        it decides who may log in: /etc/hosts.deny /etc/security/limits.conf
        it decides who may log in: /etc/postgresql/16/main/pg_hba.conf
        a program reads it at each start, and may run what it names: /root/.psqlrc /home/ann/.sqliterc /etc/wgetrc
        a program reads it at each start, and may run what it names: /usr/share/vim/vim90/plugin/x.vim
        the machine is put together again from it: /var/backups/passwd.bak /vmlinuz
        it decides who may act as root: /etc/sudoers /etc/sudoers.d/ann /etc/polkit-1/rules.d/x.rules
        it decides who may act as root: /etc/dbus-1/system.d/x.conf
        every program loads it: /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/x.conf
        every program loads it: /usr/lib/x86_64-linux-gnu/libc.so.6 /lib/x86_64-linux-gnu/libc.so.6
        every program loads it: /lib64/ld-linux.so /usr/local/lib/x.so /usr/lib/python3/dist-packages/x.py
        it is a program, or names one: /usr/bin/ls /bin/sh /sbin/init /usr/local/sbin/x /opt/shop/bin/start
        it is a program, or names one: /home/ann/.local/bin/x
        the package manager runs or installs what it names: /etc/apt/apt.conf.d/99x /etc/apt/sources.list
        the package manager runs or installs what it names: /var/lib/dpkg/info/x.postinst
        the package manager runs or installs what it names: /etc/yum.repos.d/x.repo
        logs are handed to what it names: /etc/logrotate.d/nginx /etc/logrotate.conf /etc/rsyslog.d/x.conf
        it decides where names and packets lead: /etc/hosts /etc/resolv.conf /etc/network/if-up.d/x
        it decides where names and packets lead: /etc/netplan/x.yaml
        it decides what is trusted: /etc/ssl/certs/x.pem /usr/local/share/ca-certificates/x.crt
        git runs it or what it names: /srv/app/.git/hooks/post-merge /srv/app/.git/config
        git runs it or what it names: /srv/git/app.git/hooks/update /root/.gitconfig
        a service that runs as root starts what it names: /etc/xinetd.d/x /etc/docker/daemon.json
        mail for an account can start what it names: /etc/aliases /home/ann/.forward";

    #[test]
    fn what_starts_programs_or_decides_who_may_log_in_is_high_risk() {
        let places = shipped();
        for (why, paths) in HIGH.lines().filter_map(|line| line.trim().split_once(": ")) {
            for path in paths.split(' ') {
                assert_eq!(places.why(path), Some(why), "{path}");
                assert_eq!(
                    places.why(&format!("/.{}", path.replace('/', "//./"))),
                    Some(why),
                    "{path}, written otherwise"
                );
            }
        }
    }

    #[test]
    fn the_configuration_of_an_application_is_as_risky_as_declared() {
        let places = shipped();
        for path in [
            "/etc/nginx/nginx.conf",
            "/etc/postgresql/16/main/postgresql.conf",
            "/srv/app/config.toml",
            "/var/www/index.html",
            "/opt/shop/shop.toml",
            "/home/ann/notes.txt",
            "/etc/cron",
            "/etc/crontab.txt",
            "/etc/passwd.txt",
            "/tmp/x",
            "/srv/app/.env",
            "/home/ann/bashrc",
            "/etc/prometheus/prometheus.yml",
            "/etc/motd",
            "/etc/bashful/app.conf",
            "/srv/etc/cron.d/x",
        ] {
            assert_eq!(places.why(path), None, "{path}");
        }
    }

    #[test]
    fn a_team_adds_places_and_takes_none_away() {
        let team = "[[place]]\nwhy = \"it is the shop's till\"\npaths = [\"/srv/till/**\", \"/etc/cron.d/*\"]\n";
        let places = Places::load([("places.toml", SHIPPED), ("team.toml", team)]).expect("both are sound");
        assert_eq!(places.why("/srv/till/a/b"), Some("it is the shop's till"));
        assert_eq!(places.why("/etc/cron.d/x"), Some("cron runs it"));
        let wrong = |text: &str| Places::load([("team.toml", text)]).expect_err("it is not sound");
        let said = [
            wrong("[[place]]\nwhy = \"x\"\npaths = [\"etc/x\"]"),
            wrong("[[place]]\nwhy = \"\"\npaths = [\"/x\"]"),
            wrong("[[place]]\nwhy = \"x\"\npaths = [\"/{x\"]"),
            wrong("[[place]]\nwyh = \"x\""),
        ];
        insta::assert_snapshot!(said.join("\n"), @r"
        team.toml: place 1: `etc/x` must begin with `/` or `**/`
        team.toml: place 1: say `why`, and give it `paths`
        team.toml: place 1: error parsing glob '/{x': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
        team.toml: line 2: unknown field `wyh`, expected `why` or `paths`
        ");
    }
}
