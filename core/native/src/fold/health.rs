//! What is to be said of all partitions together.
use super::Fold;
use super::state::{Batches, State};
use super::topics::{self, Id, Partition};
use pyo3::prelude::*;
use std::collections::{HashMap, HashSet};

const LEADERLESS: u32 = 1;
const UNDER_REPLICATED: u32 = 2;
const REASSIGNING: u32 = 4;
const WITH_ELR: u32 = 8;
const WITH_DIRECTORIES: u32 = 16;
const LOST: Id = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
/// Ids below this are reserved (`DirectoryId`).
const RESERVED: u128 = 100;

type Numbers = Vec<(Id, Vec<i32>)>;
/// Of each broker: topics, and how many replicas it has.
type Holdings = Vec<(i32, Vec<(Id, u64)>)>;

/// Brokers of a list; a hostile one can be long.
enum Ids<'a> {
    Few(&'a [i32]),
    Many(HashSet<i32>),
}

impl<'a> Ids<'a> {
    fn of(list: &'a [i32]) -> Self {
        if list.len() < 32 {
            Ids::Few(list)
        } else {
            Ids::Many(list.iter().copied().collect())
        }
    }

    fn has(&self, id: &i32) -> bool {
        match self {
            Ids::Few(list) => list.contains(id),
            Ids::Many(set) => set.contains(id),
        }
    }

    fn has_all(&self, list: &[i32]) -> bool {
        list.iter().all(|id| self.has(id))
    }

    fn has_each_once(&self, list: &[i32]) -> bool {
        match self {
            Ids::Many(set) => set.len() == list.len(),
            Ids::Few(_) => (1..list.len()).all(|at| !list[..at].contains(&list[at])),
        }
    }
}

fn is_suspect(state: &State, known: &HashMap<i32, HashSet<Id>>) -> bool {
    let replicas = Ids::of(&state.replicas);
    let isr = Ids::of(&state.isr);
    if state.replicas.is_empty()
        || !replicas.has_each_once(&state.replicas)
        || state.replicas.iter().any(|id| !known.contains_key(id))
        || !replicas.has_all(&state.isr)
        || !replicas.has_all(&state.elr)
        || !replicas.has_all(&state.adding)
        || !replicas.has_all(&state.removing)
        || state.leader < -1
        || (state.leader >= 0 && !isr.has(&state.leader))
    {
        return true;
    }
    let placed = state.replicas.iter().zip(&state.directories);
    placed.into_iter().any(|(id, directory)| {
        let is_lost = *directory == LOST && isr.has(id);
        let is_reserved = u128::from_be_bytes(*directory) < RESERVED;
        let has = known
            .get(id)
            .is_none_or(|has| has.is_empty() || has.contains(directory));
        is_lost || !(has || is_reserved)
    })
}

impl Fold {
    /// Tell whether a partition has one of the looks in a mask (`kraftops.engine.metadata_state.PartitionCondition`).
    fn has(&self, partition: &Partition, mask: u32) -> bool {
        let flags = partition.flags();
        (mask & LEADERLESS != 0 && flags & topics::LEADERLESS != 0)
            || (mask & UNDER_REPLICATED != 0 && self.topics.is_under_replicated(partition))
            || (mask & REASSIGNING != 0 && flags & (topics::ADDING | topics::REMOVING) != 0)
            || (mask & WITH_ELR != 0 && flags & topics::ELR != 0)
            || (mask & WITH_DIRECTORIES != 0 && flags & topics::DIRECTORIES != 0)
    }

    pub(super) fn partition_count(&self, id: Option<&Id>) -> usize {
        match id {
            Some(id) => self.topics.get(id).map_or(0, topics::Topic::count),
            None => self
                .topics
                .in_order()
                .iter()
                .map(|topic| topic.count())
                .sum(),
        }
    }

    pub(super) fn count(&self, mask: u32) -> usize {
        let topics = self.topics.in_order();
        let all = topics.iter().flat_map(|topic| topic.partitions());
        all.filter(|(_, partition)| self.has(partition, mask))
            .count()
    }

    pub(super) fn having(&self, mask: u32) -> Numbers {
        let mut found = Vec::new();
        for topic in self.topics.in_order() {
            let some = topic.partitions().filter(|(_, one)| self.has(one, mask));
            let numbers: Vec<i32> = some.map(|(number, _)| number).collect();
            if !numbers.is_empty() {
                found.push((topic.id, numbers));
            }
        }
        found
    }

