//! What can be typed into the program: a cast of three and three chats, named by plain words, and one line for each thing
//! that people do. What it comes to is said in a sentence; nothing typed wrongly ends the program.

use std::time::Duration;

use countersign_telegram_fake::{ChatId, Fake, Fault, Say};

const HELP: &str = "\
say USER CHAT TEXT                  somebody writes          say carol ops /status
reply USER CHAT MESSAGE TEXT        somebody answers         reply carol ops 3 yes
edit CHAT MESSAGE TEXT              the writer changes it    edit ops 2 /status web-1
press USER CHAT MESSAGE BUTTON      somebody presses         press dave ops 3 Approve
react USER CHAT MESSAGE EMOJI|none  somebody reacts          react dave ops 3 👍
show CHAT                           what the chat shows, with the ids of its messages
calls                               what the bot called, and how often
fault NAME [NUMBER] [METHOD]        the next call goes wrong fault too-many 5 sendMessage
      too-many SECONDS, status CODE, slow SECONDS, drop, lose, silent, duplicate COPIES, reorder
fault none                          ends all faults
admin CHAT on|off                   makes the bot an administrator, or a member again
stop, listen                        an outage, and its end
quit

Users: carol, dave, erin. Chats: ops (a group), deploys (a forum with the topic 1), carol, dave, erin (private).
A user or a chat can be given by its id as well.";

/// What a line comes to.
pub(crate) enum Done {
    Said(String),
    Over,
}

