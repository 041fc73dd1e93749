//! What one question to a model has used, all its tries and steps together: as the server counts it, else estimated by the
//! characters, so that no budget goes without; also where the question came to nothing.

use countersign_core::usage::Usage;

use super::wire::Tokens;

/// How many characters a token has, where a server does not count.
const TOKEN_CHARS: u64 = 3;

/// The sum, and what of it is under way.
pub(super) struct Meter {
    /// What a million tokens cost, read and written, in millionths of the currency.
    prices: (u64, u64),
    counted: Usage,
    /// Characters told and heard in the try that is under way.
    open: Option<(usize, usize)>,
}

impl Meter {
    pub(super) const fn new(prices: (u64, u64)) -> Self {
        Self { prices, counted: Usage { tokens_in: 0, tokens_out: 0, cost_micros: 0 }, open: None }
    }

    /// A try begins: so many characters are told.
    pub(super) const fn told(&mut self, chars: usize) {
        self.open = Some((chars, 0));
    }

    /// So many characters were heard in it so far.
    pub(super) const fn heard(&mut self, chars: usize) {
        if let Some(open) = &mut self.open {
            open.1 = chars;
        }
    }

    /// It is over, and the server counted this, where it counts.
    pub(super) fn counted(&mut self, tokens: Option<Tokens>) {
        let (told, heard) = self.open.take().unwrap_or_default();
        let tokens = tokens.unwrap_or(Tokens { read: estimate(told), written: estimate(heard) });
        self.counted = self.counted.plus(self.usage(tokens));
    }

    /// Nothing was done for it.
    pub(super) const fn nothing(&mut self) {
        self.open = None;
    }

    /// Everything together. A try that never came to its end was made all the same.
    pub(super) fn total(mut self) -> Usage {
        if self.open.is_some() {
            self.counted(None);
        }
        self.counted
    }

    fn usage(&self, Tokens { read, written }: Tokens) -> Usage {
        let price = |tokens: u64, per_million: u64| tokens.saturating_mul(per_million).div_ceil(1_000_000);
        let cost_micros = price(read, self.prices.0).saturating_add(price(written, self.prices.1));
        Usage { tokens_in: read, tokens_out: written, cost_micros }
    }
}

fn estimate(chars: usize) -> u64 {
    u64::try_from(chars).unwrap_or(u64::MAX).div_ceil(TOKEN_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_counts_is_summed_and_what_it_does_not_is_estimated() {
        let mut meter = Meter::new((1_000_000, 2_000_000));
        meter.told(9_000);
        meter.counted(Some(Tokens { read: 1_500, written: 10 }));
        meter.told(300);
        meter.nothing();
        meter.told(300);
        meter.heard(4);
        meter.counted(None);
        assert_eq!(meter.counted, Usage { tokens_in: 1_600, tokens_out: 12, cost_micros: 1_624 });
        meter.told(30);
        meter.heard(3);
        let total = Usage { tokens_in: 1_610, tokens_out: 13, cost_micros: 1_636 };
        assert_eq!(meter.total(), total, "a try that was broken off has used something, too");
    }
}
