//! Topics and their partitions, by id, name and number.
use super::ordered_map::FastMap;
use super::partition::{Changes, Partition, Rare, flag};
use std::collections::BTreeMap;
use std::sync::Arc;

pub type Id = [u8; 16];

/// Entries of a dense list for each partition that is there, and for none.
const MAX_ENTRIES: usize = 4;
const FREE_ENTRIES: usize = 64;
/// About the bytes of a topic without its partitions: here, by id and by name.
const TOPIC_BYTES: usize = 256;

/// The first fields share a line of the processor's cache.
#[derive(Clone)]
#[repr(C)]
pub struct Topic {
    pub id: Id,
    dense: Vec<Partition>,
    /// Partitions with numbers far above the others, or negative.
    sparse: BTreeMap<i32, Partition>,
    /// The number of partitions in the dense list.
    dense_count: u32,
    /// The brokers in sync that its partitions need, while there is a timeline.
    pub min_isr: u32,
    pub name: Arc<str>,
    pub address: u64,
    /// The place among all topics in the order in which they came.
    pub since: u64,
}

impl Topic {
    pub fn new(id: Id, name: Arc<str>, address: u64, since: u64) -> Self {
        Topic {
            id,
            name,
            address,
            since,
            dense: Vec::new(),
            dense_count: 0,
            min_isr: 0,
            sparse: BTreeMap::new(),
        }
    }

    pub fn get(&self, number: i32) -> Option<&Partition> {
        let dense = usize::try_from(number)
            .ok()
            .and_then(|index| self.dense.get(index));
        dense
            .filter(|partition| partition.is_there())
            .or_else(|| self.sparse.get(&number))
    }

    /// The place of the changes of a partition in the list; of others, one where nothing is.
    #[inline(always)]
    pub fn touch(&self, number: i32) -> usize {
        let partition = self.dense.get(number as usize);
        partition.map_or(usize::MAX, Partition::touch)
    }

    pub fn get_mut(&mut self, number: i32) -> Option<&mut Partition> {
        let dense = usize::try_from(number)
            .ok()
            .and_then(|index| self.dense.get_mut(index))
            .filter(|present| present.is_there());
        match dense {
            Some(partition) => Some(partition),
            None => self.sparse.get_mut(&number),
        }
    }

    /// Put a partition in; return the one before.
    pub fn put(&mut self, number: i32, made: Partition) -> Option<Partition> {
        let size = self.dense.len();
        let limit = size.max(FREE_ENTRIES + MAX_ENTRIES * self.dense_count as usize);
        let index = match usize::try_from(number) {
            Ok(index) if index <= limit && !self.sparse.contains_key(&number) => index,
            _ => return self.sparse.insert(number, made),
        };
        if index == size {
            self.dense.push(made);
            self.dense_count += 1;
            return None;
        }
        if index > size {
            self.dense.resize(index + 1, Partition::NONE);
        }
        let place = self.dense.get_mut(index)?;
        let before = std::mem::replace(place, made);
        self.dense_count += !before.is_there() as u32;
        before.is_there().then_some(before)
    }

    /// The partitions in the order of their numbers.
    pub fn partitions(&self) -> impl Iterator<Item = (i32, &Partition)> {
        let negative = self
            .sparse
            .range(..0)
            .map(|(number, partition)| (*number, partition));
        let mut positive = self
            .sparse
            .range(0..)
            .map(|(number, partition)| (*number, partition))
            .peekable();
        let mut dense = (0..)
            .zip(&self.dense)
            .filter(|(_, partition)| partition.is_there())
            .peekable();
        negative.chain(std::iter::from_fn(move || {
            match (dense.peek(), positive.peek()) {
                (Some((first, _)), Some((other, _))) if other < first => positive.next(),
                (Some(_), _) => dense.next(),
                (None, _) => positive.next(),
            }
        }))
    }

    pub fn count(&self) -> usize {
        self.sparse.len() + self.dense_count as usize
    }
}

/// All topics, by id and by name.
#[derive(Default, Clone)]
pub struct Topics {
    all: Vec<Option<Topic>>,
    free: Vec<usize>,
    by_id: FastMap<Id, usize>,
    /// The ids of topics by name, and the place of the name in the order in which names came.
    names: FastMap<Arc<str>, (u64, Id)>,
    next: u64,
    /// The place where the next topic is perhaps.
    pub hint: usize,
    /// The topic that was removed last, while its partitions keep their places.
    pub removed: Option<Topic>,
    changes: Vec<Changes>,
    free_changes: Vec<usize>,
    /// The number of partitions with an ELR, or a last known one.
    with_elr: usize,
}

impl Topics {
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// About the bytes of a copy.
    pub fn size(&self) -> usize {
        let entries = |topic: &Topic| topic.dense.len() + 4 * topic.sparse.len();
        let partitions: usize = self.all.iter().flatten().map(entries).sum();
        let rare = self
            .changes
            .iter()
            .filter(|change| change.rare.is_some())
            .count();
        partitions * size_of::<Partition>()
            + self.changes.len() * size_of::<Changes>()
            + rare * 2 * size_of::<Rare>()
            + self.all.len() * TOPIC_BYTES
    }

    #[inline(always)]
    pub fn find(&mut self, id: &Id) -> Option<usize> {
        if self.at(self.hint).is_some_and(|topic| topic.id == *id) {
            return Some(self.hint);
        }
        self.hint = *self.by_id.get(id)?;
        Some(self.hint)
    }

    /// Tell whether a topic has lost its name to another.
    pub fn has_namesakes(&self) -> bool {
        self.names.len() != self.by_id.len()
    }

