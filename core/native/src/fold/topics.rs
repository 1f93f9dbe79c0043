//! Topics and their partitions: where the records are that made them, and what later ones changed.
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub type Id = [u8; 16];

/// Places of a dense list for each partition that is there, and for none, before a number is odd.
const MOST_PLACES: usize = 4;
const FREE_PLACES: usize = 64;
const ADDRESS_BITS: u32 = 56;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;

pub const LEADERLESS: u8 = 1;
pub const ADDING: u8 = 2;
pub const REMOVING: u8 = 4;
pub const ELR: u8 = 8;
pub const LAST_KNOWN_ELR: u8 = 16;
pub const DIRECTORIES: u8 = 32;
/// Nobody can tell whether the newest record changed anything.
pub const UNCERTAIN: u8 = 64;
const ABSENT: u8 = 128;

/// A partition in 16 bytes: a million of them are to be held.
#[derive(Clone, Copy)]
pub struct Partition {
    /// The flags above the address of its newest record.
    place: u64,
    /// One more than the number of its changes, 0 without any.
    changes: u32,
    replicas: u16,
    in_sync: u16,
}

impl Partition {
    const NONE: Partition = Partition {
        place: (ABSENT as u64) << ADDRESS_BITS,
        changes: 0,
        replicas: 0,
        in_sync: 0,
    };

    pub fn new(address: u64, flags: u8, replicas: usize, in_sync: usize) -> Self {
        let mut made = Partition::NONE;
        made.put(address, flags);
        made.set_replicas(replicas);
        made.set_in_sync(in_sync);
        made
    }

    pub fn put(&mut self, address: u64, flags: u8) {
        self.place = (flags as u64) << ADDRESS_BITS | (address & ADDRESS);
    }

    pub fn address(&self) -> u64 {
        self.place & ADDRESS
    }

    pub fn flags(&self) -> u8 {
        (self.place >> ADDRESS_BITS) as u8
    }

    pub fn has_elr(&self) -> bool {
        self.flags() & (ELR | LAST_KNOWN_ELR) != 0
    }

    pub fn is_there(&self) -> bool {
        self.flags() & ABSENT == 0
    }

    pub fn changes(&self) -> Option<usize> {
        (self.changes as usize).checked_sub(1)
    }

    pub fn set_changes(&mut self, at: usize) {
        self.changes = at as u32 + 1;
    }

    /// Tell whether the counts do not fit here; the changes then have the lists.
    pub fn is_large(&self) -> bool {
        self.replicas == u16::MAX || self.in_sync == u16::MAX
    }

    pub fn set_replicas(&mut self, count: usize) {
        self.replicas = u16::try_from(count).unwrap_or(u16::MAX);
    }

    pub fn set_in_sync(&mut self, count: usize) {
        self.in_sync = u16::try_from(count).unwrap_or(u16::MAX);
    }
}

const FEW: usize = 5;

/// What changed of a partition after its own record; nothing where no change says it.
///
/// Changes come from all over the log: each should cost one line of the processor's cache.
#[repr(align(64))]
pub struct Changes {
    pub base: u64,
    /// With the partition's own.
    pub records: u32,
    /// How often the leader was set, which is how much its epoch has grown.
    pub leaders: u32,
    leader: i32,
    pub recovery: Option<i8>,
    /// How many are in sync, where that fits here.
    few: Option<u8>,
    in_sync: [i32; FEW],
    pub rare: Option<Box<Rare>>,
}

/// What few changes say.
#[derive(Default)]
pub struct Rare {
    /// Where it does not fit into `Changes`.
    isr: Option<Box<[i32]>>,
    pub replicas: Option<Box<[i32]>>,
    pub removing: Option<Box<[i32]>>,
    pub adding: Option<Box<[i32]>>,
    pub elr: Option<Box<[i32]>>,
    pub last_known_elr: Option<Box<[i32]>>,
    pub directories: Option<Box<[Id]>>,
}

impl Changes {
    fn of(base: u64) -> Self {
        Changes {
            base,
            records: 1,
            leaders: 0,
            leader: 0,
            recovery: None,
            few: None,
            in_sync: [0; FEW],
            rare: None,
        }
    }

