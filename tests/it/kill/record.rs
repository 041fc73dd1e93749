//! What a script of the kill tests has sent and seen, and what must be true of that and of what the database holds. It
//! starts no process and sends nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::stored::{Post, Signal, Stored};

/// A message as it was printed.
pub(super) struct Print {
    post: String,
    repeat: bool,
    /// Everything that a person reads of it.
    pub(super) content: Value,
}

/// Whether the answer to the question of this number fits it.
pub(super) type Fits = dyn Fn(usize, &Signal, &[Print]) -> Result<(), String>;

/// What the script knows. Questions are counted from 0, and sent in this order.
#[derive(Default)]
pub(super) struct Record {
    /// How many questions were sent.
    sent: usize,
    /// Acknowledged questions; the signal is known where the acknowledgement was not lost.
    acknowledged: BTreeMap<usize, Option<String>>,
    /// What was printed for a signal, in order.
    prints: BTreeMap<String, Vec<Print>>,
    /// Signals that were said to be answered.
    answered: BTreeSet<String>,
    /// Violations that show at once.
    wrong: Vec<String>,
    lines_of_life: u32,
    tally: Tally,
}

/// How many kills hit what. One kill may hit several.
#[derive(Default)]
struct Tally {
    /// Before the bot had said anything.
    silent: u32,
    /// Something sent was not acknowledged.
    before_acceptance: u32,
    /// Of the questions sent again: how many had been stored, and only the acknowledgement was lost.
    stored_unsaid: u32,
    /// Something acknowledged was not answered.
    during_work: u32,
    /// A message that had been claimed and was not out.
    claimed_not_out: u32,
    /// A message that was out and not settled.
    out_not_settled: u32,
}

/// The script's id of a question.
pub(super) fn event(number: usize) -> String {
    format!("q{number}")
}

pub(super) fn number(event: &str) -> Option<usize> {
    event.strip_prefix('q')?.parse().ok()
}

impl Record {
    pub(super) fn next_question(&mut self) -> usize {
        self.sent += 1;
        self.sent - 1
    }

    /// Questions that the bot has not said it has, in order.
    pub(super) fn unacknowledged(&self) -> Vec<usize> {
        (0..self.sent).filter(|number| !self.acknowledged.contains_key(number)).collect()
    }

    /// The signal of a question, where it is known.
    pub(super) fn signal(&self, number: usize) -> Option<&String> {
        self.acknowledged.get(&number)?.as_ref()
    }

    /// What was printed for a signal, as it was printed first.
    pub(super) fn said(&self, signal: &str) -> Option<&Value> {
        self.prints.get(signal)?.first().map(|print| &print.content)
    }

    /// How many questions have no answer yet.
    pub(super) fn open(&self) -> usize {
        self.sent - self.prints.len().min(self.sent)
    }

    /// How many messages were printed again.
    pub(super) fn repeats(&self) -> usize {
        self.prints.values().map(|prints| prints.len() - 1).sum()
    }

    pub(super) fn begin_life(&mut self) {
        self.lines_of_life = 0;
    }

    pub(super) fn end_killed_life(&mut self) {
        let unanswered = |signal: &String| !self.prints.contains_key(signal);
        let working = self.acknowledged.values().flatten().any(unanswered);
        self.tally.silent += u32::from(self.lines_of_life == 0);
        self.tally.before_acceptance += u32::from(!self.unacknowledged().is_empty());
        self.tally.during_work += u32::from(working);
    }

    /// Takes note of a line.
    pub(super) fn note(&mut self, line: &Value) {
        self.lines_of_life += 1;
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match text("type").as_str() {
            "accepted" => self.note_acknowledged(&text("event"), Some(text("signal"))),
            "duplicate" => self.note_acknowledged(&text("event"), None),
            "message" => self.note_message(&text("answers"), text("id"), line),
            "answered" => {
                if !self.answered.insert(text("signal")) {
                    self.wrong.push(format!("{} was said to be answered twice", text("signal")));
                }
            }
            _ => self.wrong.push(format!("this should not have been said: {line}")),
        }
    }

    fn note_acknowledged(&mut self, event: &str, signal: Option<String>) {
        let Some(number) = number(event).filter(|number| *number < self.sent) else {
            self.wrong.push(format!("{event} was acknowledged and never sent"));
            return;
        };
        self.tally.stored_unsaid += u32::from(signal.is_none());
        if self.acknowledged.insert(number, signal).is_some() {
            self.wrong.push(format!("{event} was acknowledged twice, and sent once since it was unknown"));
        }
    }

