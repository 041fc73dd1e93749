//! What can be typed into the program: a cast of three and their channels, named by plain words, and one line for each
//! thing that people do. Messages are named by their place in the channel, interactions by their place in the play. What it
//! comes to is said in a sentence; nothing typed wrongly ends the program.

use std::sync::Mutex;
use std::time::Duration;

use countersign_discord_fake::{BOT, ChannelId, Count, Fake, Fault, Message, Say};

const HELP: &str = "\
say USER CHANNEL TEXT                 somebody writes; @Ops calls the bot  say carol ops @Ops status
reply USER CHANNEL MESSAGE TEXT       somebody answers                     reply carol ops 3 yes
edit CHANNEL MESSAGE TEXT             the writer changes it                edit ops 2 @Ops status web-1
press USER CHANNEL MESSAGE BUTTON     somebody presses                     press dave ops 3 Approve
select USER CHANNEL MESSAGE CHOICE    somebody chooses from a menu         select dave ops 3 web-1
command USER CHANNEL NAME [OPTION=TEXT]  somebody runs a command           command carol ops status resource=web-1
type USER CHANNEL NAME OPTION=TEXT    somebody is typing that option       type carol ops status resource=we
answer NUMBER                         what the bot answered to a press, a choice, a command, typing
submit NUMBER LABEL=TEXT              the window that it answered with is filled in
react USER CHANNEL MESSAGE EMOJI      somebody reacts                      react dave ops 3 👍
unreact USER CHANNEL MESSAGE EMOJI    and takes it back
thread USER CHANNEL MESSAGE NAME      opens a thread, a channel from then on
show CHANNEL [USER]                   what the channel shows, with the numbers of its messages
calls                                 what the bot called, and how often
commands                              what the bot registered
fault NAME [NUMBER] [METHOD]          the next call goes wrong             fault too-many 1.5 createMessage
      too-many SECONDS, status CODE, slow SECONDS, drop, lose, silent, duplicate COPIES, reorder
fault none                            ends all faults
gateway reconnect|cut|silence|invalid the gateway gives trouble
advance SECONDS                       the clock goes on
stop, listen                          an outage, and its end
quit

Users: carol, dave, erin. Channels: ops, deploys, carol, dave, erin (direct messages), and threads by their names.";

/// What a line comes to.
pub(crate) enum Done {
    Said(String),
    Over,
}

