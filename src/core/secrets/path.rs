//! Which files hold secrets, judged by their path alone: nothing is opened, and links are not followed. Errs on the side
//! of yes, in lower case, at any depth, so that `/proc/1/root/etc/shadow` and a copy in a container's layers count too.

/// Hashes that can be cracked at leisure.
const HASHES: &str = "password hashes";
/// A key that proves who one is.
const PRIVATE_KEY: &str = "private key";
/// Somebody's collection of passwords.
const PASSWORDS: &str = "password database";
/// Tokens and passwords of a program.
const CREDENTIALS: &str = "credentials";
/// Variables that a program starts with.
const ENV_FILE: &str = "environment file";
/// The same, of a running one.
const ENVIRON: &str = "environment of a process";
/// Everything that a program holds.
const MEMORY: &str = "process memory";
/// A way around the path of the file itself.
const OPEN_FILE: &str = "open file of a process";
/// Lines that people typed, passwords among them.
const HISTORY: &str = "shell history";
/// Keys to money.
const WALLET: &str = "wallet";
/// Who may become root.
const SUDO: &str = "sudo rules";
/// Tokens, approvals and audit of this program.
const OWN: &str = "the bot's own data";

/// A file by its last parts; `*` is any one part, and `*` at an edge of a part any characters there.
const FILES: &[(&str, &str)] = &[
    ("etc/shadow", HASHES),
    ("etc/gshadow", HASHES),
    ("etc/master.passwd", HASHES),
    ("security/opasswd", HASHES),
    (".htpasswd", HASHES),
    ("etc/sudoers", SUDO),
    ("etc/ssh/*_key", PRIVATE_KEY),
    ("ssh_host_*_key", PRIVATE_KEY),
    ("id_rsa*", PRIVATE_KEY),
    ("id_dsa*", PRIVATE_KEY),
    ("id_ecdsa*", PRIVATE_KEY),
    ("id_ed25519*", PRIVATE_KEY),
    ("identity.age", PRIVATE_KEY),
    ("secring.gpg", PRIVATE_KEY),
    ("*.key", PRIVATE_KEY),
    ("*.p8", PRIVATE_KEY),
    ("*.p12", PRIVATE_KEY),
    ("*.pfx", PRIVATE_KEY),
    ("*.pkcs12", PRIVATE_KEY),
    ("*.jks", PRIVATE_KEY),
    ("*.keystore", PRIVATE_KEY),
    ("*.ppk", PRIVATE_KEY),
    ("*.keytab", PRIVATE_KEY),
    ("*.kdb", PASSWORDS),
    ("*.kdbx", PASSWORDS),
    ("*.psafe3", PASSWORDS),
    ("*.keychain", PASSWORDS),
    ("*.keychain-db", PASSWORDS),
    ("key4.db", PASSWORDS),
    ("logins.json", PASSWORDS),
    ("login data", PASSWORDS),
    (".env", ENV_FILE),
    (".env.*", ENV_FILE),
    ("*.env", ENV_FILE),
    (".envrc", ENV_FILE),
    (".netrc", CREDENTIALS),
    ("_netrc", CREDENTIALS),
    (".pgpass", CREDENTIALS),
    (".my.cnf", CREDENTIALS),
    (".mylogin.cnf", CREDENTIALS),
    (".git-credentials", CREDENTIALS),
    (".vault-token", CREDENTIALS),
    (".npmrc", CREDENTIALS),
    (".pypirc", CREDENTIALS),
    (".dockercfg", CREDENTIALS),
    (".s3cfg", CREDENTIALS),
    (".boto", CREDENTIALS),
    (".aws/credentials", CREDENTIALS),
    (".cargo/credentials*", CREDENTIALS),
    (".gem/credentials", CREDENTIALS),
    (".composer/auth.json", CREDENTIALS),
    (".config/gh/hosts.yml", CREDENTIALS),
    (".docker/config.json", CREDENTIALS),
    (".gradle/gradle.properties", CREDENTIALS),
    (".kube/config*", CREDENTIALS),
    (".m2/settings.xml", CREDENTIALS),
    (".config/rclone/rclone.conf", CREDENTIALS),
    ("kubeconfig", CREDENTIALS),
    ("etc/kubernetes/*.conf", CREDENTIALS),
    ("k3s/k3s.yaml", CREDENTIALS),
    ("etc/ipsec.secrets", CREDENTIALS),
    ("etc/ppp/*-secrets", CREDENTIALS),
    ("etc/wpa_supplicant*.conf", CREDENTIALS),
    ("krb5cc_*", CREDENTIALS),
    ("*.tfstate", CREDENTIALS),
    ("*.tfstate.backup", CREDENTIALS),
    ("*.tfvars", CREDENTIALS),
    ("credentials.tfrc.json", CREDENTIALS),
    ("application_default_credentials.json", CREDENTIALS),
    ("wallet.dat", WALLET),
    ("solana/id.json", WALLET),
    ("*_history", HISTORY),
    ("*.history", HISTORY),
    ("proc/*/environ", ENVIRON),
    ("proc/*/task/*/environ", ENVIRON),
    ("proc/*/mem", MEMORY),
    ("proc/*/task/*/mem", MEMORY),
    ("proc/kcore", MEMORY),
    ("dev/mem", MEMORY),
    ("dev/kmem", MEMORY),
    ("dev/port", MEMORY),
    ("proc/*/fd/*", OPEN_FILE),
    ("proc/*/task/*/fd/*", OPEN_FILE),
    ("proc/*/map_files/*", OPEN_FILE),
    ("dev/fd/*", OPEN_FILE),
    ("countersign.toml", OWN),
    ("countersign.db*", OWN),
];

