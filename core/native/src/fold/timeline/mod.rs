//! What happens over time: levels and counts in buckets, losses of partitions, kept changes.
//!
//! `kraftops.engine.timeline_contract` is the contract, `engine/reference/folding/timeline.py` has
//! the same rules in Python.
mod buckets;
mod losses;
mod tracks;

use super::ordered_map::FastMap;
use super::partition::slot;
use super::rules::{MetadataRecord, Op};
use super::text_of;
use super::topics::{Topic, Topics};
use super::watch::EntryChange;
use crate::plan::LocatedFields;
pub use buckets::{Buckets, COUNTS, LEVELS};
use buckets::{Count, trimmed};
pub use losses::Loss;
use losses::Losses;
use pyo3::prelude::*;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use tracks::{Isr, Places, Track, Tracks};

const LEVEL_COUNT: usize = LEVELS.len();
const RECOVERING: i8 = 1;

/// See `kraftops.engine.timeline_contract.TimelineRequest`.
#[derive(FromPyObject)]
pub struct TimelineRequest {
    since: i64,
    /// The times that are possible.
    earliest: i64,
    latest: i64,
    pub buckets: usize,
    kept: usize,
    worst: usize,
    pub steps: Vec<i64>,
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

/// A topic over time.
struct TopicTrack {
    name: Arc<str>,
    /// Its place among all topics in the order in which they came.
    since: u64,
    min_isr: u32,
    places: Places,
}

pub struct KeptChange {
    order: u64,
    pub time: i64,
    pub address: u64,
    pub change: EntryChange,
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
    /// The brokers of a record, in memory that is used again.
    brokers: Vec<i32>,
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
            track.past.ever[level] = true;
            track.past.lost[level] += self.spent(track, level);
        }
    }

    fn enter(&mut self, track: &mut Track, level: usize, address: u64) {
        self.levels[level] += 1;
        track.begin(level, self.began.and(self.now));
        if let (Some(_), Some(now)) = (self.began, self.now) {
            track.past.trouble.get_or_insert(address);
            self.first_levels[level].get_or_insert((now, address));
            self.buckets.raise(level, self.levels[level]);
        }
    }

    /// Enter and leave levels after a change of a partition.
    #[inline]
    fn settle(&mut self, track: &mut Track, min_isr: u32, address: u64) {
        let needed = min_isr.min(track.replicas).max(1);
        let in_sync = track.isr.ids().len() as u32;
        let wanted = track.replicas.saturating_sub(track.adding);
        let holds = [track.leader < 0, in_sync < needed, in_sync < wanted];
        if holds == track.holds {
            return;
        }
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
        let before = track.isr.ids();
        let mut has_changes = false;
        let changes = [
            (Count::IsrShrinks, before, isr),
            (Count::IsrExpands, isr, before),
        ];
        let mut brokers = std::mem::take(&mut self.brokers);
        for (what, list, other) in changes {
            missing(list, other, &mut brokers);
            if brokers.is_empty() {
                continue;
            }
            has_changes = true;
            self.count(what, None, address);
            for broker in &brokers {
                self.buckets.count(what, Some(*broker), self.place);
            }
        }
        self.brokers = brokers;
        track.past.isr_changes += has_changes as u64;
    }
}

/// Find the different ids of one list that another does not have, in order.
fn missing(list: &[i32], other: &[i32], missing_ids: &mut Vec<i32>) {
    missing_ids.clear();
    let all = list.iter().copied();
    if list.len() < 32 && other.len() < 32 {
        missing_ids.extend(all.filter(|id| !other.contains(id)));
    } else {
        let others: HashSet<i32> = other.iter().copied().collect();
        missing_ids.extend(all.filter(|id| !others.contains(id)));
    }
    if missing_ids.len() > 1 {
        missing_ids.sort_unstable();
        missing_ids.dedup();
    }
}

