//! What the keys of an object say about its values, whatever language the object is written in: JSON, YAML, a literal of
//! Python. `flow.rs` and `block.rs` read the text, `json.rs` has the object already.

use super::names::class_of_name;
use super::rules::{is_marker, is_nothing, looks_random};

/// The fewest characters of a text that is taken for base64.
const BASE64_CHARS_MIN: usize = 8;

/// Which of the texts under a key are secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of them: the value of a secret, whatever its own keys say.
    Everything,
    /// All but those that say where the secret is.
    Values,
    /// Those that are no words: the key only names a place where secrets are listed.
    Random,
}

/// The class of the secrets under a key, and which they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cover {
    pub(super) class: &'static str,
    pub(super) reach: Reach,
}

impl Cover {
    /// Whether this text, under its own key inside the value, is a secret.
    pub(super) fn holds(self, key: &str, text: &str) -> bool {
        let says_where = [
            "audience",
            "defaultMode",
            "description",
            "environment",
            "expirationSeconds",
            "external",
            "file",
            "key",
            "mode",
            "name",
            "namespace",
            "optional",
            "path",
            "secretName",
            "sensitive",
            "type",
            "user",
            "username",
            "version",
        ];
        let of_kind = match self.reach {
            Reach::Everything => true,
            Reach::Values => !says_where.contains(&key),
            Reach::Random => looks_random(text) && text.chars().count() >= BASE64_CHARS_MIN,
        };
        of_kind && !is_marker(text) && !is_nothing(text)
    }
}

/// What is known of an object from its plain fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    /// The class that a field `name` or `key` gives to the field `value` beside it.
    named: Option<&'static str>,
    /// What the other fields say, each thing once.
    says: Vec<Says>,
}

/// What a plain field says of the object that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// It is an object of Kubernetes, of whatever kind.
    Kind,
    /// It is a Secret of Kubernetes.
    Secret,
    /// It has a version of the interface of Kubernetes.
    Version,
    /// Its value is not to be shown.
    Sensitive,
    /// It is a key in JSON.
    Key,
    /// It is a password that was made up, beside its hash.
    Generated,
}

impl Object {
    /// Takes note of a plain field.
    pub(super) fn note(&mut self, key: &str, value: &str) {
        let says = match key {
            "name" | "key" | "Name" | "Key" => {
                self.named = self.named.or_else(|| class_of_name(value));
                return;
            }
            "kind" if value == "Secret" => Says::Secret,
            "kind" => Says::Kind,
            "apiVersion" => Says::Version,
            "sensitive" if value == "true" => Says::Sensitive,
            "kty" => Says::Key,
            "bcrypt_hash" => Says::Generated,
            _ => return,
        };
        if !self.says(says) {
            self.says.push(says);
        }
    }

    fn says(&self, says: Says) -> bool {
        self.says.contains(&says)
    }

    /// What is secret under a key. `texts` are the texts there.
    pub(super) fn cover<'t>(&self, key: &str, texts: impl Iterator<Item = &'t str>) -> Option<Cover> {
        let everything = |class| Some(Cover { class, reach: Reach::Everything });
        match key {
            "value" | "Value" => {
                self.named.or_else(|| self.says(Says::Sensitive).then_some("secret")).and_then(everything)
            }
            "data" | "stringData" | "binaryData" if self.says(Says::Secret) => everything("secret"),
            // The end of a Secret is cut off, or its beginning.
            "data" if self.says(Says::Version) && !self.says(Says::Kind) => {
                are_base64(texts).then(|| everything("secret")).flatten()
            }
            "d" | "dp" | "dq" | "k" | "p" | "q" | "qi" if self.says(Says::Key) => everything("private key"),
            "result" if self.says(Says::Generated) => everything("password"),
            "auth" => are_base64(texts).then(|| everything("password")).flatten(),
            ".dockercfg" => everything("password"),
            "bearer" | "github-oauth" | "gitlab-oauth" | "gitlab-token" | "bitbucket-oauth" => everything("token"),
            "apiKeys" | "api_keys" | "credentials" | "passwords" | "secrets" | "tokens" => {
                Some(Cover { class: "secret", reach: Reach::Random })
            }
            _ => class_of_name(key).map(|class| Cover { class, reach: Reach::Values }),
        }
    }
}

fn are_base64<'t>(texts: impl Iterator<Item = &'t str>) -> bool {
    let mut texts = texts.peekable();
    texts.peek().is_some() && texts.all(is_base64)
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len() >= BASE64_CHARS_MIN
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && looks_random(text)
}