/// A folder and everything in it.
const FOLDERS: &[(&str, &str)] = &[
    (".gnupg", PRIVATE_KEY),
    ("etc/ssl/private", PRIVATE_KEY),
    ("etc/pki/tls/private", PRIVATE_KEY),
    ("etc/letsencrypt/keys", PRIVATE_KEY),
    ("etc/wireguard", PRIVATE_KEY),
    (".password-store", PASSWORDS),
    (".local/share/keyrings", PASSWORDS),
    (".aws/sso", CREDENTIALS),
    (".azure", CREDENTIALS),
    (".config/gcloud", CREDENTIALS),
    ("run/secrets", CREDENTIALS),
    ("run/credentials", CREDENTIALS),
    ("etc/credstore", CREDENTIALS),
    ("etc/credstore.encrypted", CREDENTIALS),
    ("secrets/kubernetes.io", CREDENTIALS),
    ("volumes/kubernetes.io~secret", CREDENTIALS),
    ("networkmanager/system-connections", CREDENTIALS),
    ("etc/sudoers.d", SUDO),
    (".bitcoin/wallets", WALLET),
    (".electrum/wallets", WALLET),
    (".ethereum/keystore", WALLET),
    ("var/lib/systemd/coredump", MEMORY),
    ("var/crash", MEMORY),
    ("var/lib/countersign", OWN),
    ("etc/countersign", OWN),
    (".local/share/countersign", OWN),
];

/// What is left of a file when an editor or a packager keeps its former state.
const BACKUPS: [&str; 21] = [
    "~",
    "-",
    ".bak",
    ".bak1",
    ".bak2",
    ".backup",
    ".copy",
    ".old",
    ".orig",
    ".save",
    ".save1",
    ".save2",
    ".swp",
    ".swo",
    ".tmp",
    ".gz",
    ".xz",
    ".bz2",
    ".dpkg-old",
    ".rpmsave",
    ".rpmnew",
];

/// Endings that are public by nature, whatever the rest of the name says.
const PUBLIC: [&str; 5] = [".pub", ".crt", ".cer", ".csr", ".crl"];

/// Files of `.ssh` that are no keys.
const SSH_HARMLESS: [&str; 6] = ["authorized_keys", "config", "environment", "known_hosts", "known_hosts2", "rc"];