    /// The newest change of a topic and its partitions, or of all; its address is that in *exact*.
    pub(super) fn newest_below(
        &self,
        id: Option<&Id>,
        exact: Option<&Fold>,
    ) -> Option<(u64, u32, bool)> {
        let chosen = match id {
            Some(id) => self.topics.get(id).into_iter().collect(),
            None => self.topics.in_order(),
        };
        let mut newest: Option<(u64, u32, bool)> = None;
        // A record may have changed several, and of one of them nobody can tell.
        let rank = |one: &(u64, u32, bool)| (one.0, one.2, one.1);
        let mut see = |one: (u64, u32, bool)| {
            if newest.is_none_or(|best| rank(&one) > rank(&best)) {
                newest = Some(one);
            }
        };
        for topic in chosen {
            let (fold, there) = match exact {
                None => (self, topic),
                Some(other) => match other.topics.get(&topic.id) {
                    None => continue,
                    Some(there) => (other, there),
                },
            };
            see((there.address, 1, true));
            for (number, partition) in there.partitions() {
                if exact.is_none() || topic.get(number).is_some() {
                    see(fold.newest_of(partition));
                }
            }
        }
        newest
    }

    /// The address of the newest record of a partition, how many there were, and whether it is sure.
    pub(super) fn newest_of(&self, partition: &Partition) -> (u64, u32, bool) {
        let records = self
            .topics
            .changes_of(partition)
            .map_or(1, |changes| changes.records);
        let is_certain = partition.flags() & topics::UNCERTAIN == 0;
        (partition.address(), records, is_certain)
    }

    pub(super) fn suspects(
        &self,
        batches: &mut Batches,
        known: &HashMap<i32, HashSet<Id>>,
    ) -> PyResult<Numbers> {
        let mut odd: Vec<(usize, i32)> = Vec::new();
        self.each_state(batches, |topic, number, _, state| {
            if is_suspect(state, known) {
                odd.push((topic, number));
            }
        })?;
        odd.sort_unstable();
        let topics = self.topics.in_order();
        let mut found: Numbers = Vec::new();
        for (at, number) in odd {
            let Some(topic) = topics.get(at) else {
                continue;
            };
            match found.last_mut() {
                Some((id, numbers)) if *id == topic.id => numbers.push(number),
                _ => found.push((topic.id, vec![number])),
            }
        }
        Ok(found)
    }

    /// The partitions whose digests differ from those of another fold.
    pub(super) fn different(&self, mine: &[u64], other: &Fold, theirs: &[u64]) -> Numbers {
        let mut starts = HashMap::new();
        let mut start = 0;
        for topic in other.topics.in_order() {
            starts.insert(topic.id, start);
            start += topic.count();
        }
        let mut found = Vec::new();
        let mut at = 0;
        for topic in self.topics.in_order() {
            let (Some(there), Some(start)) = (other.topics.get(&topic.id), starts.get(&topic.id))
            else {
                at += topic.count();
                continue;
            };
            let mut numbers = Vec::new();
            let mut ours = topic.partitions().map(|(number, _)| number).peekable();
            let mut others = there.partitions().map(|(number, _)| number).peekable();
            let mut other_at = *start;
            loop {
                match (ours.peek().copied(), others.peek().copied()) {
                    (None, None) => break,
                    (Some(one), Some(same)) if one == same => {
                        if mine.get(at) != theirs.get(other_at) {
                            numbers.push(one);
                        }
                        ours.next();
                        others.next();
                        (at, other_at) = (at + 1, other_at + 1);
                    }
                    (Some(one), other) if other.is_none_or(|other| one < other) => {
                        numbers.push(one);
                        ours.next();
                        at += 1;
                    }
                    (_, Some(other)) => {
                        numbers.push(other);
                        others.next();
                        other_at += 1;
                    }
                    (Some(_), None) => break,
                }
            }
            if !numbers.is_empty() {
                found.push((topic.id, numbers));
            }
        }
        found
    }

    /// How many replicas of which topics brokers have.
    pub(super) fn holdings(&self, batches: &mut Batches) -> PyResult<Holdings> {
        let mut counts: HashMap<(i32, usize), u64> = HashMap::new();
        self.each_state(batches, |topic, _, _, state| {
            for id in &state.replicas {
                *counts.entry((*id, topic)).or_default() += 1;
            }
        })?;
        let topics = self.topics.in_order();
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_unstable();
        let mut found: Holdings = Vec::new();
        for ((broker, at), count) in all {
            let Some(topic) = topics.get(at) else {
                continue;
            };
            match found.last_mut() {
                Some((last, held)) if *last == broker => held.push((topic.id, count)),
                _ => found.push((broker, vec![(topic.id, count)])),
            }
        }
        Ok(found)
    }
}
