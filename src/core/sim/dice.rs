//! Chance from a seed, so that what happened can happen again. What is thrown for is not decided here.

/// Pseudo-random numbers (splitmix64): any seed will do, also one that is a small number.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

/// What two neighbouring seeds of a run lie apart: an odd number with its bits well spread.
const APART: u64 = 0x9e37_79b9_7f4a_7c15;

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed of the n-th part of a run; the first has the run's own, so that one part can be run alone.
    pub(crate) const fn seed_of(run: u64, n: u64) -> u64 {
        run.wrapping_add(n.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(APART);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn wide(&mut self) -> u128 {
        let low = u128::from(self.next());
        (u128::from(self.next()) << 64) | low
    }

    pub(crate) const fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) const fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A position in something of this length, which must not be 0.
    pub(crate) fn at(&mut self, length: usize) -> usize {
        let end = u64::try_from(length).expect("invariant: a length fits into 64 bits");
        usize::try_from(self.below(end)).expect("invariant: below a length")
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        *self.any(of).expect("invariant: there is something to pick")
    }

    /// One of these; none where there is none.
    pub(crate) fn any<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        (!of.is_empty()).then(|| of.get(self.at(of.len()))).flatten()
    }

    /// A time in milliseconds below this one.
    pub(crate) fn ms(&mut self, end: i64) -> i64 {
        i64::try_from(self.below(end.unsigned_abs())).expect("invariant: below a number of that type")
    }
}
