//! The sections about tool servers and what they start: `[spokes.NAME]`, `[run]`, `[egress]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use countersign_core::egress::Destinations;
use serde::{Deserialize, Serialize};

use super::credentials::variable_of_credential;
use super::error::Problem;

/// Where tools and commands may send anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Egress {
    /// Host names, `*.suffix`, IP addresses and networks, each also with a port. Default none: nowhere.
    pub allow: Vec<String>,
}

impl Egress {
    /// Returns the allowed destinations, or the first entry that is none.
    pub fn destinations(&self) -> Result<Destinations, Problem> {
        Destinations::parse(&self.allow).map_err(|error| Problem::new("egress.allow", error.to_string()))
    }
}

/// How commands run that people type, and every other program that only reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Whether a command runs where its sandbox cannot be built. Default: it does not.
    pub sandbox: SandboxMode,
    /// Files and folders that no command sees, beside the usual places of secrets. Default none.
    pub hide: Vec<PathBuf>,
    /// Files and folders in `/etc`, `/run` and `/boot` that are shown although not everyone on this machine may read them.
    /// Default none.
    pub show: Vec<PathBuf>,
}

/// What becomes of a command whose sandbox cannot be built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// It does not run.
    #[default]
    Required,
    /// It runs with what this machine gives of it.
    BestEffort,
}

/// The built-in spokes that this version has, and whether they are in this build. The feature has the spoke's name.
pub(super) const BUILT_IN: &[(&str, bool)] = &[("host", cfg!(feature = "host"))];

/// One tool server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spoke {
    /// Whether its tools are offered. Default true.
    pub enabled: bool,
    /// The program to run: a name on the PATH, or an absolute path. Unset: this binary, with `spoke NAME`.
    pub command: Option<String>,
    /// Its arguments, only together with `command`. Default none.
    pub args: Vec<String>,
    /// Names of environment variables that are passed on, and `VARIABLE=secret:NAME` for one that holds a credential; it sees
    /// no others. Default none.
    pub env: Vec<String>,
}

impl Default for Spoke {
    fn default() -> Self {
        Self { enabled: true, command: None, args: Vec::new(), env: Vec::new() }
    }
}

impl Spoke {
    /// Returns what is wrong with the section of this name, given the built-in spokes and the configured credentials.
    pub(super) fn validate(&self, name: &str, built_in: &[(&str, bool)], credentials: &[&str]) -> Result<(), Problem> {
        Self::validate_name(name)?;
        if self.enabled {
            self.validate_command(name, built_in)?;
        }
        if self.args.iter().any(|arg| arg.contains("secret:")) {
            let problem = "names a credential, and everybody on this machine can read a program's arguments; \
                           give it in `env`, as `VARIABLE=secret:NAME`";
            return Err(Problem::new(format!("spokes.{name}.args"), problem));
        }
        self.validate_env(name, credentials)
    }

    /// Returns the variables that are passed on, and those that hold a credential, each with the credential's name.
    pub fn variables(&self) -> (Vec<String>, BTreeMap<String, String>) {
        let (named, plain): (Vec<_>, Vec<_>) = self.env.iter().partition(|entry| entry.contains('='));
        let named = named.into_iter().filter_map(|entry| variable_of_credential(entry));
        let secrets = named.map(|(variable, name)| (variable.to_owned(), name.to_owned())).collect();
        (plain.into_iter().cloned().collect(), secrets)
    }

