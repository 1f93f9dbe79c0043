//! What happens over time: levels and counts in buckets, losses of partitions, kept changes.
//!
//! `kraftops.engine.timeline_contract` is the contract, `engine/reference/folding/timeline.py` has
//! the same rules in Python.
use super::buckets::{Buckets, COUNTS, Count, LEVELS, trimmed};
use super::partition::slot;
use super::rules::{MetadataRecord, Op};
use super::text_of;
use super::topics::Id;
use super::watch::EntryChange;
use crate::plan::LocatedFields;
use std::collections::{HashMap, HashSet, VecDeque};

const LEVEL_COUNT: usize = LEVELS.len();
const RECOVERING: i8 = 1;
const LONG_AGO: i64 = -(1 << 62);

/// See `kraftops.engine.timeline_contract.TimelineRequest`.
pub struct TimelineRequest {
    pub since: i64,
    /// The times that are possible.
    pub earliest: i64,
    pub latest: i64,
    pub kept: usize,
    pub worst: usize,
}

/// The values that Python gives by `native_rules.LIMITS`.
#[derive(Clone)]
pub struct MinIsrRules {
    pub topic_resource: i8,
    pub broker_resource: i8,
    pub name: String,
    pub default: u32,
    pub kept_leader: i32,
}

/// A partition over time; arrays are by `LEVELS`.
struct Track {
    leader: i32,
    replicas: usize,
    isr: Vec<i32>,
    holds: [bool; LEVEL_COUNT],
    ever: [bool; LEVEL_COUNT],
    since: [i64; LEVEL_COUNT],
    lost: [i64; LEVEL_COUNT],
    elections: u64,
    isr_changes: u64,
    trouble: Option<u64>,
}

/// A topic over time, also after its removal.
struct TopicTrack {
    name: String,
    is_deleted: bool,
    tracks: Tracks,
}

/// Partitions by number: those that came in order in a list, all others in a table.
#[derive(Default)]
struct Tracks {
    dense: Vec<Track>,
    sparse: HashMap<i32, Track>,
}

impl Tracks {
    #[inline]
    fn get_mut(&mut self, number: i32) -> Option<&mut Track> {
        let at = usize::try_from(number).ok();
        match at.and_then(|at| self.dense.get_mut(at)) {
            Some(found) => Some(found),
            None => self.sparse.get_mut(&number),
        }
    }

