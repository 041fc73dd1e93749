//! What a press or a reaction decides: found out among the bot's own messages, never from what the platform was given to
//! carry. Only what was said in the same conversation counts; who may decide is judged by the core.

use std::sync::Arc;

use countersign_core::port::{Admission, Asker, Block, CardChoice, Outgoing, Right, Sign, Touch, Touched};
use countersign_core::signal::{Addressed, EventId, Ground, Payload, Signal, SignalId, ThreadKey, Wall};

use super::Engine;
use crate::store::{StoreError, TouchedPost};

impl Engine {
    /// Takes a press or a reaction. A button that is nobody's is taken all the same: it decides nothing, and is recorded
    /// (AC-07). A reaction to anything but a card is only that; one to a message that may be a card of ours is not taken
    /// before that is known.
    pub(super) async fn take_touch(self: &Arc<Self>, touch: Touch) -> anyhow::Result<Admission> {
        let Some(post) = self.touched(&touch).await? else { return Ok(Admission::Busy) };
        let found = match &touch.on {
            Touched::Button { data, on } => {
                Some(pressed(post, data, on).unwrap_or_else(|| (Payload::Stray, touch.thread.clone())))
            }
            Touched::Message { sign, .. } => {
                post.and_then(|post| Some((signed(&message(&post)?, *sign)?, post.thread)))
            }
        };
        let Some((payload, thread)) = found else { return Ok(Admission::Unknown) };
        self.take(signal_of(touch, thread, payload)).await
    }

    /// Returns the message of ours that was touched, if it is one. If that is not known, waits for the messages on their way
    /// there and looks again; none if it may still become known. Only for an actor with the right to talk does this wait.
    async fn touched(&self, touch: &Touch) -> Result<Option<Option<TouchedPost>>, StoreError> {
        let found = self.look(touch).await?;
        if is_known(touch, found.as_ref()) || !self.may(&asker(touch), &Right::Talk) {
            return Ok(Some(found));
        }
        let is_settled = self.outbox.landed_near(&touch.thread, self.clock.mono()).await;
        let found = self.look(touch).await?;
        Ok((is_settled || is_known(touch, found.as_ref())).then_some(found))
    }

    /// Reads the message of ours that was touched.
    async fn look(&self, touch: &Touch) -> Result<Option<TouchedPost>, StoreError> {
        self.sound(match &touch.on {
            Touched::Message { event, .. } => self.store.touched_message(&touch.thread, event).await,
            Touched::Button { data, .. } => match parse(data) {
                Some((id, _)) => self.store.touched_post(&touch.thread, id).await,
                None => Ok(None),
            },
        })
    }
}

/// Returns whether nothing more need become known of what was touched. A button names its message, whose platform ids are stored
/// when it is sent; of one that may be out already, they do not count.
fn is_known(touch: &Touch, found: Option<&TouchedPost>) -> bool {
    match &touch.on {
        Touched::Message { .. } => found.is_some(),
        Touched::Button { .. } => found.is_none_or(|post| post.is_repeat || !post.parts.is_empty()),
    }
}

/// Returns the decision of a button and the thread of its card. A button on any other message decides nothing. Of a card that may
/// have been sent twice, the id of the first copy is not known: it decides until the second one is out.
fn pressed(post: Option<TouchedPost>, button: &str, on: &EventId) -> Option<(Payload, ThreadKey)> {
    let post = post.filter(|post| post.is_repeat || post.parts.contains(on))?;
    let (_, place) = parse(button)?;
    let is_older_copy = !post.parts.is_empty() && !post.parts.contains(on);
    let payload = match meaning(&message(&post)?, place)? {
        Payload::Decision { .. } if is_older_copy => Payload::OlderCopy,
        meant => meant,
    };
    Some((payload, post.thread))
}

/// `POST:N`, written as an adapter writes it and in no other way.
fn parse(button: &str) -> Option<(&str, u32)> {
    let (post, place) = button.split_once(':')?;
    let n: u32 = place.parse().ok()?;
    (!post.is_empty() && n.to_string() == place).then_some((post, n))
}

fn message(post: &TouchedPost) -> Option<Outgoing> {
    serde_json::from_str(&post.body).ok()
}

/// What the button at this place of a message means.
fn meaning(message: &Outgoing, place: u32) -> Option<Payload> {
    message.blocks.iter().find_map(|block| match block {
        Block::Card { .. } => match place {
            0 => decision(message, CardChoice::Approve),
            1 => decision(message, CardChoice::Deny),
            2 => details(message),
            _ => None,
        },
        Block::Choices { .. } => pick(message, place),
        Block::Text { .. } | Block::Quote { .. } | Block::Code { .. } | Block::Fields { .. } | Block::Table { .. } => {
            None
        }
    })
}

/// What a reaction to a message means.
fn signed(message: &Outgoing, sign: Sign) -> Option<Payload> {
    match sign {
        Sign::Approve => decision(message, CardChoice::Approve),
        Sign::Deny => decision(message, CardChoice::Deny),
        Sign::Details => details(message),
        Sign::Pick(place) => pick(message, place),
    }
}