    pub fn leader(&self) -> Option<i32> {
        (self.leaders != 0).then_some(self.leader)
    }

    pub fn set_leader(&mut self, leader: i32) {
        self.leader = leader;
        self.leaders = self.leaders.saturating_add(1);
    }

    pub fn isr(&self) -> Option<&[i32]> {
        match self.few {
            Some(count) => self.in_sync.get(..count as usize),
            None => self.rare.as_ref()?.isr.as_deref(),
        }
    }

    pub fn set_isr(&mut self, count: usize, ids: impl Iterator<Item = i32>) {
        if count <= FEW {
            self.few = Some(count as u8);
            for (place, id) in self.in_sync.iter_mut().zip(ids) {
                *place = id;
            }
        } else {
            self.few = None;
            self.rare().isr = Some(ids.collect());
        }
    }

    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}

pub struct Topic {
    pub id: Id,
    pub name: Arc<str>,
    pub address: u64,
    /// Topics come in the order of these.
    pub since: u64,
    dense: Vec<Partition>,
    /// How many are in the dense list.
    there: usize,
    /// Partitions whose numbers are far from their neighbours'.
    odd: BTreeMap<i32, Partition>,
}

impl Topic {
    pub fn new(id: Id, name: Arc<str>, address: u64, since: u64) -> Self {
        Topic {
            id,
            name,
            address,
            since,
            dense: Vec::new(),
            there: 0,
            odd: BTreeMap::new(),
        }
    }

    pub fn get(&self, number: i32) -> Option<&Partition> {
        let dense = usize::try_from(number)
            .ok()
            .and_then(|at| self.dense.get(at));
        dense
            .filter(|one| one.is_there())
            .or_else(|| self.odd.get(&number))
    }

    pub fn get_mut(&mut self, number: i32) -> Option<&mut Partition> {
        let dense = usize::try_from(number)
            .ok()
            .and_then(|at| self.dense.get_mut(at))
            .filter(|one| one.is_there());
        match dense {
            Some(found) => Some(found),
            None => self.odd.get_mut(&number),
        }
    }

    /// Put a partition into its place; return what was there.
    pub fn put(&mut self, number: i32, made: Partition) -> Option<Partition> {
        let size = self.dense.len();
        let most = size.max(FREE_PLACES + MOST_PLACES * self.there);
        let at = match usize::try_from(number) {
            Ok(at) if at <= most && !self.odd.contains_key(&number) => at,
            _ => return self.odd.insert(number, made),
        };
        if at == size {
            self.dense.push(made);
            self.there += 1;
            return None;
        }
        if at > size {
            self.dense.resize(at + 1, Partition::NONE);
        }
        let place = self.dense.get_mut(at)?;
        let before = std::mem::replace(place, made);
        self.there += !before.is_there() as usize;
        before.is_there().then_some(before)
    }

    /// The partitions in the order of their numbers.
    pub fn partitions(&self) -> impl Iterator<Item = (i32, &Partition)> {
        let negative = self.odd.range(..0).map(|(number, one)| (*number, one));
        let mut positive = self
            .odd
            .range(0..)
            .map(|(number, one)| (*number, one))
            .peekable();
        let mut dense = (0..)
            .zip(&self.dense)
            .filter(|(_, one)| one.is_there())
            .peekable();
        negative.chain(std::iter::from_fn(move || {
            match (dense.peek(), positive.peek()) {
                (Some((at, _)), Some((other, _))) if other < at => positive.next(),
                (Some(_), _) => dense.next(),
                (None, _) => positive.next(),
            }
        }))
    }

    pub fn count(&self) -> usize {
        self.odd.len() + self.there
    }
}

/// All topics, by id and by name.
#[derive(Default)]
pub struct Topics {
    all: Vec<Option<Topic>>,
    free: Vec<usize>,
    by_id: HashMap<Id, usize>,
    /// The ids of topics that can be named, and since when.
    names: HashMap<Arc<str>, (u64, Id)>,
    next: u64,
    last: Option<(Id, usize)>,
    changes: Vec<Changes>,
    free_changes: Vec<usize>,
    /// How many partitions have an ELR, or a last known one.
    with_elr: usize,
}