/// The fake with its cast.
pub(crate) struct Stage {
    fake: Fake,
    users: [(&'static str, i64); 3],
    chats: Vec<(&'static str, ChatId)>,
}

impl Stage {
    pub(crate) fn new(fake: Fake) -> Self {
        let users = [("carol", 11), ("dave", 12), ("erin", 13)];
        for (user, name) in [(11, "Carol"), (12, "Dave"), (13, "Erin")] {
            fake.user(user, name);
        }
        let mut chats = vec![("ops", fake.group("ops")), ("deploys", fake.forum("deploys"))];
        fake.topic(chats[1].1, "web");
        chats.extend(users.map(|(name, user)| (name, fake.private(user))));
        Self { fake, users, chats }
    }

    /// How to point a bot at it.
    pub(crate) fn welcome(&self) -> String {
        let chats: Vec<String> = self.chats.iter().map(|(name, id)| format!("  {name:<8} {}", id.0)).collect();
        let users: Vec<String> = self.users.iter().map(|(name, id)| format!("  {name:<8} {id}")).collect();
        format!(
            "A fake Telegram listens. Point a bot at it:\n  base URL {}\n  token    {}\n  its name @{}\nChats:\n{}\nUsers:\n{}\n`help` says \
             what can be typed.\n",
            self.fake.base_url(),
            self.fake.token(),
            self.fake.bot_username(),
            chats.join("\n"),
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

    fn play(&self, verb: &str, rest: &str) -> Result<String, String> {
        match verb {
            "say" => self.say(rest),
            "reply" => self.reply(rest),
            "edit" => self.edit(rest),
            "press" => self.press(rest),
            "react" => self.react(rest),
            "show" => self.chat(cut(rest).0).map(|chat| self.show(chat)),
            "calls" => Ok(self.calls()),
            "fault" => self.fault(rest),
            "admin" => self.admin(rest),
            _ => Err(format!("`{verb}` is nothing that the fake knows")),
        }
    }

    fn say(&self, rest: &str) -> Result<String, String> {
        let (user, rest) = cut(rest);
        let (chat, text) = cut(rest);
        let chat = self.chat(chat)?;
        let said = Say::new(self.user(user)?, chat, text);
        // The forum of the cast has one topic; what is said there is said in it.
        let said = if self.chat("deploys") == Ok(chat) { said.topic(1) } else { said };
        self.fake.try_say(said).map(|id| format!("Message {id}."))
    }

    fn reply(&self, rest: &str) -> Result<String, String> {
        let (user, rest) = cut(rest);
        let (chat, rest) = cut(rest);
        let (message, text) = cut(rest);
        let said = Say::new(self.user(user)?, self.chat(chat)?, text).reply_to(number(message)?);
        self.fake.try_say(said).map(|id| format!("Message {id}."))
    }

    fn edit(&self, rest: &str) -> Result<String, String> {
        let (chat, rest) = cut(rest);
        let (message, text) = cut(rest);
        self.fake.try_edit(self.chat(chat)?, number(message)?, text).map(|()| "Changed.".to_owned())
    }

    fn press(&self, rest: &str) -> Result<String, String> {
        let (user, rest) = cut(rest);
        let (chat, rest) = cut(rest);
        let (message, label) = cut(rest);
        let pressed = self.fake.try_press(self.user(user)?, self.chat(chat)?, number(message)?, label);
        pressed.map(|id| format!("Pressed; callback {id}."))
    }

    fn react(&self, rest: &str) -> Result<String, String> {
        let (user, rest) = cut(rest);
        let (chat, rest) = cut(rest);
        let (message, emoji) = cut(rest);
        let emoji = Some(emoji).filter(|emoji| *emoji != "none");
        let reacted = self.fake.try_react(self.user(user)?, self.chat(chat)?, number(message)?, emoji);
        reacted
            .map(|()| "Done. Telegram tells a bot of it in private chats and where it is an administrator.".to_owned())
    }

    /// The picture, and under it which message has which id.
    fn show(&self, chat: ChatId) -> String {
        let first = |text: &str| text.lines().next().unwrap_or_default().chars().take(50).collect::<String>();
        let all = self.fake.messages(chat, None).into_iter();
        let shown = all.filter(|message| !message.deleted && message.service.is_none());
        let ids: Vec<String> = shown.map(|message| format!("{:>4} {}", message.id, first(&message.text))).collect();
        format!("{}\n\n{}", self.fake.draw(chat, None), ids.join("\n"))
    }

    fn calls(&self) -> String {
        let row = |(method, count): (&String, &countersign_telegram_fake::Count)| {
            let (calls, refused) = (count.calls, count.refused + count.too_many);
            format!("{method:<24} {calls:>5} calls, {refused} refused, {} without an answer", count.dropped)
        };
        self.fake.calls().iter().map(row).collect::<Vec<_>>().join("\n")
    }

    fn fault(&self, rest: &str) -> Result<String, String> {
        let (name, rest) = cut(rest);
        let (first, second) = cut(rest);
        // The number comes first where there is one, then the method.
        let (amount, method) = if first.parse::<u32>().is_ok() { (first, second) } else { ("1", first) };
        let amount: u32 = number(amount)?;
        let fault = match name {
            "none" => {
                self.fake.clear_faults();
                return Ok("All faults are gone.".to_owned());
            }
            "too-many" => Fault::too_many(amount.into()),
            "status" => {
                Fault::status(u16::try_from(amount).ok().filter(|code| (400..600).contains(code)).unwrap_or(500))
            }
            "slow" => Fault::slow(Duration::from_secs(amount.into())),
            "drop" => Fault::drop_before(),
            "lose" => Fault::drop_after(),
            "silent" => Fault::silent(),
            "duplicate" => Fault::duplicate(amount),
            "reorder" => Fault::reorder(),
            _ => return Err(format!("`{name}` is no fault that the fake knows")),
        };
        self.fake.fault(if method.is_empty() { fault } else { fault.on(method) });
        Ok("The next call that fits goes wrong.".to_owned())
    }

    fn admin(&self, rest: &str) -> Result<String, String> {
        let (chat, on) = cut(rest);
        self.fake.set_admin(self.chat(chat)?, on == "on");
        Ok(format!("The bot is {} now.", if on == "on" { "an administrator" } else { "a member" }))
    }

    fn user(&self, name: &str) -> Result<i64, String> {
        let found = self.users.iter().find(|(known, id)| *known == name || id.to_string() == name);
        found.map(|(_, id)| *id).ok_or_else(|| format!("there is no user `{name}`"))
    }

    fn chat(&self, name: &str) -> Result<ChatId, String> {
        let found = self.chats.iter().find(|(known, id)| *known == name || id.0.to_string() == name);
        found.map(|(_, id)| *id).ok_or_else(|| format!("there is no chat `{name}`"))
    }
}

/// The first word and what comes after it.
fn cut(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim_start()))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}