    fn validate_name(name: &str) -> Result<(), Problem> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        if name.len() <= 32 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain) {
            return Ok(());
        }
        let problem = "is not a name for a spoke; use up to 32 small letters, digits, `_` and `-`, a letter first";
        Err(Problem::new(format!("spokes.{name}"), problem))
    }

    fn validate_command(&self, name: &str, built_in: &[(&str, bool)]) -> Result<(), Problem> {
        let key = |last: &str| format!("spokes.{name}{last}");
        let Some(command) = &self.command else {
            return match built_in.iter().find(|(known, _)| *known == name) {
                Some((_, true)) if self.args.is_empty() => Ok(()),
                Some((_, true)) => Err(Problem::new(key(".args"), format!("needs `{}`", key(".command")))),
                Some((_, false)) => Err(Problem::new(
                    key(""),
                    format!("is enabled, but this build has no {name} spoke; build with --features {name}"),
                )),
                None => Err(Problem::new(
                    key(""),
                    format!("is not a spoke of this version; set `{}` to the program to run", key(".command")),
                )),
            };
        };
        let relative = Path::new(command).is_relative() && command.contains(std::path::is_separator);
        if command.is_empty() || relative {
            return Err(Problem::new(key(".command"), "must be a program's name on the PATH or an absolute path"));
        }
        Ok(())
    }

    /// A spoke runs without our own credentials, so that a name of ours cannot be passed on.
    fn validate_env(&self, name: &str, credentials: &[&str]) -> Result<(), Problem> {
        let key = format!("spokes.{name}.env");
        for entry in &self.env {
            let (variable, credential) =
                variable_of_credential(entry).map_or((entry.as_str(), None), |(variable, name)| (variable, Some(name)));
            if let Some(unknown) = credential.filter(|name| !credentials.contains(name)) {
                let problem =
                    format!("names `secret:{unknown}`, which is not configured; add `[credentials.{unknown}]`");
                return Err(Problem::new(key, problem));
            }
            let plain = variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if variable.is_empty() || !plain {
                return Err(Problem::new(key, "must list names of variables, or `VARIABLE=secret:NAME`"));
            }
            if variable.to_ascii_uppercase().starts_with("COUNTERSIGN_") {
                return Err(Problem::new(key, format!("lists {variable}; the bot's own variables are not passed on")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sections::tests::said;
    use super::*;

    #[test]
    fn a_spoke_that_this_build_lacks_names_the_feature() {
        let spoke = Spoke::default();
        insta::assert_snapshot!(said(spoke.validate("host", &[("host", false)], &[])),
            @"`spokes.host` is enabled, but this build has no host spoke; build with --features host");
        assert_eq!(spoke.validate("host", &[("host", true)], &[]), Ok(()));
        let off = Spoke { enabled: false, ..Spoke::default() };
        assert_eq!(off.validate("host", &[("host", false)], &[]), Ok(()), "what is switched off may be missing");
        insta::assert_snapshot!(said(spoke.validate("dokcer", BUILT_IN, &[])),
            @"`spokes.dokcer` is not a spoke of this version; set `spokes.dokcer.command` to the program to run");
    }

    #[test]
    fn a_spoke_of_ones_own_needs_a_program_that_can_be_found() {
        let own = |command: &str| Spoke { command: Some(command.to_owned()), ..Spoke::default() };
        assert_eq!(own("my-spoke").validate("mine", BUILT_IN, &[]), Ok(()));
        assert_eq!(own("/opt/my-spoke").validate("mine", BUILT_IN, &[]), Ok(()));
        insta::assert_snapshot!(said(own("./my-spoke").validate("mine", BUILT_IN, &[])),
            @"`spokes.mine.command` must be a program's name on the PATH or an absolute path");
        insta::assert_snapshot!(said(own("my-spoke").validate("My spoke", BUILT_IN, &[])),
            @"`spokes.My spoke` is not a name for a spoke; use up to 32 small letters, digits, `_` and `-`, a letter first");
    }

    #[test]
    fn a_spoke_gets_names_of_variables_and_none_of_ours() {
        let passing = |name: &str| Spoke {
            command: Some("x".to_owned()),
            env: vec!["SSH_AUTH_SOCK".to_owned(), name.to_owned()],
            ..Spoke::default()
        };
        assert_eq!(passing("KUBECONFIG").validate("mine", BUILT_IN, &[]), Ok(()));
        insta::assert_snapshot!(said(passing("countersign_store__url").validate("mine", BUILT_IN, &[])),
            @"`spokes.mine.env` lists countersign_store__url; the bot's own variables are not passed on");
        insta::assert_snapshot!(said(passing("A=b").validate("mine", BUILT_IN, &[])),
            @"`spokes.mine.env` must list names of variables, or `VARIABLE=secret:NAME`");
    }
}