    /// The place of the topic that a record names.
    pub fn place(&self, id: &Id) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub fn at(&self, place: usize) -> Option<&Topic> {
        self.all.get(place)?.as_ref()
    }

    pub fn at_mut(&mut self, place: usize) -> Option<&mut Topic> {
        self.all.get_mut(place)?.as_mut()
    }

    pub fn get(&self, id: &Id) -> Option<&Topic> {
        self.at(*self.by_id.get(id)?)
    }

    pub fn of_name(&self, name: &str) -> Option<Id> {
        self.names.get(name).map(|(_, id)| *id)
    }

    pub fn has_name(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Add a topic that is not there; it takes its name from another.
    pub fn add(&mut self, id: Id, name: Arc<str>, address: u64) {
        let topic = Topic::new(id, Arc::clone(&name), address, self.next);
        let place = match self.free.pop() {
            Some(place) => {
                self.all[place] = Some(topic);
                place
            }
            None => {
                self.all.push(Some(topic));
                self.all.len() - 1
            }
        };
        self.by_id.insert(id, place);
        // As in a dict, a name that is there keeps its place in the order.
        let since = self.names.get(&name).map_or(self.next, |(since, _)| *since);
        self.names.insert(name, (since, id));
        self.next += 1;
        self.hint = place;
    }

    /// Remove a topic, and its name unless another topic has taken that.
    pub fn remove(&mut self, id: &Id) -> Option<Topic> {
        let place = self.by_id.remove(id)?;
        let topic = self.all.get_mut(place)?.take()?;
        self.free.push(place);
        if self.names.get(&topic.name).is_some_and(|(_, of)| of == id) {
            self.names.remove(&topic.name);
        }
        for (_, partition) in topic.partitions() {
            self.with_elr -= partition.has_elr() as usize;
            self.free_changes.extend(partition.changes());
        }
        Some(topic)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Topic> {
        self.all.iter().flatten()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Topic> {
        self.all.iter_mut().flatten()
    }

    /// Topics in the order in which they came.
    pub fn in_order(&self) -> Vec<&Topic> {
        let mut topics: Vec<&Topic> = self.iter().collect();
        topics.sort_by_key(|topic| topic.since);
        topics
    }

    /// Names and ids in the order in which the names came.
    pub fn names_in_order(&self) -> Vec<(&Arc<str>, Id)> {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(_, (since, _))| *since);
        names
            .into_iter()
            .map(|(name, (_, id))| (name, *id))
            .collect()
    }

    pub fn changes_of(&self, partition: &Partition) -> Option<&Changes> {
        self.changes.get(partition.changes()?)
    }

    /// Read something of the changes at a place.
    #[inline(always)]
    pub fn touch(&self, place: usize) -> u64 {
        self.changes.get(place).map_or(0, |changes| changes.base)
    }

    /// Put a partition into the topic at *at*; return the one before.
    ///
    /// The new one has the place of the old one's changes, where its past is in a timeline.
    pub fn put(&mut self, place: usize, number: i32, made: Partition) -> Option<Partition> {
        let before = self.at_mut(place)?.put(number, made);
        self.with_elr += made.has_elr() as usize;
        let before = before?;
        self.with_elr -= before.has_elr() as usize;
        if let Some(changes_place) = before.changes() {
            self.changes[changes_place] = Changes::new(made.address());
            let partition = self.at_mut(place)?.get_mut(number)?;
            partition.set_changes(changes_place);
        }
        Some(before)
    }

    /// Count a partition whose ELR came or went.
    pub fn note_elr(&mut self, had: bool, has: bool) {
        self.with_elr = self.with_elr + has as usize - had as usize;
    }

    pub fn has_any_elr(&self) -> bool {
        self.with_elr > 0
    }

    pub fn replicas(&self, partition: &Partition) -> usize {
        let listed = || self.changes_of(partition)?.rare.as_ref()?.replicas.as_ref();
        match partition.replicas {
            u16::MAX => listed().map_or(u16::MAX as usize, |list| list.len()),
            count => count as usize,
        }
    }

    pub fn in_sync(&self, partition: &Partition) -> usize {
        let listed = || self.changes_of(partition).and_then(Changes::isr);
        match partition.in_sync {
            u16::MAX => listed().map_or(u16::MAX as usize, <[i32]>::len),
            count => count as usize,
        }
    }

    /// Tell whether an ISR is smaller than the replicas that are not being added.
    pub fn is_under_replicated(&self, partition: &Partition) -> bool {
        if partition.flags() & flag::ADDING == 0 && !partition.is_large() {
            return partition.in_sync < partition.replicas;
        }
        let rare = || self.changes_of(partition)?.rare.as_ref();
        let adding = rare().and_then(|rare| rare.adding.as_ref());
        let adding = adding.map_or(0, |list| list.len());
        self.in_sync(partition) < self.replicas(partition).saturating_sub(adding)
    }

    /// The changes of a partition, which are made if there are none.
    pub fn changes_for(
        &mut self,
        topic_place: usize,
        number: i32,
    ) -> Option<(&mut Partition, &mut Changes)> {
        let partition = self.all.get_mut(topic_place)?.as_mut()?.get_mut(number)?;
        let place = match partition.changes() {
            Some(place) => place,
            None => {
                let fresh = Changes::new(partition.address());
                let place = match self.free_changes.pop() {
                    Some(place) => {
                        self.changes[place] = fresh;
                        place
                    }
                    None => {
                        self.changes.push(fresh);
                        self.changes.len() - 1
                    }
                };
                partition.set_changes(place);
                place
            }
        };
        Some((partition, self.changes.get_mut(place)?))
    }
}
