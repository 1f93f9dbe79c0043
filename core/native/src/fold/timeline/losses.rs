//! What partitions and topics lost over time, the worst first.
use super::tracks::{Past, Track};
use super::{LEVEL_COUNT, Timeline};

/// See `kraftops.engine.timeline_contract.Loss`.
#[derive(Clone)]
pub struct Loss {
    pub topic: String,
    pub number: i64,
    pub is_deleted: bool,
    pub lost: [i64; LEVEL_COUNT],
    pub elections: u64,
    pub isr_changes: u64,
    pub address: Option<u64>,
}

/// The losses of the worst, and the number of all.
pub struct Worst {
    pub losses: Vec<Loss>,
    pub total: usize,
}

/// See `kraftops.engine.timeline_contract.Timeline`.
pub struct Losses {
    pub touched: [u64; LEVEL_COUNT],
    pub partitions: Worst,
    pub topics: Worst,
}

impl Timeline {
    pub fn losses(&self) -> Losses {
        let mut touched = [0; LEVEL_COUNT];
        let (mut partitions, mut topics) = (Vec::new(), Vec::new());
        for (place, topic) in self.topics.iter().enumerate() {
            let mut sum: Option<Loss> = None;
            let there = self.tracks.of(&topic.places);
            let there = there.map(|(number, track)| (number, self.past_of(track)));
            let gone = self.gone.get(topic.gone.clone()).unwrap_or(&[]);
            for (number, past) in there.chain(gone.iter().cloned()) {
                let Some(loss) = loss(number, &past, &mut touched) else {
                    continue;
                };
                sum = Some(added(sum, &loss));
                partitions.push((place, loss));
            }
            topics.extend(sum.map(|sum| (place, sum)));
        }
        Losses {
            touched,
            partitions: self.worst(partitions),
            topics: self.worst(topics),
        }
    }

    /// The past of a partition up to now.
    fn past_of(&self, track: &Track) -> Past {
        let mut past = track.past.clone();
        for level in 0..LEVEL_COUNT {
            if track.holds[level] {
                past.ever[level] |= self.progress.began.is_some();
                past.lost[level] += self.progress.spent(track, level);
            }
        }
        past
    }

    /// The worst of losses that have the places of their topics.
    fn worst(&self, mut all: Vec<(usize, Loss)>) -> Worst {
        let total = all.len();
        let rank = |(place, one): &(usize, Loss)| {
            let counts = (u64::MAX - one.elections, u64::MAX - one.isr_changes);
            (one.lost.map(|lost| -lost), counts, *place, one.number)
        };
        if total > self.request.worst {
            all.select_nth_unstable_by_key(self.request.worst, rank);
        }
        all.truncate(self.request.worst);
        all.sort_unstable_by_key(rank);
        let named = all.into_iter().filter_map(|(place, loss)| {
            let topic = self.topics.get(place)?;
            Some(Loss {
                topic: topic.name.to_string(),
                is_deleted: topic.is_deleted,
                ..loss
            })
        });
        Worst {
            losses: named.collect(),
            total,
        }
    }
}

/// The losses of a partition, without its topic; none if it has none.
fn loss(number: i32, past: &Past, touched: &mut [u64; LEVEL_COUNT]) -> Option<Loss> {
    for (count, ever) in touched.iter_mut().zip(past.ever) {
        *count += ever as u64;
    }
    let tells = past.lost != [0; LEVEL_COUNT] || past.elections != 0 || past.isr_changes != 0;
    tells.then(|| Loss {
        topic: String::new(),
        number: number.into(),
        is_deleted: false,
        lost: past.lost,
        elections: past.elections,
        isr_changes: past.isr_changes,
        address: past.trouble,
    })
}

/// The sum of the losses of a topic; its number is how many they are.
fn added(sum: Option<Loss>, one: &Loss) -> Loss {
    let Some(mut sum) = sum else {
        return Loss {
            number: 1,
            ..one.clone()
        };
    };
    sum.number += 1;
    for (total, lost) in sum.lost.iter_mut().zip(one.lost) {
        *total += lost;
    }
    sum.elections += one.elections;
    sum.isr_changes += one.isr_changes;
    sum.address = match (sum.address, one.address) {
        (Some(first), Some(other)) => Some(first.min(other)),
        (first, other) => first.or(other),
    };
    sum
}