pub struct Timeline {
    request: TimelineRequest,
    rules: MinIsrRules,
    pub progress: Progress,
    /// Topics by their places in the fold's topics.
    topics: Vec<Option<TopicTrack>>,
    topic_count: u64,
    tracks: Tracks,
    /// The losses of removed topics.
    gone: Losses,
    /// The min ISRs of topics that have their own, by name.
    min_isr: FastMap<String, u32>,
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
                brokers: Vec::new(),
            },
            topics: Vec::new(),
            topic_count: 0,
            tracks: Tracks::default(),
            gone: Losses::default(),
            min_isr: FastMap::default(),
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
    #[inline]
    pub fn tick(&mut self, delta: i64, address: u64) {
        let progress = &mut self.progress;
        if !progress.is_started {
            return;
        }
        let sum = || progress.base.checked_add(delta);
        let time = progress.append_time.or_else(sum);
        let before = progress.now;
        let possible = self.request.earliest..=self.request.latest;
        match (time.filter(|time| possible.contains(time)), progress.now) {
            (None, _) => progress.note_odd(address),
            (Some(time), Some(now)) if time < now => {
                progress.note_odd(address);
                progress.jump = progress.jump.max(now - time);
            }
            (time, _) => progress.now = time,
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

    /// Take a record that changed the state, and has left *topics*.
    ///
    /// *places* are those in the fold's topics of the topic that it names, if that is there, and of
    /// one that it removed; *has_min_isr* tells whether a topic's name has one.
    #[inline]
    pub fn apply(
        &mut self,
        record: &MetadataRecord,
        address: u64,
        topics: &Topics,
        places: (Option<usize>, Option<usize>),
        has_min_isr: impl Fn(&str) -> bool,
    ) {
        let fields = &record.fields;
        match (record.op, places) {
            (Op::PutPartition, (Some(topic_place), _)) => {
                self.put_partition(fields, address, topic_place)
            }
            (Op::ChangePartition, (Some(topic_place), _)) => {
                self.change_partition(fields, address, topic_place)
            }
            (Op::PutTopic, (Some(topic_place), removed)) => {
                self.remove(removed);
                if let Some(topic) = topics.at(topic_place) {
                    self.put_topic(topic_place, topic);
                }
            }
            (Op::RemoveTopic, (_, removed)) => {
                if let Some(gone) = self.remove(removed) {
                    if self.min_isr.contains_key(&*gone.name) && !has_min_isr(&gone.name) {
                        self.set_min_isr(&gone.name, None, topics);
                    }
                }
            }
            (Op::PutConfig, _) => self.put_config(fields, address, topics),
            _ => {}
        }
    }

    fn put_topic(&mut self, place: usize, topic: &Topic) {
        let own = self.min_isr.get(&*topic.name).copied();
        if self.topics.len() <= place {
            self.topics.resize_with(place + 1, || None);
        }
        self.topics[place] = Some(TopicTrack {
            name: Arc::clone(&topic.name),
            since: self.topic_count,
            min_isr: own.unwrap_or(self.default_min_isr),
            places: Places::default(),
        });
        self.topic_count += 1;
    }

    fn remove(&mut self, place: Option<usize>) -> Option<TopicTrack> {
        let topic = self.topics.get_mut(place?)?.take()?;
        let progress = &mut self.progress;
        self.tracks.each(&topic.places, |track| {
            for level in 0..LEVEL_COUNT {
                if track.holds[level] {
                    progress.leave(track, level);
                }
            }
        });
        let mut gone = std::mem::take(&mut self.gone);
        self.add_losses(&topic, true, &mut gone);
        self.gone = gone;
        self.tracks.remove(&topic.places);
        Some(topic)
    }

    /// Read something of the topic at a place in the fold's topics; return its tracks.
    #[inline(always)]
    pub fn places(&self, place: usize) -> Option<&Places> {
        Some(&self.topics.get(place)?.as_ref()?.places)
    }

    /// Read something of the track at a place.
    #[inline(always)]
    pub fn touch(&self, place: usize) -> u64 {
        self.tracks.touch(place)
    }

    #[inline]
    fn put_partition(&mut self, fields: &LocatedFields, address: u64, topic_place: usize) {
        let Some(topic) = self.topics.get_mut(topic_place).and_then(Option::as_mut) else {
            return;
        };
        let min_isr = topic.min_isr;
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let track = self.tracks.entry(&mut topic.places, number);
        track.leader = fields.int32(slot::LEADER).unwrap_or(0);
        track.replicas = fields.size(slot::REPLICAS).unwrap_or(0) as u32;
        track.adding = fields.size(slot::ADDING).unwrap_or(0) as u32;
        track.isr = Isr::new(fields.ids(slot::ISR));
        self.progress.settle(track, min_isr, address);
    }

    #[inline]
    fn change_partition(&mut self, fields: &LocatedFields, address: u64, topic_place: usize) {
        let Some(topic) = self.topics.get(topic_place).and_then(Option::as_ref) else {
            return;
        };
        let min_isr = topic.min_isr;
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let Some(track) = self.tracks.get_mut(&topic.places, number) else {
            return;
        };
        let progress = &mut self.progress;
        let is_counting = progress.began.is_some();
        let kept_leader = self.rules.kept_leader;
        if let Some(leader) = fields.int32(slot::LEADER).filter(|id| *id != kept_leader) {
            if is_counting && leader >= 0 && leader != track.leader {
                track.past.elections += 1;
                track.past.trouble.get_or_insert(address);
                progress.count(Count::Elections, None, address);
                progress.count(Count::Elections, Some(leader), address);
                if fields.int8(slot::RECOVERY) == Some(RECOVERING) {
                    progress.count(Count::UncleanElections, None, address);
                    progress.count(Count::UncleanElections, Some(leader), address);
                }
            }
            track.leader = leader;
        }
        if fields.has(slot::ISR) {
            let isr = Isr::new(fields.ids(slot::ISR));
            if is_counting && isr.ids() != track.isr.ids() {
                progress.count_isr(track, isr.ids(), address);
            }
            track.isr = isr;
        }
        if let Some(count) = fields.size(slot::REPLICAS) {
            track.replicas = count as u32;
        }
        if let Some(count) = fields.size(slot::ADDING) {
            track.adding = count as u32;
        }
        progress.settle(track, min_isr, address);
    }

    fn put_config(&mut self, fields: &LocatedFields, address: u64, topics: &Topics) {
        // The slots of `table_rules`: resource type and name, name, value.
        if fields.text(2) != Some(self.rules.name.as_bytes()) {
            return;
        }
        let kind = fields.int8(0).unwrap_or_default();
        let resource = text_of(fields, 1);
        let value = fields.text(3).and_then(number_in);
        let chosen = if kind == self.rules.topic_resource {
            self.set_min_isr(&resource, value, topics);
            let place = topics.of_name(&resource).and_then(|id| topics.place(&id));
            place.map_or(0..0, |place| place..place + 1)
        } else if kind == self.rules.broker_resource && resource.is_empty() {
            self.default_min_isr = value.unwrap_or(self.rules.default);
            for topic in self.topics.iter_mut().flatten() {
                let own = self.min_isr.get(&*topic.name).copied();
                topic.min_isr = own.unwrap_or(self.default_min_isr);
            }
            0..self.topics.len()
        } else {
            return;
        };
        let progress = &mut self.progress;
        for topic in self.topics.get(chosen).into_iter().flatten().flatten() {
            self.tracks.each(&topic.places, |track| {
                progress.settle(track, topic.min_isr, address);
            });
        }
    }

    /// Set the min ISR of the topics of a name, without counting partitions.
    fn set_min_isr(&mut self, name: &str, own: Option<u32>, topics: &Topics) {
        match own {
            Some(own) => self.min_isr.insert(name.to_string(), own),
            None => self.min_isr.remove(name),
        };
        let chosen = match topics.of_name(name).and_then(|id| topics.place(&id)) {
            // A topic that lost its name to another has the min ISR of the name too.
            _ if topics.has_namesakes() => 0..self.topics.len(),
            Some(place) => place..place + 1,
            None => return,
        };
        let chosen = self.topics.get_mut(chosen).into_iter().flatten();
        for topic in chosen.flatten().filter(|topic| *topic.name == *name) {
            topic.min_isr = own.unwrap_or(self.default_min_isr);
        }
    }

    /// The kept changes in order.
    pub fn changes(&self) -> Vec<&KeptChange> {
        let mut changes: Vec<&KeptChange> = self.kept.iter().flatten().collect();
        changes.sort_unstable_by_key(|kept| kept.order);
        changes
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
        let mut series: Vec<_> = levels
            .map(|(name, values)| (*name, None, trimmed(values)))
            .collect();
        let brokers = buckets.brokers.iter().filter_map(|(broker, place)| {
            let counts = buckets.counts.get(*place)?;
            Some((Some(*broker), counts))
        });
        for (broker, counts) in std::iter::once((None, &buckets.totals)).chain(brokers) {
            for (name, values) in COUNTS.iter().zip(counts) {
                if !values.is_empty() {
                    series.push((name, broker, trimmed(values)));
                }
            }
        }
        series
    }

    /// The replicas of all partitions of the topics that are there.
    pub fn replicas(&self) -> usize {
        let present = self.topics.iter().flatten();
        present
            .flat_map(|topic| self.tracks.of(&topic.places))
            .map(|(_, track)| track.replicas as usize)
            .sum()
    }
}

/// A decimal number of at most nine digits.
fn number_in(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