    fn note_message(&mut self, signal: &str, post: String, line: &Value) {
        let repeat = line.get("repeat").and_then(Value::as_bool).unwrap_or_default();
        let content = json!([line.get("mark"), line.get("claim"), line.get("blocks")]);
        let printed = self.prints.entry(signal.to_owned()).or_default();
        if let Some(first) = printed.first() {
            if !repeat {
                self.wrong.push(format!("{signal} was answered again without saying that it is a repeat: {line}"));
            }
            if first.post != post || first.content != content {
                self.wrong.push(format!("{signal} was answered twice: {} and {content}", first.content));
            }
            self.tally.out_not_settled += 1;
        } else {
            self.tally.claimed_not_out += u32::from(repeat);
        }
        printed.push(Print { post, repeat, content });
    }

    /// Everything that is wrong, a line each.
    pub(super) fn judge(&self, stored: &Stored, fits: &Fits) -> Vec<String> {
        let mut wrong = self.wrong.clone();
        if self.sent == 0 {
            wrong.push("nothing was asked".to_owned());
        }
        if stored.signals.len() != self.sent {
            wrong.push(format!("{} signals are stored, {} were sent", stored.signals.len(), self.sent));
        }
        wrong.extend(self.unacknowledged().iter().map(|number| format!("{} was never taken", event(*number))));
        for number in 0..self.sent {
            wrong.extend(self.judge_question(number, stored, fits).err());
        }
        let known: BTreeSet<&String> = stored.signals.values().chain(&stored.own).map(|signal| &signal.id).collect();
        let strangers = self.prints.keys().filter(|signal| !known.contains(signal));
        wrong.extend(strangers.map(|signal| format!("{signal} was answered and is not stored")));
        // The bot may look after a plan and have nothing to say; a question is never answered by nothing.
        let own: BTreeSet<&String> = stored.own.iter().map(|signal| &signal.id).collect();
        let silent = self.answered.iter().filter(|signal| !self.prints.contains_key(*signal) && !own.contains(signal));
        wrong.extend(silent.map(|signal| format!("{signal} was said to be answered, and nothing was said")));
        wrong.extend(stored.out_of_order());
        wrong
    }

    fn judge_question(&self, number: usize, stored: &Stored, fits: &Fits) -> Result<(), String> {
        let name = event(number);
        let signal = stored.signals.get(&number).ok_or_else(|| format!("{name} is lost"))?;
        if let Some(Some(accepted)) = self.acknowledged.get(&number)
            && *accepted != signal.id
        {
            return Err(format!("{name} was accepted as {accepted} and is stored as {}", signal.id));
        }
        if signal.state != "done" {
            return Err(format!("{name} was accepted and its request is {}", signal.state));
        }
        let [post] = stored.posts.get(&signal.id).map_or(&[] as &[Post], Vec::as_slice) else {
            return Err(format!("{name} has {} answers", stored.posts.get(&signal.id).map_or(0, Vec::len)));
        };
        let prints = self.prints.get(&signal.id).ok_or_else(|| format!("{name} was never answered"))?;
        if post.state != "sent" || prints.iter().any(|print| print.post != post.id) {
            return Err(format!(
                "{name}: the stored answer {} is {}, and is not what was printed",
                post.id, post.state
            ));
        }
        if prints.iter().any(|print| print.repeat) != post.repeat {
            return Err(format!("{name}: what is stored and what was printed differ about a repeat"));
        }
        fits(number, signal, prints)
    }

    /// The figures of a run, as one line.
    pub(super) fn figures(&self, stored: &Stored) -> String {
        let Tally { silent, before_acceptance, stored_unsaid, during_work, claimed_not_out, out_not_settled } =
            &self.tally;
        let interrupted = stored.signals.values().filter(|signal| signal.ending == "interrupted").count();
        format!(
            "{} questions, {interrupted} interrupted notices, {} messages printed again, {} without an `answered` line; kills: {silent} before the first line, \
             {before_acceptance} before acceptance was said ({stored_unsaid} questions were stored already), \
             {during_work} during work, {} during delivery ({claimed_not_out} before the message was out, \
             {out_not_settled} after)",
            self.sent,
            self.repeats(),
            stored.signals.values().filter(|signal| !self.answered.contains(&signal.id)).count(),
            claimed_not_out + out_not_settled
        )
    }
}