    /// The partition of a number, which is made if it is not there.
    fn entry(&mut self, number: i32) -> &mut Track {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if at == self.dense.len() && !self.sparse.contains_key(&number) {
            self.dense.push(Track::default());
        }
        match self.dense.get_mut(at) {
            Some(found) => found,
            None => self.sparse.entry(number).or_default(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (i32, &Track)> {
        let sparse = self.sparse.iter().map(|(number, track)| (*number, track));
        (0..).zip(&self.dense).chain(sparse)
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut Track> {
        self.dense.iter_mut().chain(self.sparse.values_mut())
    }

    /// Keep what there is to tell of; partitions that come later are none of these.
    fn retain_told(&mut self) {
        let dense = (0..).zip(std::mem::take(&mut self.dense));
        self.sparse.extend(dense);
        self.sparse.retain(|_, track| track.tells());
        self.sparse.shrink_to_fit();
    }
}

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

pub struct KeptChange {
    order: u64,
    pub time: i64,
    pub address: u64,
    pub change: EntryChange,
}

impl Default for Track {
    fn default() -> Self {
        Track {
            leader: -1,
            replicas: 0,
            isr: Vec::new(),
            holds: [false; LEVEL_COUNT],
            ever: [false; LEVEL_COUNT],
            since: [LONG_AGO; LEVEL_COUNT],
            lost: [0; LEVEL_COUNT],
            elections: 0,
            isr_changes: 0,
            trouble: None,
        }
    }
}

impl Track {
    fn tells(&self) -> bool {
        self.lost.iter().any(|lost| *lost != 0)
            || self.ever.contains(&true)
            || self.elections != 0
            || self.isr_changes != 0
    }
}

/// The clock, the buckets, and what is true now.
pub struct Progress {
    pub buckets: Buckets,
    base: i64,
    append_time: Option<i64>,
    pub now: Option<i64>,
    pub began: Option<i64>,
    is_started: bool,
    place: usize,
    pub levels: [u64; LEVEL_COUNT],
    pub first_levels: [Option<(i64, u64)>; LEVEL_COUNT],
    pub first_counts: [Option<(i64, u64)>; COUNTS.len()],
    pub odd: u64,
    pub jump: i64,
    pub first_odd: Option<u64>,
}

impl Progress {
    fn count(&mut self, what: Count, broker: Option<i32>, address: u64) {
        self.buckets.count(what, broker, self.place);
        if let (Some(_), Some(now)) = (self.began, self.now) {
            self.first_counts[what as usize].get_or_insert((now, address));
        }
    }

    fn note_odd(&mut self, address: u64) {
        self.odd += 1;
        self.first_odd.get_or_insert(address);
    }

    /// The ms since a partition came to a level, within the timeline.
    fn spent(&self, track: &Track, level: usize) -> i64 {
        match (self.began, self.now) {
            (Some(began), Some(now)) => now - track.since[level].max(began),
            _ => 0,
        }
    }

    fn leave(&mut self, track: &mut Track, level: usize) {
        track.holds[level] = false;
        self.levels[level] -= 1;
        if self.began.is_some() {
            track.ever[level] = true;
            track.lost[level] += self.spent(track, level);
        }
    }

    fn enter(&mut self, track: &mut Track, level: usize, address: u64) {
        track.holds[level] = true;
        self.levels[level] += 1;
        track.since[level] = LONG_AGO;
        if let (Some(_), Some(now)) = (self.began, self.now) {
            track.since[level] = now;
            track.trouble.get_or_insert(address);
            self.first_levels[level].get_or_insert((now, address));
            self.buckets.raise(level, self.levels[level]);
        }
    }

    /// Enter and leave levels after a change of a partition.
    fn settle(&mut self, track: &mut Track, min_isr: u32, address: u64) {
        let needed = (min_isr as usize).min(track.replicas).max(1);
        let in_sync = track.isr.len();
        let holds = [track.leader < 0, in_sync < needed, in_sync < track.replicas];
        for (level, holds) in holds.into_iter().enumerate() {
            if holds == track.holds[level] {
                continue;
            }
            if holds {
                self.enter(track, level, address);
            } else {
                self.leave(track, level);
            }
        }
    }

    /// Count the brokers that leave the ISR, and those that join it.
    fn count_isr(&mut self, track: &mut Track, isr: &[i32], address: u64) {
        let mut has_changes = false;
        let changes = [
            (Count::IsrShrinks, missing(&track.isr, isr)),
            (Count::IsrExpands, missing(isr, &track.isr)),
        ];
        for (what, brokers) in changes {
            if brokers.is_empty() {
                continue;
            }
            has_changes = true;
            self.count(what, None, address);
            for broker in brokers {
                self.count(what, Some(broker), address);
            }
        }
        track.isr_changes += has_changes as u64;
    }
}

/// The different ids of one list that another does not have, in order.
fn missing(list: &[i32], other: &[i32]) -> Vec<i32> {
    let mut found: Vec<i32> = if list.len() < 32 && other.len() < 32 {
        let all = list.iter().copied();
        all.filter(|id| !other.contains(id)).collect()
    } else {
        let known: HashSet<i32> = other.iter().copied().collect();
        let all = list.iter().copied();
        all.filter(|id| !known.contains(id)).collect()
    };
    found.sort_unstable();
    found.dedup();
    found
}

pub struct Timeline {
    request: TimelineRequest,
    rules: MinIsrRules,
    pub progress: Progress,
    topics: Vec<TopicTrack>,
    by_id: HashMap<Id, usize>,
    by_name: HashMap<String, usize>,
    last: Option<(Id, usize)>,
    /// The ISR of a record, in memory that is used again.
    isr: Vec<i32>,
    min_isr: HashMap<String, u32>,
    default_min_isr: u32,
    kept: Vec<VecDeque<KeptChange>>,
    kept_count: u64,
    left_out: Vec<u64>,
}

impl Timeline {
    pub fn new(request: TimelineRequest, rules: MinIsrRules, buckets: Buckets) -> Self {
        Timeline {
            default_min_isr: rules.default,
            request,
            rules,
            progress: Progress {
                buckets,
                base: 0,
                append_time: None,
                now: None,
                began: None,
                is_started: false,
                place: 0,
                levels: [0; LEVEL_COUNT],
                first_levels: [None; LEVEL_COUNT],
                first_counts: [None; COUNTS.len()],
                odd: 0,
                jump: 0,
                first_odd: None,
            },
            topics: Vec::new(),
            by_id: HashMap::new(),
            by_name: HashMap::new(),
            last: None,
            isr: Vec::new(),
            min_isr: HashMap::new(),
            kept: Vec::new(),
            kept_count: 0,
            left_out: Vec::new(),
        }
    }

    pub fn set_clock(&mut self, base: i64, append_time: Option<i64>) {
        self.progress.base = base;
        self.progress.append_time = append_time;
    }

    pub fn start(&mut self, time: Option<i64>) {
        self.progress.is_started = true;
        if let Some(time) =
            time.filter(|time| (self.request.earliest..=self.request.latest).contains(time))
        {
            self.progress.now = self.progress.now.max(Some(time));
        }
    }

    /// Take the next record: its time after that of its batch, and its address.
    pub fn tick(&mut self, delta: i64, address: u64) {
        let progress = &mut self.progress;
        if !progress.is_started {
            return;
        }
        let sum = progress.base as i128 + delta as i128;
        let time = progress.append_time.map_or(sum, i128::from);
        let before = progress.now;
        if (self.request.earliest as i128..=self.request.latest as i128).contains(&time) {
            let time = time as i64;
            match progress.now {
                Some(now) if time < now => {
                    progress.note_odd(address);
                    progress.jump = progress.jump.max(now - time);
                }
                _ => progress.now = Some(time),
            }
        } else {
            progress.note_odd(address);
        }
        let Some(now) = progress.now else {
            return;
        };
        if progress.began.is_none() {
            if now < self.request.since {
                return;
            }
            let began = before.map_or(now, |before| before.max(self.request.since));
            progress.began = Some(began);
            progress.buckets.reach(began, &progress.levels);
        }
        progress.place = progress.buckets.reach(now, &progress.levels);
        progress.buckets.count(Count::Records, None, progress.place);
    }

    /// Keep the changes by a record.
    pub fn keep(&mut self, changes: impl Iterator<Item = EntryChange>, address: u64) {
        let (Some(_), Some(time)) = (self.progress.began, self.progress.now) else {
            return;
        };
        for change in changes {
            let table = change.table_number();
            if self.kept.len() <= table {
                self.kept.resize_with(table + 1, VecDeque::new);
                self.left_out.resize(table + 1, 0);
            }
            let order = self.kept_count;
            self.kept_count += 1;
            let kept = &mut self.kept[table];
            kept.push_back(KeptChange {
                order,
                time,
                address,
                change,
            });
            if kept.len() > self.request.kept {
                kept.pop_front();
                self.left_out[table] += 1;
            }
        }
    }

    /// Take a record that changed the state; *has_min_isr* tells whether a topic's name has one.
    #[inline]
    pub fn apply(
        &mut self,
        record: &MetadataRecord,
        address: u64,
        has_min_isr: impl Fn(&str) -> bool,
    ) {
        let fields = &record.fields;
        match record.op {
            Op::PutTopic => self.put_topic(fields),
            Op::RemoveTopic => {
                // The slot of the id is the first one, as for a TopicRecord.
                let gone = self.remove(&fields.uuid(0).unwrap_or_default());
                if let Some(name) = gone.filter(|name| !has_min_isr(name)) {
                    self.min_isr.remove(&name);
                }
            }
            Op::PutPartition => self.put_partition(fields, address),
            Op::ChangePartition => self.change_partition(fields, address),
            Op::PutConfig => self.put_config(fields, address),
            _ => {}
        }
    }

    fn put_topic(&mut self, fields: &LocatedFields) {
        let id = fields.uuid(0).unwrap_or_default();
        self.remove(&id);
        let name = text_of(fields, 1);
        self.by_id.insert(id, self.topics.len());
        self.by_name.insert(name.clone(), self.topics.len());
        self.topics.push(TopicTrack {
            name,
            is_deleted: false,
            tracks: Tracks::default(),
        });
    }

    fn remove(&mut self, id: &Id) -> Option<String> {
        self.last = None;
        let at = self.by_id.remove(id)?;
        let topic = self.topics.get_mut(at)?;
        if self.by_name.get(&topic.name) == Some(&at) {
            self.by_name.remove(&topic.name);
        }
        topic.is_deleted = true;
        for track in topic.tracks.values_mut() {
            for level in 0..LEVEL_COUNT {
                if track.holds[level] {
                    self.progress.leave(track, level);
                }
            }
        }
        topic.tracks.retain_told();
        Some(topic.name.clone())
    }

    #[inline]
    fn find(&mut self, id: Id) -> Option<usize> {
        if let Some((last, at)) = self.last {
            if last == id {
                return Some(at);
            }
        }
        let at = *self.by_id.get(&id)?;
        self.last = Some((id, at));
        Some(at)
    }

    fn min_isr_of(&self, name: &str) -> u32 {
        if self.min_isr.is_empty() {
            return self.default_min_isr;
        }
        self.min_isr
            .get(name)
            .copied()
            .unwrap_or(self.default_min_isr)
    }

    #[inline]
    fn put_partition(&mut self, fields: &LocatedFields, address: u64) {
        let Some(at) = self.find(fields.uuid(slot::TOPIC).unwrap_or_default()) else {
            return;
        };
        let min_isr = self.min_isr_of(&self.topics[at].name);
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let track = self.topics[at].tracks.entry(number);
        track.leader = fields.int32(slot::LEADER).unwrap_or(0);
        track.replicas = fields.size(slot::REPLICAS).unwrap_or(0);
        track.isr.clear();
        track.isr.extend(fields.ids(slot::ISR));
        self.progress.settle(track, min_isr, address);
    }

    #[inline]
    fn change_partition(&mut self, fields: &LocatedFields, address: u64) {
        let Some(at) = self.find(fields.uuid(slot::TOPIC).unwrap_or_default()) else {
            return;
        };
        let min_isr = self.min_isr_of(&self.topics[at].name);
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let Some(track) = self.topics[at].tracks.get_mut(number) else {
            return;
        };
        let progress = &mut self.progress;
        let is_counting = progress.began.is_some();
        let kept_leader = self.rules.kept_leader;
        if let Some(leader) = fields.int32(slot::LEADER).filter(|id| *id != kept_leader) {
            if is_counting && leader >= 0 && leader != track.leader {
                track.elections += 1;
                track.trouble.get_or_insert(address);
                progress.count(Count::Elections, None, address);
                progress.count(Count::Elections, Some(leader), address);
                if fields.int8(slot::RECOVERY) == Some(RECOVERING) {
                    progress.count(Count::UncleanElections, None, address);
                    progress.count(Count::UncleanElections, Some(leader), address);
                }
            }
            track.leader = leader;
        }
        if fields.size(slot::ISR).is_some() {
            self.isr.clear();
            self.isr.extend(fields.ids(slot::ISR));
            if is_counting && self.isr != track.isr {
                progress.count_isr(track, &self.isr, address);
            }
            std::mem::swap(&mut self.isr, &mut track.isr);
        }
        if let Some(count) = fields.size(slot::REPLICAS) {
            track.replicas = count;
        }
        progress.settle(track, min_isr, address);
    }

    fn put_config(&mut self, fields: &LocatedFields, address: u64) {
        // The slots of `table_rules`: resource type and name, name, value.
        if fields.text(2) != Some(self.rules.name.as_bytes()) {
            return;
        }
        let kind = fields.int8(0).unwrap_or_default();
        let resource = text_of(fields, 1);
        let value = fields.text(3).and_then(number_in);
        let chosen: Vec<usize> = if kind == self.rules.topic_resource {
            match value {
                Some(value) => self.min_isr.insert(resource.clone(), value),
                None => self.min_isr.remove(&resource),
            };
            self.by_name.get(&resource).copied().into_iter().collect()
        } else if kind == self.rules.broker_resource && resource.is_empty() {
            self.default_min_isr = value.unwrap_or(self.rules.default);
            self.by_id.values().copied().collect()
        } else {
            return;
        };
        for at in chosen {
            let min_isr = self.min_isr_of(&self.topics[at].name);
            for track in self.topics[at].tracks.values_mut() {
                self.progress.settle(track, min_isr, address);
            }
        }
    }

    /// The kept changes in order.
    pub fn changes(&self) -> Vec<&KeptChange> {
        let mut found: Vec<&KeptChange> = self.kept.iter().flatten().collect();
        found.sort_unstable_by_key(|one| one.order);
        found
    }

    /// The numbers of changes that are not kept, by the number of the table.
    pub fn left_out(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = self.left_out.iter().copied().enumerate();
        all.filter(|(_, count)| *count > 0)
    }

    /// All series: name, broker, and numbers.
    pub fn series(&self) -> Vec<(&'static str, Option<i32>, Vec<u64>)> {
        let buckets = &self.progress.buckets;
        let levels = LEVELS.iter().zip(&buckets.peaks);
        let mut found: Vec<_> = levels
            .map(|(name, values)| (*name, None, trimmed(values)))
            .collect();
        let brokers = buckets.brokers.iter().filter_map(|(broker, at)| {
            let counts = buckets.counts.get(*at)?;
            Some((Some(*broker), counts))
        });
        for (broker, counts) in std::iter::once((None, &buckets.totals)).chain(brokers) {
            for (name, values) in COUNTS.iter().zip(counts) {
                if !values.is_empty() {
                    found.push((name, broker, trimmed(values)));
                }
            }
        }
        found
    }

    /// The replicas of all partitions of the topics that are there.
    pub fn replicas(&self) -> usize {
        let present = self.by_id.values().filter_map(|at| self.topics.get(*at));
        present
            .flat_map(|topic| topic.tracks.iter())
            .map(|(_, track)| track.replicas)
            .sum()
    }

    pub fn losses(&self) -> Losses {
        let mut touched = [0; LEVEL_COUNT];
        let (mut partitions, mut topics) = (Vec::new(), Vec::new());
        for (place, topic) in self.topics.iter().enumerate() {
            let mut sum: Option<Loss> = None;
            for (number, track) in topic.tracks.iter() {
                let Some(loss) = self.loss(number, track, &mut touched) else {
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

    /// The losses of a partition, without its topic; none if it has none.
    fn loss(&self, number: i32, track: &Track, touched: &mut [u64; LEVEL_COUNT]) -> Option<Loss> {
        let mut lost = track.lost;
        for level in 0..LEVEL_COUNT {
            let holds = track.holds[level];
            let is_touched = track.ever[level] || (holds && self.progress.began.is_some());
            touched[level] += is_touched as u64;
            if holds {
                lost[level] += self.progress.spent(track, level);
            }
        }
        let tells = lost != [0; LEVEL_COUNT] || track.elections != 0 || track.isr_changes != 0;
        tells.then(|| Loss {
            topic: String::new(),
            number: number.into(),
            is_deleted: false,
            lost,
            elections: track.elections,
            isr_changes: track.isr_changes,
            address: track.trouble,
        })
    }

    /// The worst of losses that have the places of their topics.
    fn worst(&self, mut all: Vec<(usize, Loss)>) -> Worst {
        let total = all.len();
        all.sort_unstable_by_key(|(place, one)| {
            let counts = (u64::MAX - one.elections, u64::MAX - one.isr_changes);
            (one.lost.map(|lost| -lost), counts, *place, one.number)
        });
        all.truncate(self.request.worst);
        let named = all.into_iter().filter_map(|(place, loss)| {
            let topic = self.topics.get(place)?;
            Some(Loss {
                topic: topic.name.clone(),
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

/// A decimal number of at most nine digits.
fn number_in(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
