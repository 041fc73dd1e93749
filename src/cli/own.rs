//! Everything on this machine that belongs to the bot: the files that its configuration names, its data, and whatever starts
//! it. Collected in one place, once, at the start. What is refused because of it is decided by the gate `self` and by the
//! host's tool server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use countersign_core::env::OwnDeployment;

use crate::config::Config;
use crate::tools::program;

/// Where systemd looks for units, the first that has one wins.
const UNIT_DIRS: [&str; 8] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/etc/systemd/user",
    "/usr/local/lib/systemd/user",
    "/usr/lib/systemd/user",
];

/// The unit of this name is the bot's, whether it is there or not.
const UNIT: &str = "countersign";

/// What belongs to the bot, each by the name that it was given and by the one that it really has.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// Neither read nor written.
    pub(super) kept: Vec<PathBuf>,
    /// Not written.
    pub(super) programs: Vec<PathBuf>,
    /// The names of the services that are the bot.
    services: Vec<String>,
}

/// What says where the bot's own files are.
pub(super) struct OwnPlaces<'a> {
    pub(super) config: &'a Config,
    /// The configuration file, whether it is there or not.
    pub(super) config_file: PathBuf,
    /// The working directory, whose `.env` is read.
    pub(super) cwd: &'a Path,
    pub(super) data: &'a Path,
}

impl Own {
    /// Collects everything. Reads links and the unit that this process runs in. Fails where this program has no file.
    pub(super) fn collect(places: &OwnPlaces<'_>) -> anyhow::Result<Self> {
        let this_program = std::env::current_exe().context("failed to find this program's own file")?;
        let services = services(&this_program);
        let home = std::env::var_os("HOME").map(PathBuf::from);
        #[cfg(feature = "host")]
        let launcher = Some(this_program.with_file_name(countersign_sandbox::LAUNCHER));
        #[cfg(not(feature = "host"))]
        let launcher: Option<PathBuf> = None;
        let programs = std::iter::once(this_program)
            .chain(launcher)
            .chain(programs(places.config))
            .chain(services.iter().flat_map(|name| unit_files(name, home.as_deref())));
        Ok(Self { kept: by_both_names(kept(places)), programs: by_both_names(programs), services })
    }

    /// Returns what the core has to know. `machine` is the name of this machine in the ids of its services.
    pub(super) fn deployment(&self, machine: &str) -> OwnDeployment {
        let resources = self.services.iter().map(|name| format!("service:{machine}:{name}"));
        OwnDeployment { paths: self.kept.clone(), programs: self.programs.clone(), resources: resources.collect() }
    }
}

/// The configuration, whatever it names, and the data.
fn kept(places: &OwnPlaces<'_>) -> impl Iterator<Item = PathBuf> {
    let mut config = places.config.clone();
    let named: Vec<PathBuf> = config.paths_mut().map(|(_, path)| path.clone()).collect();
    let own = [places.config_file.clone(), places.cwd.join(".env"), places.data.to_owned()];
    own.into_iter().chain(named).chain(database(places))
}

/// The files of an `SQLite` database, wherever it is.
fn database(places: &OwnPlaces<'_>) -> Vec<PathBuf> {
    let Ok(url) = places.config.store.database_url(places.data) else { return Vec::new() };
    let file = url.expose().strip_prefix("sqlite:").map(|file| file.trim_start_matches("//"));
    let Some(file) = file.and_then(|file| file.split('?').next()).filter(|file| !file.is_empty()) else {
        return Vec::new();
    };
    ["", "-wal", "-shm", "-journal"].map(|end| PathBuf::from(format!("{file}{end}"))).into()
}

/// The programs of the tool servers, and the files among their arguments: scripts, and what those are told to read.
fn programs(config: &Config) -> impl Iterator<Item = PathBuf> {
    let servers = config.spokes.values().filter_map(|spoke| Some((spoke.command.as_deref()?, &spoke.args)));
    servers.flat_map(|(command, args)| {
        let args = args
            .iter()
            .map(|arg| arg.split_once('=').filter(|_| arg.starts_with('-')).map_or(arg.as_str(), |(_, value)| value));
        let files = args.map(PathBuf::from).filter(|file| file.is_absolute() && file.is_file());
        program(Path::new(command)).into_iter().chain(files).collect::<Vec<_>>()
    })
}

/// The services that start the bot: the one of its name, and the one that started this process.
fn services(this_program: &Path) -> Vec<String> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let started_by = service_of(&groups).filter(|name| {
        let program = this_program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let starts_it = |file: &Path| std::fs::read_to_string(file).is_ok_and(|text| starts(&text, &program));
        unit_files(name, None).any(|file| starts_it(&file))
    });
    let all: BTreeSet<String> = started_by.into_iter().map(str::to_owned).chain([UNIT.to_owned()]).collect();
    all.into_iter().collect()
}