/// What kind of secret the file at this path holds; none where nothing about the path says so.
pub fn secret_path(path: &str) -> Option<&'static str> {
    let lower = path.trim().to_lowercase().replace('\\', "/");
    let parts = plain_parts(&lower);
    folder_class(&parts).or_else(|| {
        // A backup of a backup is one: every ending comes off, and each name on the way is looked at.
        let mut names = std::iter::successors(Some(parts.clone()), |parts| without_backup(parts));
        names.find_map(|parts| file_class(&parts))
    })
}

/// The parts of a path without `.`, empty parts and what `..` undoes.
fn plain_parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts
}

fn folder_class(parts: &[&str]) -> Option<&'static str> {
    FOLDERS.iter().find_map(|(folder, class)| {
        let folder: Vec<&str> = folder.split('/').collect();
        parts.windows(folder.len()).any(|window| window == folder).then_some(*class)
    })
}

fn file_class(parts: &[&str]) -> Option<&'static str> {
    let (name, folders) = parts.split_last()?;
    if PUBLIC.iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    let in_ssh = folders.contains(&".ssh");
    if in_ssh && !SSH_HARMLESS.contains(name) {
        return Some(PRIVATE_KEY);
    }
    if is_like(name, "*.pem") && !is_certificate(name, folders) {
        return Some(PRIVATE_KEY);
    }
    FILES.iter().find(|(pattern, _)| ends_as(parts, pattern)).map(|(_, class)| *class)
}

/// A PEM file may hold either; its name and its folder are all there is to go by, and a mention of a key decides.
fn is_certificate(name: &str, folders: &[&str]) -> bool {
    let names_key = name.contains("key") || name.contains("priv");
    let names_certificate = ["ca.", "ca-", "cacert", "cert", "chain", "bundle", "public", "dhparam", "root"]
        .iter()
        .any(|word| name.contains(word));
    !names_key && (names_certificate || folders.iter().any(|folder| folder.contains("cert")))
}

fn ends_as(parts: &[&str], pattern: &str) -> bool {
    let mut parts = parts.iter().rev();
    pattern.rsplit('/').all(|wanted| parts.next().is_some_and(|part| is_like(part, wanted)))
}

/// Whether a part is like a pattern with at most one `*`.
fn is_like(part: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        None => part == wanted,
        Some((head, tail)) => part.len() >= head.len() + tail.len() && part.starts_with(head) && part.ends_with(tail),
    }
}

