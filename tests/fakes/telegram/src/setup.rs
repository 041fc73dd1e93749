//! Setting the scene: people, chats, topics, rights, faults and switches. What people do in it is in `script`.

use crate::chat::{Chat, ChatId, ChatKind, Message, Role, Service};
use crate::fault::Fault;
use crate::methods::open_topic;
use crate::people;
use crate::server::Fake;

impl Fake {
    /// A person with this id and name; the id again. The user's name is made from the name.
    pub fn user(&self, id: i64, name: &str) -> i64 {
        self.shared().change(|state| state.users.insert(id, people::person(id, name)));
        id
    }

    /// Another bot's account.
    pub fn bot(&self, id: i64, name: &str) -> i64 {
        let bot = crate::User { is_bot: true, ..people::person(id, name) };
        self.shared().change(|state| state.users.insert(id, bot));
        id
    }

    /// The private chat of a person with the bot, which that person has begun. The person must be known.
    pub fn private(&self, user: i64) -> ChatId {
        let id = ChatId(user);
        let done = self.shared().change(|state| {
            let name = state.users.get(&user).map(|user| user.name.clone())?;
            state.chats.entry(id).or_insert_with(|| Chat::new(id, ChatKind::Private, &name));
            Some(())
        });
        assert!(done.is_some(), "there is no user {user}: make one with Fake::user first");
        id
    }

    /// A supergroup, which is what a team's group is. The bot is a member.
    pub fn group(&self, title: &str) -> ChatId {
        self.shared().change(|state| state.add_chat(ChatKind::Supergroup, title))
    }

    /// A basic group: the small kind that was never made a supergroup. The bot is a member.
    pub fn basic_group(&self, title: &str) -> ChatId {
        self.shared().change(|state| state.add_chat(ChatKind::Group, title))
    }

    /// Makes a basic group a supergroup, as whoever turns on its history does; the new id. Both chats are told, and nobody can
    /// write into the old one any more.
    pub fn upgrade(&self, group: ChatId) -> ChatId {
        self.shared()
            .change(|state| {
                let (title, members) =
                    state.chats.get(&group).map(|chat| (chat.title.clone(), chat.members.clone()))?;
                let (to, date) = (state.add_chat(ChatKind::Supergroup, &title), state.clock.now());
                for (chat, service) in [(group, Service::MovedTo(to)), (to, Service::MovedFrom(group))] {
                    let chat = state.chats.get_mut(&chat)?;
                    let mut notice = Message::new(chat.id, chat.next_id(), date);
                    notice.from = members.keys().next().copied();
                    notice.service = Some(service);
                    let (id, message) = (chat.id, notice.id);
                    chat.members.clone_from(&members);
                    chat.messages.insert(message, notice);
                    state.tell_message(id, message, false);
                }
                state.chats.get_mut(&group)?.moved_to = Some(to);
                Some(to)
            })
            .unwrap_or_else(|| panic!("there is no group {group:?}"))
    }

    /// A supergroup with topics. The bot is a member.
    pub fn forum(&self, title: &str) -> ChatId {
        self.shared().change(|state| state.add_chat(ChatKind::Forum, title))
    }

    /// A channel, in which the bot may post.
    pub fn channel(&self, title: &str) -> ChatId {
        self.shared().change(|state| {
            let id = state.add_chat(ChatKind::Channel, title);
            if let Some(chat) = state.chats.get_mut(&id) {
                chat.bot = Role::Administrator;
            }
            id
        })
    }

    /// A topic of a forum; its id. The bot is not told.
    pub fn topic(&self, forum: ChatId, name: &str) -> i64 {
        let opened = self.shared().change(|state| {
            let date = state.clock.now();
            let chat = state.chats.get_mut(&forum).filter(|chat| chat.kind == ChatKind::Forum)?;
            let opening = Message::new(forum, chat.next_id(), date);
            Some(open_topic(chat, opening, name))
        });
        opened.unwrap_or_else(|| panic!("{forum:?} is no forum, so it can have no topic"))
    }

    /// Makes the bot an administrator, or a member again. The bot is told.
    pub fn set_admin(&self, chat: ChatId, admin: bool) {
        let role = if admin { Role::Administrator } else { Role::Member };
        self.shared().change(|state| state.set_bot_role(chat, role));
    }

    /// Turns inline mode on, as it is, or off, as it is at `@BotFather` until somebody turns it on.
    pub fn set_inline(&self, on: bool) {
        self.shared().change(|state| state.inline_mode = on);
    }

    /// From now on the bot's updates are said to go to this web server, and whoever polls for them is refused; until the bot
    /// deletes the webhook. Nothing is sent there.
    pub fn set_webhook(&self, url: &str) {
        self.shared().change(|state| url.clone_into(&mut state.webhook));
    }

    /// What a person is in a chat, for `getChatMember`. Whoever says something is a member without this.
    pub fn set_role(&self, chat: ChatId, user: i64, role: Role) {
        let done = self
            .shared()
            .change(|state| state.chats.get_mut(&chat).map(|chat| chat.members.insert(user, role)).is_some());
        assert!(done, "there is no chat {chat:?}");
    }

    /// Throws the bot out. It is told, and can write there no more.
    pub fn kick(&self, chat: ChatId) {
        self.shared().change(|state| state.set_bot_role(chat, Role::Kicked));
    }

    /// Takes the bot in again as a member.
    pub fn invite(&self, chat: ChatId) {
        self.shared().change(|state| state.set_bot_role(chat, Role::Member));
    }

    /// The person blocks the bot.
    pub fn block(&self, user: i64) {
        self.set_blocked(user, true);
    }

    /// The person lets the bot write again.
    pub fn unblock(&self, user: i64) {
        self.set_blocked(user, false);
    }

    fn set_blocked(&self, user: i64, blocked: bool) {
        let found = self.shared().change(|state| {
            let role = if blocked { Role::Kicked } else { Role::Member };
            let found = state.users.get_mut(&user).map(|user| user.blocked = blocked).is_some();
            // A private chat tells the bot in the same words as a group, and what blocks is the user.
            state.set_bot_role(ChatId(user), role);
            if let Some(chat) = state.chats.get_mut(&ChatId(user)) {
                chat.bot = Role::Member;
            }
            found
        });
        assert!(found, "there is no user {user}");
    }

    /// Privacy mode: a bot that is no administrator gets only what concerns it. Off at first.
    pub fn set_privacy(&self, on: bool) {
        self.shared().change(|state| state.privacy = on);
    }

    /// Telegram's own limits on sending. Off at first.
    pub fn set_limits(&self, on: bool) {
        self.shared().change(|state| state.limits.on = on);
    }

    /// The date that everything from now on bears, in seconds since 1970. The wall clock's at first.
    pub fn set_date(&self, unix: i64) {
        self.shared().change(|state| state.clock.set(unix));
    }

    /// Lets something go wrong. Rules are tried in the order in which they were made; the first that strikes counts.
    pub fn fault(&self, fault: Fault) {
        self.shared().change(|state| state.faults.add(fault));
    }

    /// Ends all faults. What already waits for an answer that never comes goes on waiting.
    pub fn clear_faults(&self) {
        self.shared().change(|state| state.faults.clear());
    }
}
