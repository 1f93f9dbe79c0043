//! What happens over time: levels and counts in buckets, losses of partitions, kept changes.
//!
//! `kraftops.engine.timeline_contract` is the contract, `engine/reference/folding/timeline.py` has
//! the same rules in Python.
mod buckets;
mod losses;
mod tracks;

use super::ordered_map::FastMap;
use super::partition::{Partition, flag, slot};
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
use tracks::{Isr, Track, Tracks};

const LEVEL_COUNT: usize = LEVELS.len();
const RECOVERING: i8 = 1;

/// A level in a set of levels.
const fn bit(level: usize) -> u8 {
    1 << level
}

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

    fn leave(&mut self, track: &mut Track, level: usize) {
        track.holds &= !bit(level);
        self.levels[level] -= 1;
        if let (Some(_), Some(now)) = (self.began, self.now) {
            track.ever |= bit(level);
            track.lost[level] += now;
        }
    }

    fn enter(&mut self, track: &mut Track, level: usize, address: u64) {
        track.holds |= bit(level);
        self.levels[level] += 1;
        if let (Some(_), Some(now)) = (self.began, self.now) {
            track.lost[level] -= now;
            track.note_trouble(address);
            self.first_levels[level].get_or_insert((now, address));
            self.buckets.raise(level, self.levels[level]);
        }
    }

    /// Enter and leave levels after a change of a partition; *holds* are those at which it is now.
    #[inline]
    fn settle(&mut self, track: &mut Track, holds: u8, address: u64) {
        if holds == track.holds {
            return;
        }
        let changed = holds ^ track.holds;
        for level in (0..LEVEL_COUNT).filter(|level| changed & bit(*level) != 0) {
            if holds & bit(level) != 0 {
                self.enter(track, level, address);
            } else {
                self.leave(track, level);
            }
        }
    }

    /// Count the brokers that leave the ISR, and those that join it.
    fn count_isr(&mut self, track: &mut Track, isr: &Isr, address: u64) {
        let mut has_changes = false;
        let changes = [
            (Count::IsrShrinks, &track.isr, isr),
            (Count::IsrExpands, isr, &track.isr),
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
        track.isr_changes = track.isr_changes.saturating_add(has_changes as u32);
    }
}

/// Find the different ids of one list that another does not have, in order.
fn missing(list: &Isr, other: &Isr, missing_ids: &mut Vec<i32>) {
    missing_ids.clear();
    if other.ids().nth(32).is_none() {
        missing_ids.extend(
            list.ids()
                .filter(|id| !other.ids().any(|broker| broker == *id)),
        );
    } else {
        let others: HashSet<i32> = other.ids().collect();
        missing_ids.extend(list.ids().filter(|id| !others.contains(id)));
    }
    if missing_ids.len() > 1 {
        missing_ids.sort_unstable();
        missing_ids.dedup();
    }
}

/// The levels at which a partition is: without leader, under min ISR, under-replicated.
fn levels_of(topics: &Topics, min_isr: u32, partition: &Partition) -> u8 {
    let needed = (min_isr as usize).min(topics.replicas(partition)).max(1);
    let holds = [
        partition.flags() & flag::LEADERLESS != 0,
        topics.in_sync(partition) < needed,
        topics.is_under_replicated(partition),
    ];
    let levels = (0..).zip(holds);
    levels.fold(0, |bits, (level, is_so)| {
        bits | flag::if_so(is_so, bit(level))
    })
}

pub struct Timeline {
    request: TimelineRequest,
    rules: MinIsrRules,
    pub progress: Progress,
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
            for track in self.tracks.iter_mut() {
                track.begin(began);
            }
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
    /// *place* is that of the topic that it names, if that is there, and *removed* the one that it
    /// removed; *has_min_isr* tells whether a topic's name has one.
    #[inline]
    pub fn apply(
        &mut self,
        record: &MetadataRecord,
        address: u64,
        topics: &mut Topics,
        (place, removed): (Option<usize>, Option<Topic>),
        has_min_isr: impl Fn(&str) -> bool,
    ) {
        let fields = &record.fields;
        match (record.op, place) {
            (Op::PutPartition, Some(place)) => self.put_partition(fields, address, topics, place),
            (Op::ChangePartition, Some(place)) => {
                self.change_partition(fields, address, topics, place)
            }
            (Op::PutTopic, Some(place)) => {
                if let Some(gone) = removed {
                    self.remove(&gone);
                }
                if let Some(topic) = topics.at_mut(place) {
                    let own = self.min_isr.get(&*topic.name).copied();
                    topic.min_isr = own.unwrap_or(self.default_min_isr);
                }
            }
            (Op::RemoveTopic, _) => {
                if let Some(gone) = removed {
                    self.remove(&gone);
                    if self.min_isr.contains_key(&*gone.name) && !has_min_isr(&gone.name) {
                        self.set_min_isr(&gone.name, None, topics);
                    }
                }
            }
            (Op::PutConfig, _) => self.put_config(fields, address, topics),
            _ => {}
        }
    }