fn without_backup<'a>(parts: &[&'a str]) -> Option<Vec<&'a str>> {
    let (name, folders) = parts.split_last()?;
    let numbered = || name.rsplit_once('.').filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let original =
        BACKUPS.iter().find_map(|ending| name.strip_suffix(ending)).or_else(|| numbered().map(|(name, _)| name))?;
    // Vim keeps the state of `x` in `.x.swp`.
    let original = if is_like(name, ".*.swp") { original.strip_prefix('.').unwrap_or(original) } else { original };
    Some(folders.iter().copied().chain([original]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_are_told_by_their_path() {
        let table = [
            ("/etc/shadow", HASHES),
            ("/etc//./shadow/", HASHES),
            ("/etc/ssl/../shadow", HASHES),
            ("/etc/shadow-", HASHES),
            ("/etc/shadow.bak", HASHES),
            ("/etc/.shadow.swp", HASHES),
            ("/proc/1/root/etc/gshadow", HASHES),
            ("/var/lib/docker/overlay2/ab/merged/etc/shadow", HASHES),
            ("/etc/sudoers", SUDO),
            ("/etc/sudoers.d/ops", SUDO),
            ("/etc/ssh/ssh_host_ed25519_key", PRIVATE_KEY),
            ("/etc/ssh/my_key", PRIVATE_KEY),
            ("/home/a/.ssh/id_ed25519", PRIVATE_KEY),
            ("/home/a/.ssh/deploy", PRIVATE_KEY),
            ("C:\\Users\\A\\.SSH\\ID_RSA", PRIVATE_KEY),
            ("/srv/backup/id_rsa.old", PRIVATE_KEY),
            ("/srv/tls/server.pem", PRIVATE_KEY),
            ("/etc/letsencrypt/live/x/privkey.pem", PRIVATE_KEY),
            ("/srv/cert-key.pem", PRIVATE_KEY),
            ("/srv/tls/SERVER.KEY", PRIVATE_KEY),
            ("/srv/a.p12", PRIVATE_KEY),
            ("/srv/a.pfx", PRIVATE_KEY),
            ("/srv/a.jks", PRIVATE_KEY),
            ("/root/.gnupg/pubring.kbx", PRIVATE_KEY),
            ("/etc/krb5.keytab", PRIVATE_KEY),
            ("/home/a/vault.kdbx", PASSWORDS),
            ("/srv/app/.env", ENV_FILE),
            ("/srv/app/.env.production", ENV_FILE),
            ("/srv/app/prod.env", ENV_FILE),
            ("/root/.netrc", CREDENTIALS),
            ("/root/.pgpass", CREDENTIALS),
            ("/root/.git-credentials", CREDENTIALS),
            ("/root/.aws/credentials", CREDENTIALS),
            ("/root/.kube/config", CREDENTIALS),
            ("/root/.docker/config.json", CREDENTIALS),
            ("/root/.config/gcloud/access_tokens.db", CREDENTIALS),
            ("/root/.vault-token", CREDENTIALS),
            ("/root/.npmrc", CREDENTIALS),
            ("/root/.pypirc", CREDENTIALS),
            ("/var/run/secrets/kubernetes.io/serviceaccount/token", CREDENTIALS),
            ("/run/secrets/db", CREDENTIALS),
            ("/srv/infra/terraform.tfstate", CREDENTIALS),
            ("/srv/infra/terraform.tfstate.backup", CREDENTIALS),
            ("/home/a/.bitcoin/wallet.dat", WALLET),
            ("/root/.bash_history", HISTORY),
            ("/proc/812/environ", ENVIRON),
            ("/proc/self/task/3/environ", ENVIRON),
            ("/proc/812/mem", MEMORY),
            ("/proc/kcore", MEMORY),
            ("/dev/mem", MEMORY),
            ("/proc/812/fd/3", OPEN_FILE),
            ("/var/lib/countersign/state.db", OWN),
            ("/etc/countersign/countersign.toml", OWN),
        ];
        for (path, class) in table {
            assert_eq!(secret_path(path), Some(class), "{path}");
        }
    }

    #[test]
    fn other_files_are_not() {
        let table = [
            "",
            "/",
            "..",
            "/etc/passwd",
            "/etc/hosts",
            "/etc/nginx/nginx.conf",
            "/etc/ssh/sshd_config",
            "/etc/ssh/ssh_host_ed25519_key.pub",
            "/home/a/.ssh",
            "/home/a/.ssh/id_ed25519.pub",
            "/home/a/.ssh/known_hosts",
            "/home/a/.ssh/authorized_keys",
            "/home/a/.ssh/config",
            "/etc/ssl/certs/ca-certificates.crt",
            "/etc/ssl/certs/GlobalSign.pem",
            "/etc/letsencrypt/live/x/fullchain.pem",
            "/etc/letsencrypt/live/x/cert.pem",
            "/proc/812/status",
            "/proc/meminfo",
            "/proc/812/cmdline",
            "/dev/memory",
            "/var/log/syslog",
            "/var/log/shadow.log",
            "/srv/shadow",
            "/srv/app/environment.rb",
            "/srv/app/keyboard.rs",
            "/srv/app/monkey",
            "/var/lib/countersigned",
            "/srv/docs/id_list.txt",
            "/home/a/.config/user-dirs.dirs",
        ];
        for path in table {
            assert_eq!(secret_path(path), None, "{path}");
        }
    }
}
