//! The database's URL as a text: where it holds a password. What it means, and opening it, is the store's.

/// The password in a URL, in its authority or as a parameter. Where a URL is malformed it rather finds one too many, because
/// what it finds is kept out of files and logs.
pub(super) fn password_in(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if scheme == "sqlite" {
        return None;
    }
    let user_info = rest.rsplit_once('@').and_then(|(user_info, _)| user_info.split_once(':'));
    let parameter = || {
        let (_, parameters) = rest.split_once('?')?;
        parameters.split('&').find_map(|pair| pair.strip_prefix("password="))
    };
    let password = user_info.map(|(_, password)| password).filter(|password| !password.is_empty());
    password.or_else(parameter).filter(|password| !password.is_empty())
}

/// What the mask has to know of a URL with a password: the whole, the password, the password as it is before it is encoded,
/// and each as `Debug` prints it into a log line. Empty where there is no password.
pub(super) fn secrets_in(url: &str) -> Vec<String> {
    let Some(password) = password_in(url) else { return Vec::new() };
    let plain = [url.to_owned(), password.to_owned(), percent_decoded(password)];
    let printed = plain.clone().map(|secret| {
        let quoted = format!("{secret:?}");
        quoted[1..quoted.len() - 1].to_owned()
    });
    let mut secrets: Vec<_> = plain.into_iter().chain(printed).collect();
    secrets.sort();
    secrets.dedup();
    secrets
}

/// A `%` that encodes nothing stands for itself.
fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let encoded = part.split_at_checked(2);
        let decoded = encoded.and_then(|(digits, rest)| Some((u8::from_str_radix(digits, 16).ok()?, rest)));
        let (byte, rest) = decoded.unwrap_or((b'%', part));
        bytes.push(byte);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_found_wherever_a_url_may_hold_one() {
        let cases = [
            ("postgres://bot:hunter2@db/x", Some("hunter2")),
            ("postgresql://bot:a/b@c@db/x", Some("a/b@c")),
            ("postgres://db/x?sslmode=require&password=hunter2", Some("hunter2")),
            ("postgres://bot:@db/x?password=hunter2", Some("hunter2")),
            ("postgres://bot@db:5432/x", None),
            ("postgres://bot:@db/x", None),
            ("sqlite:///var/a:b@c.db", None),
        ];
        for (url, password) in cases {
            assert_eq!(password_in(url), password, "{url}");
        }
    }

    #[test]
    fn the_mask_learns_a_password_in_every_form_it_can_be_seen_in() {
        let secrets = secrets_in("postgres://bot:h%40ck%22%zz@db/x");
        for seen in ["postgres://bot:h%40ck%22%zz@db/x", "h%40ck%22%zz", "h@ck\"%zz", "h@ck\\\"%zz"] {
            assert!(secrets.iter().any(|secret| secret == seen), "{seen} is missing in {secrets:?}");
        }
        assert!(secrets_in("postgres://bot@db/x").is_empty());
    }
}
