//! The methods of the Bot API that the fake knows: their names, their parameters, and which room does each. How a request
//! is read is in `params`, how it travels in `server` and `http`.

mod answers;
mod chats;
mod edit;
mod reply;
mod send;
pub(crate) mod updates;

pub(crate) use answers::content;
pub(crate) use chats::open_topic;

use crate::params::Params;
use crate::refusal::{Answer, Refusal};
use crate::state::State;

/// Does one method at once, under the lock. What it refuses has changed nothing.
pub(crate) type Perform = fn(&mut State, &Params) -> Answer;

/// How a method is done.
pub(crate) enum Work {
    Now(Perform),
    /// It waits: see `updates::Poll`.
    Poll,
}

/// One method: its name as Telegram writes it, what it takes, and how it is done.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    params: &'static [&'static str],
    pub(crate) work: Work,
    /// Whether Telegram's limits on sending count it.
    pub(crate) limited: bool,
}

const fn method(name: &'static str, params: &'static [&'static str], perform: Perform) -> Method {
    Method { name, params, work: Work::Now(perform), limited: false }
}

const fn limited(name: &'static str, params: &'static [&'static str], perform: Perform) -> Method {
    Method { name, params, work: Work::Now(perform), limited: true }
}

const GET_UPDATES: &[&str] = &["offset", "limit", "timeout", "allowed_updates"];
const SEND: &[&str] = &[
    "chat_id",
    "message_thread_id",
    "text",
    "parse_mode",
    "entities",
    "link_preview_options",
    "disable_notification",
    "protect_content",
    "reply_parameters",
    "reply_markup",
];
const SEND_DOCUMENT: &[&str] = &[
    "chat_id",
    "message_thread_id",
    "document",
    "caption",
    "parse_mode",
    "caption_entities",
    "disable_content_type_detection",
    "disable_notification",
    "protect_content",
    "reply_parameters",
    "reply_markup",
];
const EDIT_TEXT: &[&str] =
    &["chat_id", "message_id", "text", "parse_mode", "entities", "link_preview_options", "reply_markup"];

static METHODS: [Method; 17] = [
    method("getMe", &[], chats::get_me),
    Method { name: "getUpdates", params: GET_UPDATES, work: Work::Poll, limited: false },
    method("deleteWebhook", &["drop_pending_updates"], updates::delete_webhook),
    method("getWebhookInfo", &[], updates::webhook_info),
    limited("sendMessage", SEND, send::message),
    limited("sendDocument", SEND_DOCUMENT, send::document),
    limited("editMessageText", EDIT_TEXT, edit::text),
    limited("editMessageReplyMarkup", &["chat_id", "message_id", "reply_markup"], edit::reply_markup),
    method("deleteMessage", &["chat_id", "message_id"], edit::delete),
    method("setMessageReaction", &["chat_id", "message_id", "reaction", "is_big"], edit::reaction),
    method("answerCallbackQuery", answers::CALLBACK, answers::callback),
    method("answerInlineQuery", answers::INLINE, answers::inline),
    method("sendChatAction", &["chat_id", "message_thread_id", "action"], send::chat_action),
    method("setMyCommands", &["commands", "scope", "language_code"], chats::set_my_commands),
    method("createForumTopic", &["chat_id", "name", "icon_color", "icon_custom_emoji_id"], chats::create_topic),
    method("getChat", &["chat_id"], chats::get_chat),
    method("getChatMember", &["chat_id", "user_id"], chats::get_chat_member),
];

/// The method of this name, in any case of letters.
pub(crate) fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name.eq_ignore_ascii_case(name))
}

impl Method {
    /// Refuses parameters that it does not take.
    pub(crate) fn check(&self, params: &Params) -> Result<(), Refusal> {
        params.only(self.params)
    }
}
