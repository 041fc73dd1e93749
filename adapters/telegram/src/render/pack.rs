//! Lays lines into messages: as many as fit into one, then the next. A line that is longer than a message is cut, visibly.
//! What a line costs and how it is drawn is in `line`.

use countersign_core::port::DeliveryNotes;

use super::line::{Cost, Line};

/// The most UTF-16 code units of a message, after its markup is taken out (the Bot API's `sendMessage`).
const UNITS_MAX: usize = 4096;

/// Room that every message keeps for the notes of its delivery.
const NOTES_UNITS: usize = DeliveryNotes::CHARS_MAX + 1;

/// The most spans of markup that are used in a message: Telegram ignores those after the hundredth, and finds some itself.
const ENTITIES_MAX: usize = 80;

/// A message that nothing will take the place of.
pub(super) const FULL: Cost = Cost { units: UNITS_MAX - NOTES_UNITS, entities: ENTITIES_MAX };

/// A message that will say more later, where it stands: a card says at its end what became of it.
pub(super) const SPARING: Cost = Cost { units: FULL.units - 600, entities: FULL.entities - 10 };

/// The lines as messages, in order. A message of nothing but blank lines is left out: Telegram takes none.
pub(super) fn pack(lines: Vec<Line>, room: Cost) -> Vec<Vec<Line>> {
    let mut packer = Packer { room, full: Vec::new(), open: Vec::new(), used: Cost::default() };
    for line in lines {
        packer.put(line);
    }
    packer.turn();
    packer.full
}

/// The lines in this many messages that are there already: what is too much for the last of them is added to it as far as
/// there is room. None where there is not enough.
pub(super) fn fit(lines: Vec<Line>, places: usize) -> Option<Vec<Vec<Line>>> {
    let mut texts = pack(lines, SPARING);
    let beyond = texts.split_off(places.min(texts.len()));
    if beyond.is_empty() {
        return Some(texts);
    }
    let last = texts.pop()?;
    let mut joined = pack(last.into_iter().chain(beyond.into_iter().flatten()).collect(), FULL);
    let last = joined.pop().filter(|_| joined.is_empty())?;
    texts.push(last);
    Some(texts)
}

struct Packer {
    room: Cost,
    full: Vec<Vec<Line>>,
    open: Vec<Line>,
    used: Cost,
}

impl Packer {
    fn put(&mut self, mut line: Line) {
        if !self.used.plus(self.cost(&line)).fits(self.room) {
            self.turn();
        }
        while !self.cost(&line).fits(self.room) {
            let framed = usize::from(line.frame() != (None, None));
            let sign = line.sign().len();
            let room = Cost { units: self.room.units - sign, entities: self.room.entities - framed };
            let (head, tail) = line.cut(room);
            self.add(head);
            self.turn();
            line = tail;
        }
        self.add(line);
    }

    /// What the line costs here: its end where others stand before it, and the fence that it opens.
    fn cost(&self, line: &Line) -> Cost {
        let before = self.open.last();
        let opens = before.is_none_or(|before| before.frame() != line.frame());
        let own =
            Cost { units: usize::from(before.is_some()), entities: usize::from(opens && line.frame() != (None, None)) };
        line.cost().plus(own)
    }

    fn add(&mut self, line: Line) {
        self.used = self.used.plus(self.cost(&line));
        self.open.push(line);
    }

    fn turn(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.used = Cost::default();
        if open.iter().any(|line| !line.text().trim().is_empty()) {
            self.full.push(open);
        }
    }
}