impl Topics {
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    #[inline(always)]
    pub fn find(&mut self, id: &Id) -> Option<usize> {
        if let Some((last, at)) = &self.last {
            if last == id {
                return Some(*at);
            }
        }
        let at = *self.by_id.get(id)?;
        self.last = Some((*id, at));
        Some(at)
    }

    pub fn at(&self, at: usize) -> Option<&Topic> {
        self.all.get(at)?.as_ref()
    }

    pub fn at_mut(&mut self, at: usize) -> Option<&mut Topic> {
        self.all.get_mut(at)?.as_mut()
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

    /// Add a topic that is not there; its name is its own from now on.
    pub fn add(&mut self, id: Id, name: Arc<str>, address: u64) {
        let topic = Topic::new(id, Arc::clone(&name), address, self.next);
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at] = Some(topic);
                at
            }
            None => {
                self.all.push(Some(topic));
                self.all.len() - 1
            }
        };
        self.by_id.insert(id, at);
        // As in a dict, who takes a name that is there takes its place.
        let since = self.names.get(&name).map_or(self.next, |(since, _)| *since);
        self.names.insert(name, (since, id));
        self.next += 1;
        self.last = Some((id, at));
    }

    /// Take a topic out, with its name unless that is another's.
    pub fn remove(&mut self, id: &Id) -> Option<Topic> {
        let at = self.by_id.remove(id)?;
        self.last = None;
        let topic = self.all.get_mut(at)?.take()?;
        self.free.push(at);
        if self.names.get(&topic.name).is_some_and(|(_, of)| of == id) {
            self.names.remove(&topic.name);
        }
        for (_, partition) in topic.partitions() {
            self.with_elr -= partition.has_elr() as usize;
            self.free_changes.extend(partition.changes());
        }
        Some(topic)
    }

    /// Topics in the order in which they came.
    pub fn in_order(&self) -> Vec<&Topic> {
        let mut found: Vec<&Topic> = self.all.iter().flatten().collect();
        found.sort_by_key(|topic| topic.since);
        found
    }

    /// Names and ids in the order in which the names came.
    pub fn names_in_order(&self) -> Vec<(&Arc<str>, Id)> {
        let mut found: Vec<_> = self.names.iter().collect();
        found.sort_by_key(|(_, (since, _))| *since);
        found
            .into_iter()
            .map(|(name, (_, id))| (name, *id))
            .collect()
    }

    pub fn changes_of(&self, partition: &Partition) -> Option<&Changes> {
        self.changes.get(partition.changes()?)
    }

    /// Put a partition into its place in the topic at *at*; return what was there.
    pub fn put(&mut self, at: usize, number: i32, made: Partition) -> Option<Partition> {
        let before = self.at_mut(at)?.put(number, made);
        self.with_elr += made.has_elr() as usize;
        if let Some(before) = &before {
            self.with_elr -= before.has_elr() as usize;
            self.free_changes.extend(before.changes());
        }
        before
    }

    /// Note that flags of a partition were others before.
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

    pub fn is_under_replicated(&self, partition: &Partition) -> bool {
        if !partition.is_large() {
            return partition.in_sync < partition.replicas;
        }
        let in_sync = match partition.in_sync {
            u16::MAX => self.changes_of(partition).and_then(Changes::isr),
            _ => None,
        };
        in_sync.map_or(partition.in_sync as usize, <[i32]>::len) < self.replicas(partition)
    }

    /// The changes of a partition, which may have none so far.
    pub fn changes_for(
        &mut self,
        at: usize,
        number: i32,
    ) -> Option<(&mut Partition, &mut Changes)> {
        let partition = self.all.get_mut(at)?.as_mut()?.get_mut(number)?;
        let place = match partition.changes() {
            Some(place) => place,
            None => {
                let fresh = Changes::of(partition.address());
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
