//! Series of numbers in buckets of time that widen with the span.
use crate::fold::ordered_map::FastMap;

/// See `kraftops.engine.timeline_contract`, for these and for the names of `Count`.
pub const LEVELS: [&str; 3] = ["offline", "underMinIsr", "underReplicated"];
pub const COUNTS: [&str; 5] = [
    "records",
    "elections",
    "uncleanElections",
    "isrShrinks",
    "isrExpands",
];

/// An event that is counted, in the order of `COUNTS`.
#[derive(Clone, Copy)]
pub enum Count {
    Records,
    Elections,
    UncleanElections,
    IsrShrinks,
    IsrExpands,
}

/// Numbers by bucket, for each of `COUNTS`.
pub type Counts = [Vec<u64>; COUNTS.len()];

pub struct Buckets {
    steps: Vec<i64>,
    most: usize,
    most_brokers: usize,
    /// The place of the step.
    at: usize,
    /// The number of the first bucket.
    origin: Option<i64>,
    /// The time at which the last bucket that was reached ends, and its place.
    last: (i64, usize),
    pub peaks: [Vec<u64>; LEVELS.len()],
    /// Of all brokers together.
    pub totals: Counts,
    /// The places of brokers in `counts`.
    pub brokers: FastMap<i32, usize>,
    pub counts: Vec<Counts>,
}

impl Buckets {
    /// *steps* are widths in ms, each of which divides the next.
    pub fn new(steps: Vec<i64>, most: usize, most_brokers: usize) -> Self {
        Buckets {
            steps,
            most: most.max(1),
            most_brokers,
            at: 0,
            origin: None,
            last: (i64::MIN, 0),
            peaks: Default::default(),
            totals: Default::default(),
            brokers: FastMap::default(),
            counts: Vec::new(),
        }
    }

    fn step(&self) -> i64 {
        self.steps.get(self.at).copied().unwrap_or(1)
    }

    /// The begin of the first bucket, and the width.
    pub fn start(&self) -> Option<(i64, i64)> {
        let step = self.step();
        self.origin.map(|origin| (origin * step, step))
    }

    /// Return the place of the bucket of a time, with all before it filled with the levels.
    ///
    /// Times never go back.
    #[inline]
    pub fn reach(&mut self, time: i64, levels: &[u64; LEVELS.len()]) -> usize {
        if time < self.last.0 {
            return self.last.1;
        }
        self.reach_next(time, levels)
    }

    fn reach_next(&mut self, time: i64, levels: &[u64; LEVELS.len()]) -> usize {
        let mut origin = *self.origin.get_or_insert(time / self.step());
        while time / self.step() - origin >= self.most as i64 && self.at + 1 < self.steps.len() {
            origin = self.widen(origin);
        }
        let place = ((time / self.step() - origin) as usize).min(self.most - 1);
        for (peaks, level) in self.peaks.iter_mut().zip(levels) {
            if peaks.len() <= place {
                peaks.resize(place + 1, *level);
            }
        }
        self.last = ((origin + place as i64 + 1) * self.step(), place);
        place
    }

    /// Raise the last level to a number.
    pub fn raise(&mut self, level: usize, number: u64) {
        if let Some(last) = self.peaks[level].last_mut() {
            *last = number.max(*last);
        }
    }

    /// Count an event of a broker, or of all.
    #[inline]
    pub fn count(&mut self, what: Count, broker: Option<i32>, place: usize) {
        let Some(broker) = broker else {
            return add_at(&mut self.totals[what as usize], place);
        };
        let broker_count = self.brokers.len();
        let broker_place = match self.brokers.get(&broker) {
            Some(broker_place) => *broker_place,
            None if broker_count >= self.most_brokers => return,
            None => {
                self.brokers.insert(broker, broker_count);
                self.counts.push(Counts::default());
                broker_count
            }
        };
        add_at(&mut self.counts[broker_place][what as usize], place);
    }

    fn widen(&mut self, origin: i64) -> i64 {
        let before = self.step();
        self.at += 1;
        let factor = self.step() / before;
        let wider = origin / factor;
        let shift = (origin - wider * factor) as usize;
        let factor = factor as usize;
        for values in &mut self.peaks {
            *values = joined(values, factor, shift, u64::max);
        }
        let sum = |count: u64, other: u64| count + other;
        let all = std::iter::once(&mut self.totals).chain(&mut self.counts);
        for values in all.flatten() {
            *values = joined(values, factor, shift, sum);
        }
        self.origin = Some(wider);
        wider
    }
}

fn add_at(values: &mut Vec<u64>, place: usize) {
    if values.len() <= place {
        values.resize(place + 1, 0);
    }
    values[place] += 1;
}

/// Join *factor* values each; the first *shift* are missing.
fn joined(values: &[u64], factor: usize, shift: usize, join: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    let mut sums: Vec<u64> = Vec::new();
    for (place, value) in (shift..).zip(values) {
        match sums.get_mut(place / factor) {
            Some(last) => *last = join(*last, *value),
            None => sums.push(*value),
        }
    }
    sums
}

/// A copy without the zeros at the end.
pub fn trimmed(values: &[u64]) -> Vec<u64> {
    let end = values.iter().rposition(|count| *count != 0);
    values[..end.map_or(0, |last| last + 1)].to_vec()
}
