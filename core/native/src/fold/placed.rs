//! Questions about the places of replicas: on brokers, in directories, behind which leader.
use super::Fold;
use super::aggregates::Numbers;
use super::partition::{Changes, Partition, flag, slot};
use super::partition_state::{Batches, POSITION, POSITION_BITS, gone};
use super::rules::Op;
use super::topics::{Id, Topic};
use crate::batch::{Header, read_record};
use crate::plan::LocatedFields;
use crate::reader::Reader;
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The roles of `kraftops.engine.metadata_state.ReplicaRole`, by number.
pub mod role {
    pub const LEADER: u32 = 1;
    pub const FOLLOWER: u32 = 2;
    pub const OTHER_LEADER: u32 = 3;
    pub const UNPREFERRED_LEADER: u32 = 4;
    pub const ALL: [(&str, u32); 4] = [
        ("LEADER", LEADER),
        ("FOLLOWER", FOLLOWER),
        ("OTHER_LEADER", OTHER_LEADER),
        ("UNPREFERRED_LEADER", UNPREFERRED_LEADER),
    ];
}

/// For each directory, the brokers and the numbers of replicas there.
pub type Directories = BTreeMap<Id, BTreeMap<i32, u64>>;

/// The replicas of a partition and its leader, as its record and its changes have them.
struct Placed<'a> {
    fields: LocatedFields<'a>,
    changes: Option<&'a Changes>,
    has_directories: bool,
}

impl Placed<'_> {
    fn leader(&self) -> i32 {
        let changed = self.changes.and_then(Changes::leader);
        changed.unwrap_or_else(|| self.fields.int32(slot::LEADER).unwrap_or(-1))
    }

    fn replicas(&self) -> impl Iterator<Item = i32> {
        let rare = self.changes.and_then(|changes| changes.rare.as_ref());
        let changed = rare.and_then(|rare| rare.replicas.as_deref());
        let own = changed.is_none().then(|| self.fields.ids(slot::REPLICAS));
        let changed = changed.unwrap_or_default().iter().copied();
        changed.chain(own.into_iter().flatten())
    }

    /// A directory a replica: `MIGRATING` without others.
    fn directories(&self) -> impl Iterator<Item = Id> {
        let rare = self.changes.and_then(|changes| changes.rare.as_ref());
        let changed = rare.and_then(|rare| rare.directories.as_deref());
        let is_own = self.has_directories && changed.is_none();
        let own = is_own.then(|| self.fields.uuids(slot::DIRECTORIES));
        let changed = if self.has_directories { changed } else { None };
        let none = if self.has_directories { 0 } else { usize::MAX };
        let changed = changed.unwrap_or_default().iter().copied();
        let given = changed.chain(own.into_iter().flatten());
        given.chain(std::iter::repeat_n([0; 16], none))
    }

    fn has_role(&self, role: u32, brokers: &HashSet<i32>) -> bool {
        let leader = self.leader();
        match role {
            role::LEADER => brokers.contains(&leader),
            role::FOLLOWER => self
                .replicas()
                .any(|id| id != leader && brokers.contains(&id)),
            role::OTHER_LEADER => !brokers.contains(&leader),
            _ => self.replicas().next() != Some(leader),
        }
    }
}

impl Fold {
    /// The partitions of some topics, or of all, in the order of topics and numbers.
    fn chosen(&self, topics: Option<&[Id]>) -> Vec<(&Topic, i32, &Partition)> {
        let chosen: Vec<&Topic> = match topics {
            Some(ids) => ids.iter().filter_map(|id| self.topics.get(id)).collect(),
            None => self.topics.in_order(),
        };
        let each = chosen.into_iter();
        each.flat_map(|topic| {
            let all = topic.partitions();
            all.map(move |(number, partition)| (topic, number, partition))
        })
        .collect()
    }