    fn remove(&mut self, topic: &Topic) {
        let places = || {
            topic
                .partitions()
                .filter_map(|(_, partition)| partition.changes())
        };
        for place in places() {
            if let Some(track) = self.tracks.get_mut(place) {
                for level in track.levels() {
                    self.progress.leave(track, level);
                }
            }
        }
        let mut gone = std::mem::take(&mut self.gone);
        self.add_losses(topic, true, &mut gone);
        self.gone = gone;
        for place in places() {
            *self.tracks.entry(place) = Track::default();
        }
    }

    /// Read something of the track at a place.
    #[inline(always)]
    pub fn touch(&self, place: usize) -> u64 {
        self.tracks.touch(place)
    }

    #[inline]
    fn put_partition(
        &mut self,
        fields: &LocatedFields,
        address: u64,
        topics: &mut Topics,
        topic_place: usize,
    ) {
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let changes = topics.changes_for(topic_place, number);
        let Some(place) = changes.and_then(|(partition, _)| partition.changes()) else {
            return;
        };
        let track = self.tracks.entry(place);
        track.leader = fields.int32(slot::LEADER).unwrap_or(0);
        track.isr = Isr::new(fields.ids(slot::ISR));
        if let Some(topic) = topics.at(topic_place) {
            let partition = topic.get(number).unwrap_or(&Partition::NONE);
            let levels = levels_of(topics, topic.min_isr, partition);
            self.progress.settle(track, levels, address);
        }
    }

    #[inline]
    fn change_partition(
        &mut self,
        fields: &LocatedFields,
        address: u64,
        topics: &Topics,
        topic_place: usize,
    ) {
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let Some(topic) = topics.at(topic_place) else {
            return;
        };
        let Some(partition) = topic.get(number) else {
            return;
        };
        let place = partition.changes();
        let Some(track) = place.and_then(|place| self.tracks.get_mut(place)) else {
            return;
        };
        let progress = &mut self.progress;
        let is_counting = progress.began.is_some();
        let kept_leader = self.rules.kept_leader;
        if let Some(leader) = fields.int32(slot::LEADER).filter(|id| *id != kept_leader) {
            if is_counting && leader >= 0 && leader != track.leader {
                track.elections = track.elections.saturating_add(1);
                track.note_trouble(address);
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
            if is_counting && isr != track.isr {
                progress.count_isr(track, &isr, address);
            }
            track.isr = isr;
        }
        progress.settle(track, levels_of(topics, topic.min_isr, partition), address);
    }

    fn put_config(&mut self, fields: &LocatedFields, address: u64, topics: &mut Topics) {
        // The slots of `table_rules`: resource type and name, name, value.
        if fields.text(2) != Some(self.rules.name.as_bytes()) {
            return;
        }
        let kind = fields.int8(0).unwrap_or_default();
        let resource = text_of(fields, 1);
        let value = fields.text(3).and_then(number_in);
        if kind == self.rules.topic_resource {
            self.set_min_isr(&resource, value, topics);
            let id = topics.of_name(&resource);
            if let Some(topic) = id.and_then(|id| topics.get(&id)) {
                self.settle(topics, topic, address);
            }
        } else if kind == self.rules.broker_resource && resource.is_empty() {
            self.default_min_isr = value.unwrap_or(self.rules.default);
            for topic in topics.iter_mut() {
                let own = self.min_isr.get(&*topic.name).copied();
                topic.min_isr = own.unwrap_or(self.default_min_isr);
            }
            for topic in topics.iter() {
                self.settle(topics, topic, address);
            }
        }
    }

    /// Enter and leave the levels of a topic's partitions after a change of its min ISR.
    fn settle(&mut self, topics: &Topics, topic: &Topic, address: u64) {
        for (_, partition) in topic.partitions() {
            let place = partition.changes();
            if let Some(track) = place.and_then(|place| self.tracks.get_mut(place)) {
                let levels = levels_of(topics, topic.min_isr, partition);
                self.progress.settle(track, levels, address);
            }
        }
    }

    /// Set the min ISR of the topics of a name, without counting partitions.
    fn set_min_isr(&mut self, name: &str, own: Option<u32>, topics: &mut Topics) {
        match own {
            Some(own) => self.min_isr.insert(name.to_string(), own),
            None => self.min_isr.remove(name),
        };
        let min_isr = own.unwrap_or(self.default_min_isr);
        if topics.has_namesakes() {
            // A topic that lost its name to another has the min ISR of the name too.
            let all = topics.iter_mut();
            all.filter(|topic| *topic.name == *name)
                .for_each(|topic| topic.min_isr = min_isr);
        } else if let Some(place) = topics.of_name(name).and_then(|id| topics.place(&id)) {
            if let Some(topic) = topics.at_mut(place) {
                topic.min_isr = min_isr;
            }
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
}

/// A decimal number of at most nine digits.
fn number_in(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
