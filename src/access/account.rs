//! Accounts: what a person is known by on a platform. Only immutable ids; a name that can be changed or copied is refused
//! with a word about where the id is found (ADAPTERS.md section 3).

/// What an account is looked up by: exactly the platform and exactly the id.
pub(super) type Account = (String, String);

/// Accounts of Telegram's own, which many people share or no person has: anonymous administrators, linked channels, and
/// service messages.
const TELEGRAM_SHARED: [&str; 3] = ["1087968824", "136817688", "777000"];

/// The platforms that there are accounts and rooms on.
pub(super) const PLATFORMS: [&str; 4] = ["console", "discord", "matrix", "telegram"];

/// Reads `platform:id`. An error is to be read after the account.
pub(super) fn account(written: &str, homeservers: &[String]) -> Result<Account, String> {
    let form = "is not `platform:id`; write discord:NUMBER, telegram:NUMBER, matrix:@NAME:SERVER or console:uid:NUMBER";
    let (platform, id) = written.split_once(':').ok_or_else(|| form.to_owned())?;
    match platform {
        "discord" => discord(id),
        "telegram" => telegram(id),
        "matrix" => matrix(id, homeservers),
        "console" => console(id),
        _ => Err(form.to_owned()),
    }?;
    Ok((platform.to_owned(), id.to_owned()))
}

/// A number as platforms write one: digits, and no second way to write the same.
fn is_number(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) && !id.starts_with('0')
}

fn discord(id: &str) -> Result<(), String> {
    if is_number(id) && (17..=20).contains(&id.len()) {
        return Ok(());
    }
    Err("is no Discord account; use the number of 17 to 20 digits that Copy User ID gives in developer mode".to_owned())
}

fn telegram(id: &str) -> Result<(), String> {
    if TELEGRAM_SHARED.contains(&id) {
        return Err("is an account that Telegram lets many people share; use a person's own".to_owned());
    }
    if is_number(id) && id.len() <= 16 {
        return Ok(());
    }
    Err("is no Telegram account; use the person's positive number, not a @name and not a chat's id".to_owned())
}

fn matrix(id: &str, homeservers: &[String]) -> Result<(), String> {
    let parts = id.strip_prefix('@').and_then(|rest| rest.split_once(':'));
    let plain = !id.contains(char::is_whitespace) && !id.contains(char::is_control) && id.len() <= 255;
    match parts {
        Some((name, server)) if plain && !name.is_empty() && homeservers.iter().any(|allowed| allowed == server) => {
            Ok(())
        }
        Some((name, server)) if plain && !name.is_empty() && !server.is_empty() => Err(format!(
            "is on a homeserver that is not allowed; write `homeservers = [{server:?}]` under `[matrix]` in the access file, or \
             use another account"
        )),
        _ => Err("is no Matrix account; use the full id as it is written, @NAME:SERVER".to_owned()),
    }
}

fn console(id: &str) -> Result<(), String> {
    let number = id.strip_prefix("uid:").unwrap_or_default();
    if number == "0" || (is_number(number) && number.parse::<u32>().is_ok()) {
        return Ok(());
    }
    Err("is no console account; use console:uid:NUMBER, where `id -u` prints the number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_immutable_ids_are_accounts() {
        let homes = ["example.org".to_owned()];
        let sound = [
            "discord:80351110224678912",
            "telegram:123456789",
            "matrix:@Ann:example.org",
            "console:uid:1000",
            "console:uid:0",
        ];
        for written in sound {
            let (platform, id) = account(written, &homes).expect(written);
            assert_eq!(format!("{platform}:{id}"), written);
        }
        let refused = [
            "ann",
            "irc:ann",
            "discord:ann#1234",
            "discord:080351110224678912",
            "discord:1234",
            "telegram:@ann",
            "telegram:-1001234567890",
            "telegram:0123",
            "telegram:+5",
            "telegram:1087968824",
            "matrix:ann",
            "matrix:@ann",
            "matrix:@:example.org",
            "matrix:@ann:evil.example",
            "matrix:@ann:example.org ",
            "matrix:@ann:EXAMPLE.org",
            "console:1000",
            "console:uid:ann",
            "console:uid:99999999999",
        ];
        for written in refused {
            assert!(account(written, &homes).is_err(), "{written}");
        }
        assert!(account("matrix:@ann:example.org", &[]).is_err(), "an empty list of homeservers allows none");
    }
}
