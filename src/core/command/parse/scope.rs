//! What is known of the variables and functions of a line at one place in it. A branch or a loop gets a copy, and what it
//! set is unknown afterwards: whether it ran, nobody can say.

use std::collections::{BTreeMap, BTreeSet};

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// One of these texts.
    OneOf(Vec<String>),
    /// Digits.
    Number,
    /// A whole number, which may be negative.
    Integer,
    /// Text of which, split at blanks, no piece begins with `-`.
    Plain,
    /// Text that begins like this, which is no `-`; blanks may be in it.
    Starting(String),
    /// Anything.
    Unknown,
}

/// The most values a variable is followed through; a loop over more is judged as one over anything.
pub(super) const VALUES_MAX: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    values: BTreeMap<String, Value>,
    functions: BTreeSet<String>,
    /// Functions whose bodies are being read: a call of one would be a call of itself.
    open: BTreeSet<String>,
}

impl Scope {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// What `$name` is. Numbers and the shell's own paths and names come from the environment; anything else that the
    /// line did not set could be anything.
    pub(super) fn value(&self, name: &str) -> Value {
        if let Some(value) = self.values.get(name) {
            return value.clone();
        }
        match name {
            "?" | "$" | "#" => Value::Number,
            "HOME" | "PWD" | "USER" | "LOGNAME" | "HOSTNAME" | "SHELL" => Value::Starting(String::new()),
            _ => Value::Unknown,
        }
    }

    pub(super) fn define(&mut self, function: &str) {
        self.functions.insert(function.to_owned());
    }

    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    pub(super) fn is_open(&self, function: &str) -> bool {
        self.open.contains(function)
    }

    pub(super) fn open(&mut self, function: &str) {
        self.open.insert(function.to_owned());
    }

    pub(super) fn close(&mut self, function: &str) {
        self.open.remove(function);
    }

    /// From here on every variable could hold anything: a function was called, or its body is read before it runs.
    pub(super) fn forget(&mut self) {
        for value in self.values.values_mut() {
            *value = Value::Unknown;
        }
    }

    /// What holds where the line may have come either way: by `self`, or through a part that left `inner`.
    pub(super) fn join(&mut self, inner: &Self) {
        for (name, value) in &inner.values {
            let joined = self.values.get(name).map_or(Value::Unknown, |before| before.join(value));
            self.values.insert(name.clone(), joined);
        }
    }
}

impl Value {
    /// What a variable is that holds this or the other.
    pub(super) fn join(&self, other: &Self) -> Self {
        if self == other {
            self.clone()
        } else if self.is_number() && other.is_number() {
            if self.is_integer() || other.is_integer() { Self::Integer } else { Self::Number }
        } else if self.is_plain() && other.is_plain() {
            Self::Plain
        } else {
            Self::Unknown
        }
    }

    fn is_integer(&self) -> bool {
        *self == Self::Integer
    }

    fn is_number(&self) -> bool {
        match self {
            Self::Number | Self::Integer => true,
            Self::OneOf(values) => {
                values.iter().all(|value| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()))
            }
            Self::Plain | Self::Starting(_) | Self::Unknown => false,
        }
    }

    fn is_plain(&self) -> bool {
        let is_word = |value: &String| {
            !value.is_empty() && !value.starts_with('-') && !value.contains([' ', '\t', '\n', '*', '?', '['])
        };
        match self {
            Self::Number | Self::Plain => true,
            Self::OneOf(values) => values.iter().all(is_word),
            Self::Integer | Self::Starting(_) | Self::Unknown => false,
        }
    }
}

/// Variables that only the line itself reads, so that setting one changes no program. Names in capitals are the
/// environment's by custom (`PATH`, `IFS`, `LD_PRELOAD`): only those below, which people use for their own, are taken.
pub(super) fn is_own_variable(name: &str) -> bool {
    const OWN: [&str; 44] = [
        "APP",
        "BACKUP",
        "BUCKET",
        "CLUSTER",
        "CONTAINER",
        "COUNT",
        "CTX",
        "DATE",
        "DAY",
        "DB",
        "DEPLOY",
        "DIR",
        "END",
        "FILE",
        "FROM",
        "HOST",
        "I",
        "ID",
        "INSTANCE",
        "IP",
        "LIMIT",
        "LOG",
        "N",
        "NAME",
        "NAMESPACE",
        "NODE",
        "NS",
        "NUM",
        "OUT",
        "PID",
        "PIDS",
        "POD",
        "PODS",
        "PORT",
        "REGION",
        "RELEASE",
        "SERVICE",
        "SINCE",
        "START",
        "SVC",
        "THRESHOLD",
        "TO",
        "URL",
        "X",
    ];
    let proxies = ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"];
    let lower = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !proxies.contains(&name);
    lower || OWN.contains(&name)
}
