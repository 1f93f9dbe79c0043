//! What partitions and topics lost over time, the worst first.
use super::{LEVEL_COUNT, Timeline, bit};
use crate::fold::topics::{Topic, Topics};
use pyo3::prelude::*;
use std::sync::Arc;

/// Losses that are kept besides the worst before these are sorted out.
const MOST_KEPT: usize = 4096;

/// See `kraftops.engine.timeline_contract.Loss`.
#[pyclass(frozen)]
#[derive(Clone)]
pub struct Loss {
    topic: Arc<str>,
    /// The topic's place in the order in which topics came.
    since: u64,
    #[pyo3(get)]
    number: i64,
    #[pyo3(get)]
    is_deleted: bool,
    lost: [i64; LEVEL_COUNT],
    #[pyo3(get)]
    elections: u64,
    #[pyo3(get)]
    isr_changes: u64,
    #[pyo3(get)]
    address: Option<u64>,
}

#[pymethods]
impl Loss {
    #[getter]
    fn topic(&self) -> &str {
        &self.topic
    }

    #[getter]
    fn offline(&self) -> i64 {
        self.lost[0]
    }

    #[getter]
    fn under_min_isr(&self) -> i64 {
        self.lost[1]
    }

    #[getter]
    fn under_replicated(&self) -> i64 {
        self.lost[2]
    }
}

/// The losses of the worst, and the number of all.
#[derive(Default, Clone)]
pub struct Worst {
    pub losses: Vec<Loss>,
    pub total: usize,
}

/// See `kraftops.engine.timeline_contract.Timeline`.
#[derive(Default, Clone)]
pub struct Losses {
    pub touched: [u64; LEVEL_COUNT],
    pub partitions: Worst,
    pub topics: Worst,
}

impl Loss {
    fn rank(&self) -> ([i64; LEVEL_COUNT], [u64; 3], i64) {
        let counts = [self.elections, self.isr_changes].map(|count| u64::MAX - count);
        let [elections, isr_changes] = counts;
        let lost = self.lost.map(|lost| -lost);
        (lost, [elections, isr_changes, self.since], self.number)
    }
}

impl Worst {
    fn add(&mut self, loss: Loss, most: usize) {
        self.total += 1;
        self.losses.push(loss);
        if self.losses.len() > most + MOST_KEPT {
            self.cut(most);
        }
    }

    /// Keep the worst, in any order.
    fn cut(&mut self, most: usize) {
        if self.losses.len() > most {
            self.losses.select_nth_unstable_by_key(most, Loss::rank);
            self.losses.truncate(most);
        }
    }

    fn sort(&mut self, most: usize) {
        self.cut(most);
        self.losses.sort_unstable_by_key(Loss::rank);
    }
}

impl Timeline {
    pub fn losses(&self, topics: &Topics) -> Losses {
        let mut losses = self.gone.clone();
        for topic in topics.iter() {
            self.add_losses(topic, false, &mut losses);
        }
        losses.partitions.sort(self.request.worst);
        losses.topics.sort(self.request.worst);
        losses
    }

    /// Add the losses of a topic and its partitions.
    pub(super) fn add_losses(&self, topic: &Topic, is_deleted: bool, losses: &mut Losses) {
        let Some(now) = self.progress.now.filter(|_| self.progress.began.is_some()) else {
            return; // nothing counts before the timeline began
        };
        let most = self.request.worst;
        let mut sum: Option<Loss> = None;
        for (number, partition) in topic.partitions() {
            let track = partition.changes().and_then(|place| self.tracks.get(place));
            let Some(track) = track else { continue };
            for (level, count) in losses.touched.iter_mut().enumerate() {
                *count += ((track.ever | track.holds) & bit(level) != 0) as u64;
            }
            let lost = track.lost_until(now);
            if lost == [0; LEVEL_COUNT] && track.elections == 0 && track.isr_changes == 0 {
                continue;
            }
            let loss = Loss {
                topic: Arc::clone(&topic.name),
                since: topic.since,
                number: number.into(),
                is_deleted,
                lost,
                elections: track.elections.into(),
                isr_changes: track.isr_changes.into(),
                address: track.trouble(),
            };
            sum = Some(added(sum, &loss));
            losses.partitions.add(loss, most);
        }
        if let Some(sum) = sum {
            losses.topics.add(sum, most);
        }
    }
}

/// The sum of the losses of a topic; its number is how many they are.
fn added(sum: Option<Loss>, loss: &Loss) -> Loss {
    let Some(mut sum) = sum else {
        return Loss {
            number: 1,
            ..loss.clone()
        };
    };
    sum.number += 1;
    for (total, lost) in sum.lost.iter_mut().zip(loss.lost) {
        *total += lost;
    }
    sum.elections += loss.elections;
    sum.isr_changes += loss.isr_changes;
    sum.address = match (sum.address, loss.address) {
        (Some(first), Some(other)) => Some(first.min(other)),
        (first, other) => first.or(other),
    };
    sum
}