/// The choice at this place of a message's question; none where it asks none, or offers fewer.
fn pick(message: &Outgoing, place: u32) -> Option<Payload> {
    message.blocks.iter().find_map(|block| match block {
        Block::Choices { question, choices } => {
            let is_one = usize::try_from(place).is_ok_and(|place| place < choices.len());
            is_one.then(|| Payload::Choice { question: question.clone(), pick: place })
        }
        _ => None,
    })
}

/// The decision that a message's card was given; none where it holds no card, or not this choice.
fn decision(message: &Outgoing, choice: CardChoice) -> Option<Payload> {
    message.blocks.iter().find_map(|block| match block {
        Block::Card { plan, digest, choices, .. } if choices.contains(&choice) => {
            let (plan, digest) = (plan.clone(), digest.clone());
            Some(Payload::Decision { plan, digest, choice, reason: String::new() })
        }
        _ => None,
    })
}

/// The details of the plan of a message's card; none where it holds no card that can be decided.
fn details(message: &Outgoing) -> Option<Payload> {
    message.blocks.iter().find_map(|block| match block {
        Block::Card { plan, choices, .. } if !choices.is_empty() => Some(Payload::Details { plan: plan.clone() }),
        _ => None,
    })
}

fn asker(touch: &Touch) -> Asker<'_> {
    let Touch { actor, platform_roles, assurance, thread, room, .. } = touch;
    Asker { actor, platform_roles, assurance: *assurance, thread, room: *room }
}

/// It addresses the bot: nobody else's messages have these buttons.
fn signal_of(touch: Touch, thread: ThreadKey, payload: Payload) -> Signal {
    let Touch { event, room, actor, platform_roles, assurance, reason: why, .. } = touch;
    let payload = match payload {
        Payload::Decision { plan, digest, choice, .. } => Payload::Decision { plan, digest, choice, reason: why },
        other => other,
    };
    Signal {
        id: SignalId::new(""),
        event,
        thread,
        room,
        actor,
        platform_roles,
        assurance,
        addressed: Addressed::Reply,
        follows: None,
        payload,
        depth: 0,
        ground: Ground::Foreground,
        received_at: Wall(0),
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::approval::{Digest, PlanId, Risk};
    use countersign_core::port::{Choice, Claim, Lane, Mark, Visibility};
    use countersign_core::signal::QuestionId;
    use countersign_core::testkit::thread_key;

    use super::*;

    fn with(block: Block) -> Outgoing {
        let text = Block::Text { text: "before it".to_owned() };
        Outgoing {
            to: thread_key("main"),
            answers: SignalId::new("s"),
            mark: Mark::Question,
            lane: Lane::Decision,
            visibility: Visibility::Everybody,
            claim: Claim::Nothing,
            blocks: vec![text, block],
        }
    }

    fn card(choices: &[CardChoice]) -> Outgoing {
        let (plan, digest) = (PlanId::from_random(7), Digest::of(b"card"));
        with(Block::Card { plan, digest, risk: Risk::Medium, choices: choices.to_vec() })
    }

    #[test]
    fn a_button_means_what_stands_at_its_place_and_nothing_else_does() {
        let both = card(&[CardChoice::Approve, CardChoice::Deny]);
        let decided = |choice| Payload::Decision {
            plan: PlanId::from_random(7),
            digest: Digest::of(b"card"),
            choice,
            reason: String::new(),
        };
        assert_eq!(meaning(&both, 0), Some(decided(CardChoice::Approve)));
        assert_eq!(meaning(&both, 1), Some(decided(CardChoice::Deny)));
        assert_eq!(meaning(&both, 2), Some(Payload::Details { plan: PlanId::from_random(7) }));
        assert_eq!(meaning(&both, 3), None);
        assert_eq!(meaning(&card(&[]), 2), None, "what is decided has no buttons");
        assert_eq!(signed(&both, Sign::Details), meaning(&both, 2));
        assert_eq!(meaning(&card(&[CardChoice::Deny]), 0), None, "a card that cannot be approved");
        assert_eq!(meaning(&card(&[CardChoice::Deny]), 1), Some(decided(CardChoice::Deny)));
        let label = |label: &str| Choice { label: label.to_owned(), about: String::new() };
        let question = QuestionId::new("q");
        let asks = with(Block::Choices { question: question.clone(), choices: vec![label("a"), label("b")] });
        assert_eq!(meaning(&asks, 1), Some(Payload::Choice { question, pick: 1 }));
        assert_eq!(meaning(&asks, 2), None);
        assert_eq!(signed(&asks, Sign::Approve), None, "a thumb decides cards only");
        assert_eq!(signed(&asks, Sign::Pick(1)), meaning(&asks, 1));
        assert_eq!(signed(&asks, Sign::Pick(2)), None);
        assert_eq!(signed(&both, Sign::Deny), meaning(&both, 1));
        assert_eq!(signed(&both, Sign::Pick(0)), None, "a number picks an answer, and approves nothing");
        assert_eq!(meaning(&with(Block::Code { text: "x".to_owned() }), 0), None);
    }

    #[test]
    fn a_button_is_read_only_as_it_was_written() {
        assert_eq!(parse("0123:1"), Some(("0123", 1)));
        for forged in
            ["", ":", "0123", "0123:", ":0", "0123:+1", "0123:01", "0123:-1", "0123:1:1", "0123: 1", "0123:99999999999"]
        {
            assert_eq!(parse(forged), None, "{forged}");
        }
    }
}
