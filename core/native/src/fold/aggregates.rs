//! Questions about all partitions together.
use super::partition::{Partition, flag};
use super::partition_state::{Batches, PartitionState};
use super::python::NewestRecord;
use super::topics::{Id, Topic};
use super::{Fold, Limits};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The bits of `kraftops.engine.metadata_state.PartitionCondition`.
pub mod condition {
    pub const LEADERLESS: u32 = 1;
    pub const UNDER_REPLICATED: u32 = 2;
    pub const REASSIGNING: u32 = 4;
    pub const WITH_ELR: u32 = 8;
    pub const WITH_DIRECTORIES: u32 = 16;
    pub const ALL: [(&str, u32); 5] = [
        ("LEADERLESS", LEADERLESS),
        ("UNDER_REPLICATED", UNDER_REPLICATED),
        ("REASSIGNING", REASSIGNING),
        ("WITH_ELR", WITH_ELR),
        ("WITH_DIRECTORIES", WITH_DIRECTORIES),
    ];
}

/// Numbers of partitions, in order, by the ids of topics.
pub(super) type Numbers = Vec<(Id, Vec<i32>)>;
/// For each broker, the topics and the numbers of their replicas.
type ReplicaCounts = Vec<(i32, Vec<(Id, u64)>)>;
/// For each broker, the numbers of its replicas and of the partitions that it leads.
type BrokerLoads = BTreeMap<i32, (u64, u64)>;

/// The brokers of a list, which can be long in a hostile log.
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
            Ids::Few(_) => (1..list.len()).all(|place| !list[..place].contains(&list[place])),
        }
    }
}

/// Tell whether no server makes this state; *directories* are those of brokers.
fn is_suspect(
    state: &PartitionState,
    directories: &HashMap<i32, HashSet<Id>>,
    limits: &Limits,
) -> bool {
    let replicas = Ids::of(&state.replicas);
    let isr = Ids::of(&state.isr);
    if state.replicas.is_empty()
        || !replicas.has_each_once(&state.replicas)
        || state
            .replicas
            .iter()
            .any(|id| !directories.contains_key(id))
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
        let is_lost = *directory == limits.lost_directory && isr.has(id);
        let is_reserved = u128::from_be_bytes(*directory) < limits.reserved_directories;
        let has = directories
            .get(id)
            .is_none_or(|has| has.is_empty() || has.contains(directory));
        is_lost || !(has || is_reserved)
    })
}

impl Fold {
    /// Tell whether a partition meets one of the conditions in a mask.
    fn meets(&self, partition: &Partition, mask: u32) -> bool {
        let flags = partition.flags();
        let asks = |condition: u32| mask & condition != 0;
        (asks(condition::LEADERLESS) && flags & flag::LEADERLESS != 0)
            || (asks(condition::UNDER_REPLICATED) && self.topics.is_under_replicated(partition))
            || (asks(condition::REASSIGNING) && flags & (flag::ADDING | flag::REMOVING) != 0)
            || (asks(condition::WITH_ELR) && flags & flag::ELR != 0)
            || (asks(condition::WITH_DIRECTORIES) && flags & flag::DIRECTORIES != 0)
    }

    pub(super) fn partition_count(&self, id: Option<&Id>) -> usize {
        match id {
            Some(id) => self.topics.get(id).map_or(0, Topic::count),
            None => self.topics.iter().map(Topic::count).sum(),
        }
    }

    pub(super) fn count_with(&self, mask: u32) -> usize {
        let all = self.topics.iter().flat_map(Topic::partitions);
        all.filter(|(_, partition)| self.meets(partition, mask))
            .count()
    }

    pub(super) fn partitions_with(&self, mask: u32) -> Numbers {
        let mut by_topic = Vec::new();
        for topic in self.topics.in_order() {
            let some = topic
                .partitions()
                .filter(|(_, partition)| self.meets(partition, mask));
            let numbers: Vec<i32> = some.map(|(number, _)| number).collect();
            if !numbers.is_empty() {
                by_topic.push((topic.id, numbers));
            }
        }
        by_topic
    }

