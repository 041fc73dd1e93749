//! Lays lines into messages: as many as fit into one, then the next. A line that is longer than a message is cut, visibly.
//! What a line costs and how it is drawn is in `line`.

use countersign_core::port::DeliveryNotes;

use super::line::{FENCE_UNITS, Line};

/// Room that every message keeps for the notes of its delivery.
const NOTES_UNITS: usize = DeliveryNotes::CHARS_MAX + 3;

/// A message that nothing will take the place of, in UTF-16 units.
pub(super) const FULL: usize = crate::TEXT_CHARS_MAX - NOTES_UNITS;

/// A message that will say more later, where it stands: a card says at its end what became of it.
pub(super) const SPARING: usize = FULL - 600;

/// The lines as messages, in order. A message of nothing but blank lines is left out: Discord takes none.
pub(super) fn pack(lines: Vec<Line>, room: usize) -> Vec<Vec<Line>> {
    let mut packer = Packer { room, full: Vec::new(), open: Vec::new(), used: 0 };
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
    room: usize,
    full: Vec<Vec<Line>>,
    open: Vec<Line>,
    used: usize,
}

impl Packer {
    fn put(&mut self, mut line: Line) {
        if self.used + self.cost(&line) > self.room {
            self.turn();
        }
        while self.cost(&line) > self.room {
            let fence = if line.fence.is_some() { FENCE_UNITS } else { 0 };
            let (head, tail) = line.cut(self.room - fence - line.sign().len());
            self.add(head);
            self.turn();
            line = tail;
        }
        self.add(line);
    }

    /// What the line costs here: its end where others stand before it, and the fence that it opens.
    fn cost(&self, line: &Line) -> usize {
        let before = self.open.last();
        let opens = before.is_none_or(|before| before.frame() != line.frame());
        line.cost() + usize::from(before.is_some()) + if opens && line.fence.is_some() { FENCE_UNITS } else { 0 }
    }

    fn add(&mut self, line: Line) {
        self.used += self.cost(&line);
        self.open.push(line);
    }

    fn turn(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.used = 0;
        if open.iter().any(|line| !line.text().trim().is_empty()) {
            self.full.push(open);
        }
    }
}
