//! `NAME=value` before a program: which of them only change how it prints. A program finds all of them in its
//! environment, and many programs run or load what such a variable names, so that only these few are taken.

use super::judgement::Finding;
use super::script::Word;

/// Language, time zone, width, colour, and where to connect for a tool whose credentials come with it.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "COLUMNS",
    "LINES",
    "TERM",
    "NO_COLOR",
    "CLICOLOR",
    "FORCE_COLOR",
    "SYSTEMD_COLORS",
    "SYSTEMD_LESS",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_DEFAULT_OUTPUT",
    "PGCONNECT_TIMEOUT",
    "PGHOST",
    "PGPORT",
    "PGUSER",
    "PGDATABASE",
    "PGPASSWORD",
    "PGAPPNAME",
    "MYSQL_PWD",
    "REDISCLI_AUTH",
    "HELM_NAMESPACE",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "CLOUDSDK_CORE_PROJECT",
    "CLOUDSDK_CORE_DISABLE_PROMPTS",
    "TIMEFORMAT",
    "BLOCK_SIZE",
    "BLOCKSIZE",
    "LS_COLORS",
    "GREP_COLORS",
    "GREP_COLOR",
    "TIME_STYLE",
    "ETCDCTL_API",
    "KUBECTL_EXTERNAL_DIFF_OFF",
    "DOCKER_CLI_HINTS",
];

/// Programs that show a page; only these two do nothing.
const PAGERS: &[&str] =
    &["PAGER", "GIT_PAGER", "SYSTEMD_PAGER", "MANPAGER", "AWS_PAGER", "PSQL_PAGER", "BAT_PAGER", "DELTA_PAGER"];

/// What a setting before a program does.
pub(super) fn judge(name: &str, value: &Word) -> Finding {
    if let Word::Unseen(unseen) = value {
        return Finding::unknown(format!("sets {name} to `{}`, which nobody has seen", unseen.text));
    }
    let harmless = name.starts_with("LC_") || HARMLESS.contains(&name);
    let no_pager = PAGERS.contains(&name) && matches!(value.known(), Some("" | "cat" | "/bin/cat" | "/usr/bin/cat"));
    if harmless || no_pager {
        return Finding::reads();
    }
    Finding::unknown(format!("sets {name} for the program, which may run or load what it names"))
}