    /// The newest change of a topic and its partitions, or of all; *exact* gives the addresses.
    pub(super) fn newest_below(
        &self,
        id: Option<&Id>,
        exact: Option<&Fold>,
    ) -> Option<NewestRecord> {
        let chosen = match id {
            Some(id) => self.topics.get(id).into_iter().collect(),
            None => self.topics.in_order(),
        };
        let mut newest: Option<NewestRecord> = None;
        // A record may have changed several, and of one of them nobody can tell.
        let rank = |of: &NewestRecord| (of.address, of.is_certain, of.records);
        let mut see = |candidate: NewestRecord| {
            if newest.is_none_or(|best| rank(&candidate) > rank(&best)) {
                newest = Some(candidate);
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
            see(NewestRecord {
                address: there.address,
                records: 1,
                is_certain: true,
            });
            for (number, partition) in there.partitions() {
                if exact.is_none() || topic.get(number).is_some() {
                    see(fold.newest_of(partition));
                }
            }
        }
        newest
    }

    pub(super) fn newest_of(&self, partition: &Partition) -> NewestRecord {
        let records = self
            .topics
            .changes_of(partition)
            .map_or(1, |changes| changes.records);
        NewestRecord {
            address: partition.address(),
            records,
            is_certain: partition.flags() & flag::UNCERTAIN == 0,
        }
    }

    pub(super) fn suspects(
        &self,
        batches: &mut Batches,
        directories: &HashMap<i32, HashSet<Id>>,
    ) -> PyResult<Numbers> {
        let mut suspects: Vec<(usize, i32)> = Vec::new();
        self.each_state(batches, |topic, number, _, state| {
            if is_suspect(state, directories, &self.limits) {
                suspects.push((topic, number));
            }
        })?;
        suspects.sort_unstable();
        let topics = self.topics.in_order();
        let mut by_topic: Numbers = Vec::new();
        for (place, number) in suspects {
            let Some(topic) = topics.get(place) else {
                continue;
            };
            match by_topic.last_mut() {
                Some((id, numbers)) if *id == topic.id => numbers.push(number),
                _ => by_topic.push((topic.id, vec![number])),
            }
        }
        Ok(by_topic)
    }

    /// The partitions whose digests differ from those of another fold.
    pub(super) fn different(&self, mine: &[u64], other: &Fold, theirs: &[u64]) -> Numbers {
        let mut starts = HashMap::new();
        let mut start = 0;
        for topic in other.topics.in_order() {
            starts.insert(topic.id, start);
            start += topic.count();
        }
        let mut by_topic = Vec::new();
        let mut place = 0;
        for topic in self.topics.in_order() {
            let (Some(there), Some(start)) = (other.topics.get(&topic.id), starts.get(&topic.id))
            else {
                place += topic.count();
                continue;
            };
            let mut numbers = Vec::new();
            let mut ours = topic.partitions().map(|(number, _)| number).peekable();
            let mut others = there.partitions().map(|(number, _)| number).peekable();
            let mut other_at = *start;
            loop {
                match (ours.peek().copied(), others.peek().copied()) {
                    (None, None) => break,
                    (Some(number), Some(same)) if number == same => {
                        if mine.get(place) != theirs.get(other_at) {
                            numbers.push(number);
                        }
                        ours.next();
                        others.next();
                        (place, other_at) = (place + 1, other_at + 1);
                    }
                    (Some(number), other) if other.is_none_or(|other| number < other) => {
                        numbers.push(number);
                        ours.next();
                        place += 1;
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
                by_topic.push((topic.id, numbers));
            }
        }
        by_topic
    }

    /// The number of replicas on each broker, by topic.
    pub(super) fn replica_counts(&self, batches: &mut Batches) -> PyResult<ReplicaCounts> {
        let mut counts: HashMap<(i32, usize), u64> = HashMap::new();
        self.each_state(batches, |topic, _, _, state| {
            for id in &state.replicas {
                *counts.entry((*id, topic)).or_default() += 1;
            }
        })?;
        let topics = self.topics.in_order();
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_unstable();
        let mut by_broker: ReplicaCounts = Vec::new();
        for ((broker, place), count) in all {
            let Some(topic) = topics.get(place) else {
                continue;
            };
            match by_broker.last_mut() {
                Some((last, topics)) if *last == broker => topics.push((topic.id, count)),
                _ => by_broker.push((broker, vec![(topic.id, count)])),
            }
        }
        Ok(by_broker)
    }

    /// The numbers of replicas and of led partitions of each broker.
    pub(super) fn broker_loads(&self, batches: &mut Batches) -> PyResult<BrokerLoads> {
        let mut loads: HashMap<i32, (u64, u64)> = HashMap::new();
        self.each_state(batches, |_, _, _, state| {
            for id in &state.replicas {
                loads.entry(*id).or_default().0 += 1;
            }
            if state.leader >= 0 {
                loads.entry(state.leader).or_default().1 += 1;
            }
        })?;
        Ok(loads.into_iter().collect())
    }
}