    /// The partitions of some topics that *is_wanted* chooses; they are read as the log has them.
    fn placed(
        &self,
        batches: &mut Batches,
        topics: Option<&[Id]>,
        mut is_wanted: impl FnMut(&Placed) -> bool,
    ) -> PyResult<Numbers> {
        let chosen = self.chosen(topics);
        let mut places: Vec<(u64, usize)> = Vec::with_capacity(chosen.len());
        for (chosen_place, (_, _, partition)) in chosen.iter().enumerate() {
            places.push((self.base_of(partition), chosen_place));
        }
        if !places.is_sorted() {
            places.sort_unstable();
        }
        let mut wanted = vec![false; chosen.len()];
        for (base, chosen_place) in places {
            let Some((_, _, partition)) = chosen.get(chosen_place) else {
                continue;
            };
            let data = batches.get(base >> POSITION_BITS)?.as_bytes();
            let mut reader = Reader::new(data, (base & POSITION) as usize);
            let record = read_record(&mut reader, &Header::bare(0)).map_err(|_| gone())?;
            let read = self.rules.read(&record).map_err(|_| gone())?;
            if read.op != Op::PutPartition {
                return Err(gone());
            }
            let placed = Placed {
                fields: read.fields,
                changes: self.topics.changes_of(partition),
                has_directories: partition.flags() & flag::DIRECTORIES != 0,
            };
            if let Some(place) = wanted.get_mut(chosen_place) {
                *place = is_wanted(&placed);
            }
        }
        Ok(by_topic(chosen, &wanted))
    }

    /// The partitions in which one of some brokers has a role.
    pub(super) fn with_role(
        &self,
        batches: &mut Batches,
        role: u32,
        brokers: &HashSet<i32>,
        topics: Option<&[Id]>,
    ) -> PyResult<Numbers> {
        self.placed(batches, topics, |placed| placed.has_role(role, brokers))
    }

    /// The partitions with a replica in a directory.
    pub(super) fn in_directory(
        &self,
        batches: &mut Batches,
        directory: &Id,
        topics: Option<&[Id]>,
    ) -> PyResult<Numbers> {
        self.placed(batches, topics, |placed| {
            let mut placed = placed.replicas().zip(placed.directories());
            placed.any(|(_, id)| id == *directory)
        })
    }

    /// The numbers of replicas in all directories.
    pub(super) fn directories(&self, batches: &mut Batches) -> PyResult<Directories> {
        let mut counts: HashMap<(Id, i32), u64> = HashMap::new();
        self.placed(batches, None, |placed| {
            for (broker, id) in placed.replicas().zip(placed.directories()) {
                *counts.entry((id, broker)).or_default() += 1;
            }
            false
        })?;
        let mut directories = Directories::new();
        for ((id, broker), count) in counts {
            directories.entry(id).or_default().insert(broker, count);
        }
        Ok(directories)
    }

    /// The partitions with fewer brokers in sync than their topics need, or all replicas.
    pub(super) fn under_min_isr(&self, needed: &HashMap<Id, u64>, usual: u64) -> Numbers {
        let chosen = self.chosen(None);
        let each = chosen.iter().map(|(topic, _, partition)| {
            let needed = needed.get(&topic.id).copied().unwrap_or(usual);
            let replicas = self.topics.replicas(partition) as u64;
            let needed = needed.min(replicas).max(1);
            (self.topics.in_sync(partition) as u64) < needed
        });
        let is_short: Vec<bool> = each.collect();
        by_topic(chosen, &is_short)
    }
}

fn by_topic(chosen: Vec<(&Topic, i32, &Partition)>, wanted: &[bool]) -> Numbers {
    let mut by_topic: Numbers = Vec::new();
    for ((topic, number, _), _) in chosen.into_iter().zip(wanted).filter(|(_, is)| **is) {
        match by_topic.last_mut() {
            Some((id, numbers)) if *id == topic.id => numbers.push(number),
            _ => by_topic.push((topic.id, vec![number])),
        }
    }
    by_topic
}