/// The service of a process, by its control groups.
fn service_of(groups: &str) -> Option<&str> {
    let last = groups.lines().filter_map(|line| line.rsplit('/').next());
    last.filter_map(|last| last.strip_suffix(".service")).find(|name| !name.is_empty())
}

/// Whether a unit starts this program: its own processes may also run in somebody else's service, as in cron's.
fn starts(unit: &str, program: &str) -> bool {
    let starting = unit.lines().filter_map(|line| line.trim_start().strip_prefix("ExecStart"));
    starting.flat_map(str::split_whitespace).any(|word| word.rsplit(['/', '=', '-', '@']).next() == Some(program))
}

/// The files that a service of this name may be made of, whether they are there or not.
fn unit_files(name: &str, home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let own = home.map(|home| home.join(".config/systemd/user"));
    let dirs = UNIT_DIRS.into_iter().map(PathBuf::from).chain(own);
    let units: Vec<PathBuf> =
        dirs.flat_map(|dir| [dir.join(format!("{name}.service")), dir.join(format!("{name}.service.d"))]).collect();
    let scripts = [Path::new("/etc/init.d").join(name), Path::new("/etc/default").join(name)];
    units.into_iter().chain(scripts)
}

/// Each path as it was given, and as it really is. Of what is not there, its folder may have another name.
fn by_both_names(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let named: Vec<PathBuf> = paths.filter_map(|path| std::path::absolute(path).ok()).collect();
    let real = |path: &PathBuf| {
        let folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(folder)
    };
    let all: BTreeSet<PathBuf> = named.iter().filter_map(real).chain(named.iter().cloned()).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_of_a_process_is_the_last_of_its_groups() {
        let table = [
            ("0::/system.slice/countersign.service", Some("countersign")),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/bot.service", Some("bot")),
            ("0::/user.slice/user-1000.slice/session-3.scope", None),
            ("12:pids:/\n1:name=systemd:/system.slice/bot.service\n0::/", Some("bot")),
            ("", None),
        ];
        for (groups, service) in table {
            assert_eq!(service_of(groups), service, "{groups}");
        }
    }

    #[test]
    fn a_unit_starts_what_its_line_names() {
        for line in ["ExecStart=/opt/bin/countersign --config x", "ExecStartPre=-/usr/bin/env countersign"] {
            assert!(starts(&format!("[Service]\n{line}\n"), "countersign"), "{line}");
        }
        assert!(!starts("[Service]\nExecStart=/usr/sbin/cron -f\n# countersign\n", "countersign"));
    }

    #[test]
    fn everything_that_a_configuration_names_is_collected_by_both_names() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let home = dir.path().canonicalize().expect("it is there");
        let script = home.join("server.py");
        std::fs::write(&script, "").expect("it can be written");
        std::os::unix::fs::symlink(&home, home.join("link")).expect("a link can be made");
        let text = format!(
            "[store]\nurl = \"sqlite:{0}/link/state.db\"\n[access]\nfile = \"{0}/link/access.toml\"\n\
             [discord]\ntoken_file = \"{0}/token\"\n[credentials.shop]\nfile = \"{0}/shop.key\"\n\
             [spokes.shop]\ncommand = \"sh\"\nargs = [\"{0}/server.py\", \"--root={0}\", \"--config={0}/link/server.py\"]",
            home.display()
        );
        let config: Config = toml::from_str(&text).expect("it has the right form");
        let (config_file, data) = (home.join("bot.toml"), home.join("data"));
        let own =
            Own::collect(&OwnPlaces { config: &config, config_file, cwd: &home, data: &data }).expect("it is found");
        let kept: Vec<_> = [
            "bot.toml",
            ".env",
            "data",
            "state.db",
            "state.db-wal",
            "link/state.db",
            "access.toml",
            "link/access.toml",
            "token",
            "shop.key",
        ]
        .into_iter()
        .filter(|name| !own.kept.contains(&home.join(name)))
        .collect();
        assert_eq!(kept, Vec::<&str>::new(), "not kept; {:?}", own.kept);
        let shell = Path::new("/bin/sh").canonicalize().expect("there is a shell");
        let this = std::env::current_exe().expect("it has a file");
        for program in [&this, &script, &shell, Path::new("/etc/systemd/system/countersign.service")] {
            assert!(own.programs.iter().any(|known| known == program), "{} in {:?}", program.display(), own.programs);
        }
        assert!(!own.programs.contains(&home), "a folder among the arguments is nobody's program");
        assert!(own.deployment("web-1").resources.contains(&"service:web-1:countersign".to_owned()));
    }
}