/// The fake with its cast.
pub(crate) struct Stage {
    fake: Fake,
    users: [(&'static str, u64); 3],
    channels: Mutex<Vec<(String, ChannelId)>>,
    /// Interactions in the order in which they were made.
    asked: Mutex<Vec<String>>,
}

type Played<T> = Result<T, String>;

impl Stage {
    pub(crate) fn new(fake: Fake) -> Self {
        let users = [("carol", 11), ("dave", 12), ("erin", 13)];
        for (user, name) in [(11, "Carol"), (12, "Dave"), (13, "Erin")] {
            fake.user(user, name);
        }
        let mut channels: Vec<(String, ChannelId)> =
            ["ops", "deploys"].map(|name| (name.to_owned(), fake.channel(name))).into();
        channels.extend(users.map(|(name, user)| (name.to_owned(), fake.private(user))));
        Self { fake, users, channels: Mutex::new(channels), asked: Mutex::default() }
    }

    /// How to point a bot at it.
    pub(crate) fn welcome(&self) -> String {
        let channels = self.channels.lock().expect("invariant: nobody panics while holding it").clone();
        let channels: Vec<String> = channels.iter().map(|(name, id)| format!("  {name:<8} {}", id.0)).collect();
        let users: Vec<String> = self.users.iter().map(|(name, id)| format!("  {name:<8} {id}")).collect();
        format!(
            "A fake Discord listens. Point a bot at it:\n  base URL {}\n  gateway  {}\n  token    {}\n  its id   {BOT}\n\
             Channels:\n{}\nUsers:\n{}\n`help` says what can be typed.\n",
            self.fake.base_url(),
            self.fake.gateway_url(),
            self.fake.token(),
            channels.join("\n"),
            users.join("\n"),
        )
    }

    pub(crate) async fn perform(&self, line: &str) -> Done {
        let (verb, rest) = cut(line);
        let said = match verb {
            "" => Ok(String::new()),
            "help" => Ok(HELP.to_owned()),
            "quit" => return Done::Over,
            "stop" => {
                self.fake.stop_listening().await;
                Ok("Nobody listens any more. `listen` ends that.".to_owned())
            }
            "listen" => {
                self.fake.listen_again().await;
                Ok("The fake listens again.".to_owned())
            }
            _ => self.play(verb, rest),
        };
        Done::Said(said.unwrap_or_else(|why| format!("Not done: {why}. `help` says what can be typed.")))
    }

    fn play(&self, verb: &str, rest: &str) -> Played<String> {
        match verb {
            "say" => self.say(rest),
            "reply" => self.reply(rest),
            "edit" => self.edit(rest),
            "press" => {
                self.at(rest, |user, channel, message, label| self.fake.try_press(user, channel, message, label))
            }
            "select" => {
                self.at(rest, |user, channel, message, choice| self.fake.try_select(user, channel, message, &[choice]))
            }
            "command" => self.command(rest, false),
            "type" => self.command(rest, true),
            "answer" => self.answer(rest),
            "submit" => self.submit(rest),
            "react" => self.react(rest, true),
            "unreact" => self.react(rest, false),
            "thread" => self.thread(rest),
            "show" => self.show(rest),
            "calls" => Ok(self.calls()),
            "commands" => Ok(self.commands()),
            "fault" => self.fault(rest),
            "gateway" => self.gateway(rest),
            "advance" => number(rest).map(|seconds| {
                self.fake.advance(Duration::from_secs(seconds));
                "The clock went on.".to_owned()
            }),
            _ => Err(format!("`{verb}` is nothing that the fake knows")),
        }
    }

    fn said(&self, said: Say, channel: ChannelId) -> Played<String> {
        self.fake.try_say(said)?;
        Ok(format!("Message {}.", self.fake.messages(channel).len()))
    }

    fn say(&self, rest: &str) -> Played<String> {
        let (user, rest) = cut(rest);
        let (channel, text) = cut(rest);
        let channel = self.channel(channel)?;
        self.said(called(Say::new(self.user(user)?, channel, text), text), channel)
    }

    fn reply(&self, rest: &str) -> Played<String> {
        let (user, rest) = cut(rest);
        let (channel, rest) = cut(rest);
        let (message, text) = cut(rest);
        let channel = self.channel(channel)?;
        let answered = self.message(channel, message)?.id;
        self.said(called(Say::new(self.user(user)?, channel, text), text).reply_to(answered), channel)
    }

    fn edit(&self, rest: &str) -> Played<String> {
        let (channel, rest) = cut(rest);
        let (message, text) = cut(rest);
        let channel = self.channel(channel)?;
        let text = text.replace("@Ops", &self.fake.bot_mention());
        self.fake.try_edit(channel, self.message(channel, message)?.id, &text).map(|()| "Changed.".to_owned())
    }

    /// Something with a user, a message and a word, which gives an interaction.
    fn at(&self, rest: &str, play: impl Fn(u64, ChannelId, u64, &str) -> Played<String>) -> Played<String> {
        let (user, rest) = cut(rest);
        let (channel, rest) = cut(rest);
        let (message, word) = cut(rest);
        let channel = self.channel(channel)?;
        // A reason names the message as it was typed.
        let id = self.message(channel, message)?.id;
        let asked = play(self.user(user)?, channel, id, word);
        asked.map(|asked| self.keep(asked)).map_err(|why| why.replace(&id.to_string(), message))
    }

    fn keep(&self, interaction: String) -> String {
        let mut asked = self.asked.lock().expect("invariant: nobody panics while holding it");
        asked.push(interaction);
        format!("Interaction {}. `answer {}` shows what the bot says to it.", asked.len(), asked.len())
    }

    fn kept(&self, given: &str) -> Played<String> {
        let asked = self.asked.lock().expect("invariant: nobody panics while holding it");
        let at: usize = number(given)?;
        at.checked_sub(1)
            .and_then(|at| asked.get(at).cloned())
            .ok_or_else(|| format!("there is no interaction {given}"))
    }

    fn command(&self, rest: &str, typing: bool) -> Played<String> {
        let (user, rest) = cut(rest);
        let (channel, rest) = cut(rest);
        let (words, option) = match rest.find('=') {
            Some(equals) => {
                let start = rest.get(..equals).and_then(|before| before.rfind(' ')).unwrap_or(equals);
                rest.split_at(start)
            }
            None => (rest, ""),
        };
        let options: Vec<(&str, &str)> = option.trim().split_once('=').into_iter().collect();
        let (user, channel) = (self.user(user)?, self.channel(channel)?);
        let asked = match options.first().filter(|_| typing) {
            Some((name, _)) => self.fake.try_autocomplete(user, channel, words, &options, name),
            None => self.fake.try_command(user, channel, words, &options),
        };
        asked.map(|asked| self.keep(asked))
    }

    fn answer(&self, rest: &str) -> Played<String> {
        let Some(answer) = self.fake.answered(&self.kept(rest)?) else { return Ok("Nothing yet.".to_owned()) };
        let mut lines =
            vec![format!("{:?}{}", answer.kind, if answer.ephemeral { ", for one person's eyes" } else { "" })];
        lines.extend(answer.choices.iter().map(|choice| format!("  {} ({})", choice.text, choice.value)));
        if let Some(modal) = answer.modal {
            lines.push(format!("  A window: {}", modal.title));
            lines.extend(modal.inputs.iter().map(|input| format!("  {}: ____", input.label)));
        }
        if !answer.text.is_empty() {
            lines.push(answer.text);
        }
        Ok(lines.join("\n"))
    }

    fn submit(&self, rest: &str) -> Played<String> {
        let (interaction, text) = cut(rest);
        let texts: Vec<(&str, &str)> = text.split_once('=').into_iter().collect();
        self.fake.try_submit(&self.kept(interaction)?, &texts).map(|asked| self.keep(asked))
    }

    fn react(&self, rest: &str, add: bool) -> Played<String> {
        let (user, rest) = cut(rest);
        let (channel, rest) = cut(rest);
        let (message, emoji) = cut(rest);
        let channel = self.channel(channel)?;
        let id = self.message(channel, message)?.id;
        self.fake.try_react(self.user(user)?, channel, id, emoji, add).map(|()| "Done.".to_owned())
    }

    fn thread(&self, rest: &str) -> Played<String> {
        let (user, rest) = cut(rest);
        let (channel, rest) = cut(rest);
        let (message, name) = cut(rest);
        let channel = self.channel(channel)?;
        let message = self.message(channel, message)?;
        if name.is_empty() || name.contains(char::is_whitespace) || self.channel(name).is_ok() {
            return Err("a thread of the program is named by one new word".to_owned());
        }
        if message.thread.is_some() {
            return Err("that message has its thread".to_owned());
        }
        let thread = self.fake.thread_from(self.user(user)?, channel, message.id, name);
        self.channels.lock().expect("invariant: nobody panics while holding it").push((name.to_owned(), thread));
        Ok(format!("The channel `{name}`."))
    }

    /// The picture, and under it which message has which number.
    fn show(&self, rest: &str) -> Played<String> {
        let (channel, user) = cut(rest);
        let channel = self.channel(channel)?;
        self.find_threads(channel);
        let first = |text: &str| text.lines().next().unwrap_or_default().chars().take(50).collect::<String>();
        let all = self.fake.messages(channel);
        let shown = all.iter().zip(1..).filter(|(message, _)| !message.deleted);
        let ids: Vec<String> = shown.map(|(message, at)| format!("{at:>4} {}", first(&message.text))).collect();
        let drawn =
            if user.is_empty() { self.fake.draw(channel) } else { self.fake.draw_for(self.user(user)?, channel) };
        Ok(format!("{drawn}\n\n{}", ids.join("\n")))
    }

    /// Threads that the bot opened get their names here, too.
    fn find_threads(&self, channel: ChannelId) {
        let mut known = self.channels.lock().expect("invariant: nobody panics while holding it");
        for (thread, name) in self.fake.threads(channel) {
            let word = name.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
            if !known.iter().any(|(own, id)| *id == thread || *own == word) {
                known.push((word, thread));
            }
        }
    }

    fn calls(&self) -> String {
        let row = |(method, count): (&String, &Count)| {
            let (calls, refused) = (count.calls, count.refused + count.too_many);
            format!("{method:<40} {calls:>5} calls, {refused} refused, {} without an answer", count.dropped)
        };
        self.fake.calls().iter().map(row).collect::<Vec<_>>().join("\n")
    }

    fn commands(&self) -> String {
        let row = |(name, what): &(String, String)| format!("/{name}  {what}");
        self.fake.commands().iter().map(row).collect::<Vec<_>>().join("\n")
    }

    fn fault(&self, rest: &str) -> Played<String> {
        let (name, rest) = cut(rest);
        let (first, second) = cut(rest);
        // The number comes first where there is one, then the method.
        let (amount, method) = if first.parse::<f64>().is_ok() { (first, second) } else { ("1", first) };
        let seconds =
            || number(amount).and_then(|seconds| Duration::try_from_secs_f64(seconds).map_err(|why| why.to_string()));
        let fault = match name {
            "none" => {
                self.fake.clear_faults();
                return Ok("All faults are gone.".to_owned());
            }
            "too-many" => Fault::too_many(seconds()?),
            "status" => Fault::status(number(amount).ok().filter(|code| (400..600).contains(code)).unwrap_or(500)),
            "slow" => Fault::slow(seconds()?),
            "drop" => Fault::drop_before(),
            "lose" => Fault::drop_after(),
            "silent" => Fault::silent(),
            "duplicate" => Fault::duplicate(number(amount)?),
            "reorder" => Fault::reorder(),
            _ => return Err(format!("`{name}` is no fault that the fake knows")),
        };
        self.fake.fault(if method.is_empty() { fault } else { fault.on(method) });
        Ok("The next call that fits goes wrong.".to_owned())
    }

    fn gateway(&self, rest: &str) -> Played<String> {
        match rest {
            "reconnect" => self.fake.ask_to_reconnect(),
            "cut" => self.fake.cut_gateway(),
            "silence" => self.fake.silence_gateway(),
            "invalid" => self.fake.invalidate(false),
            _ => return Err(format!("the gateway cannot `{rest}`")),
        }
        Ok("Done.".to_owned())
    }

    fn user(&self, name: &str) -> Played<u64> {
        let found = self.users.iter().find(|(known, _)| *known == name);
        found.map(|(_, id)| *id).ok_or_else(|| format!("there is no user `{name}`"))
    }

    fn channel(&self, name: &str) -> Played<ChannelId> {
        let channels = self.channels.lock().expect("invariant: nobody panics while holding it");
        let found = channels.iter().find(|(known, _)| *known == name);
        found.map(|(_, id)| *id).ok_or_else(|| format!("there is no channel `{name}`"))
    }

    /// By its place in the channel, from 1.
    fn message(&self, channel: ChannelId, given: &str) -> Played<Message> {
        let at: usize = number(given)?;
        let found = at.checked_sub(1).and_then(|at| self.fake.messages(channel).into_iter().nth(at));
        found.ok_or_else(|| format!("there is no message {given}"))
    }
}

/// With the bot called where the text names it so.
fn called(said: Say, text: &str) -> Say {
    if text.contains("@Ops") { said.mention(BOT, "@Ops") } else { said }
}

/// The first word and what comes after it.
fn cut(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim_start()))
}

fn number<T: std::str::FromStr>(text: &str) -> Played<T> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}
